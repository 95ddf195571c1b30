import { button, h } from './dom.ts'
import { MAX_CHANGED_DIGITS, MAX_PART_CHARACTERS } from './limits.ts'
import type { DigitChange, Part, PartRow, Place } from './part.ts'

/** Digits of the file that the visitor has changed. Each can be put back. */

const changes = new Map<string, DigitChange & { readonly original: string }>()
const keyOf = (place: Place, at: number): string => JSON.stringify([...place, at])
/** Where the visitor is: drawing a verdict takes the focus away. */
let cursor: { readonly name: string; readonly at: number } | null = null

export const changedDigits = () => [...changes.values()]

const shownIn = (view: string) => [...document.querySelectorAll<HTMLElement>(`${view} .digits`)]

/** Nothing is changed any more, because it is another file, or because it was put back. */
export function forgetDigits(): void {
  changes.clear()
  drawAgain()
}

function drawAgain(): void {
  for (const element of shownIn('')) element.dispatchEvent(new Event('draw'))
}

export function refocusDigit(): void {
  if (cursor === null || document.activeElement !== document.body) return
  const { name } = cursor
  const had = shownIn('').find(one => one.dataset['digits'] === name && one.offsetParent !== null)
  had?.focus({ preventScroll: true })
}

/** Gives the focus to the first digits of a text in the file, in one of the views. */
export const focusDigits = (view: string, place: Place): void =>
  shownIn(view)
    .find(one => one.dataset['digits']?.startsWith(JSON.stringify(place)))
    ?.focus()

export const digitsHint = (): HTMLElement =>
  h('p', { class: 'hint' }, 'Click a digit to change it, or type another; Backspace puts it back. The verdict follows.')

const BOX = { class: 'raw digits', tabindex: '0', role: 'textbox', 'aria-multiline': 'true', 'aria-readonly': 'true' }

/**
 * Some digits of a text in the file. A click, or a key, makes another digit of one, which is a `change` of the element.
 *
 * @param from where in the text they begin @param name what they are, for screen readers
 * @param tones the bytes that mean something
 */
export function digitsView(
  place: Place,
  from: number,
  shown: string,
  name: string,
  tones: readonly { readonly start: number; readonly end: number }[] = [],
): HTMLElement {
  const changeAt = (index: number) => changes.get(keyOf(place, from + index))
  // As in the file.
  const text = [...shown].map((digit, index) => changeAt(index)?.original ?? digit).join('')
  const id = `${JSON.stringify(place)} ${from}`
  const element = h('code', { ...BOX, 'aria-label': name, 'data-digits': id })
  let at = 0
  /** Digits that look the same share an element. */
  const draw = (): void => {
    const isHere = document.activeElement === element
    const parts: HTMLElement[] = []
    let last: unknown
    for (const [index, digit] of [...text].entries()) {
      const other = changeAt(index)
      const tone = tones.findIndex(({ start, end }) => 2 * start <= index && index < 2 * end)
      const isCursor = isHere && index === at
      if (other || isCursor || tone !== last) {
        const marks = { 'data-changed': other !== undefined, 'data-cursor': isCursor, 'data-tone': tone }
        parts.push(h('span', { ...marks, title: other && `The file has ${other.original}` }))
      }
      parts.at(-1)?.append(other?.digit ?? digit)
      last = other || isCursor ? undefined : tone
    }
    element.replaceChildren(...parts)
    element.normalize()
  }
  const set = (digit: string): void => {
    cursor = { name: id, at }
    const original = text.charAt(at)
    const key = keyOf(place, from + at)
    changes.delete(key)
    // Upper case is the same digit.
    const isOther = digit !== original.toLowerCase() && digit !== original
    if (isOther && changes.size < MAX_CHANGED_DIGITS) changes.set(key, { place, at: from + at, digit, original })
    drawAgain()
    element.dispatchEvent(new Event('change', { bubbles: true }))
  }
  element.addEventListener('focus', () => {
    if (cursor?.name === id) at = cursor.at
    draw()
  })
  element.addEventListener('blur', draw)
  // Drawing the cursor replaces what was pressed, so that there is no click.
  element.addEventListener('pointerup', event => {
    const index = offsetIn(element, event)
    if (index === null || getSelection()?.isCollapsed === false) return
    at = index
    const now = Number.parseInt(changeAt(at)?.digit ?? text.charAt(at), 16)
    set(((now + 1) % 16).toString(16))
  })
  element.addEventListener('keydown', event => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    const isDigit = /^[0-9a-f]$/i.test(event.key) && !event.ctrlKey && !event.metaKey && !event.altKey
    if (step === undefined && !isDigit && event.key !== 'Backspace') return
    event.preventDefault()
    event.stopImmediatePropagation()
    if (event.key === 'Backspace') set(text.charAt(at))
    else if (isDigit) set(event.key.toLowerCase())
    if (isDigit || step !== undefined) at = Math.min(Math.max(at + (step ?? 1), 0), text.length - 1)
    cursor = { name: id, at }
    draw()
  })
  element.addEventListener('draw', draw)
  draw()
  return element
}

/** The index of the character at a point: of the character itself, not of the place between two that is nearest. */
function offsetIn(element: HTMLElement, { clientX: x, clientY: y }: MouseEvent): number | null {
  const range = document.createRange()
  let offset = 0
  for (const { firstChild: node } of element.children) {
    for (let index = 0; node instanceof Text && index < node.length; index++, offset++) {
      range.setStart(node, index)
      range.setEnd(node, index + 1)
      const { left, right, top, bottom } = range.getBoundingClientRect()
      if (x >= left && x <= right && y >= top && y <= bottom) return offset
    }
  }
  return null
}

/** The file as a tree, of which only what is opened is drawn. */

export type FileTree = ReturnType<typeof fileTree>

/** A row, and how to draw some of what is in it, from the `start`th on. */
interface Row {
  readonly element: HTMLElement
  readonly fill?: (start: number) => Promise<unknown>
}

/**
 * @param ask for some of what a part holds, from the `start`th on; null if it cannot be shown
 * @param onBytes shows the bytes of a part of a proof, by its index
 */
export function fileTree(
  ask: (place: Place, start: number) => Promise<Part | null>,
  onBytes: (proof: number, place: Place) => void,
) {
  /** What is drawn, by its place. */
  const rows = new Map<string, Row>()

  /** A list of what a part holds, which is filled when it is opened. */
  function listOf(place: Place) {
    let [end, shown] = [0, 0]
    const more = button({}, async () => (await fill(end))?.querySelector<HTMLElement>('summary, .digits')?.focus())
    const rest = h('li', { hidden: true }, more)
    const list = h('ul', { class: 'tree' }, rest)
    const fill = async (start: number): Promise<HTMLElement | undefined> => {
      const part = await ask(place, start)
      if (part === null) return undefined
      const added = part.rows.filter(({ name }) => !rows.has(JSON.stringify([...place, name])))
      const elements = added.map(row => {
        const inside = [...place, row.name]
        const made = rowOf(row, inside)
        rows.set(JSON.stringify(inside), made)
        return made.element
      })
      rest.before(...elements)
      shown += elements.length
      end = Math.max(end, start + part.rows.length)
      rest.hidden = end >= part.total
      more.textContent = `Show more: ${shown} of ${part.total} are shown`
      return elements[0]
    }
    return { list, fill }
  }

  function rowOf(row: PartRow, place: Place): Row {
    const label = h('span', { class: 'key' }, `${row.name}`)
    if (row.kind !== 'list' && row.kind !== 'object') return { element: leafOf(row, place, label, onBytes) }
    const size = h('span', { class: 'from' }, row.kind === 'list' ? `[${row.size}]` : `{${row.size}}`)
    const { list, fill } = listOf(place)
    const details = h('details', {}, h('summary', {}, label, ' ', size), list)
    details.addEventListener('toggle', () => void (details.open && fill(0)))
    return { element: h('li', {}, details), fill }
  }

  const { list, fill } = listOf([])
  void fill(0)
  return {
    content: [digitsHint(), list],
    /** Opens what is around a part of the file, and leads to it. */
    async find(place: Place): Promise<void> {
      let row: Row = { element: list, fill }
      for (const [index, name] of place.entries()) {
        const id = JSON.stringify(place.slice(0, index + 1))
        // It can be far down a long list.
        for (const start of [0, Number(name) || 0]) if (!rows.has(id)) await row.fill?.(start)
        row.element.querySelector(':scope > details')?.setAttribute('open', '')
        row = rows.get(id) ?? row
      }
      row.element.scrollIntoView({ block: 'center' })
      row.element.querySelector<HTMLElement>('.digits, summary')?.focus({ preventScroll: true })
    },
  }
}

function leafOf(
  { name, kind, size, text, fields }: PartRow,
  place: Place,
  label: HTMLElement,
  onBytes: (proof: number, place: Place) => void,
): HTMLElement {
  const hint = size > MAX_PART_CHARACTERS && h('span', { class: 'from' }, ` … of ${size} characters`)
  const raw = h('code', { class: 'raw' }, kind === 'hex' ? '0x' : text)
  const digits = kind === 'hex' && digitsView(place, 2, text.slice(2), `${name}`, fields)
  const proof = fields.length > 0 ? proofAt(place) : null
  const words = { class: 'plain', 'aria-label': `Show the bytes of ${place.join('.')}` }
  const bytes = proof !== null && button(words, () => onBytes(proof, place), 'Bytes')
  return h('li', { class: 'leaf' }, label, h('span', {}, raw, digits, hint), bytes)
}

/** The proof that a part of the file belongs to: 0 is the account's, 1 the first slot's. */
function proofAt(place: Place): number | null {
  const slot = place[place.indexOf('storageProofs') + 1]
  if (place.includes('storageProofs') && typeof slot === 'number') return slot + 1
  return place.includes('accountProof') ? 0 : null
}
