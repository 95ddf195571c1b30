import { digitsHint, digitsView } from './digits.ts'
import { button, type Child, h } from './dom.ts'
import { MAX_PART_CHARACTERS } from './limits.ts'
import type { Part, PartRow, Place } from './part.ts'

/** The file as a tree, of which only what is opened is drawn. */

export interface FileTree {
  readonly content: readonly Child[]
  /** Opens what is around a part of the file, and leads to it. */
  readonly find: (place: Place) => Promise<void>
}

/** Opens a row, and returns the row inside it that has a name. */
type Open = (name: string | number) => Promise<{ readonly element: HTMLElement; readonly open: Open } | undefined>

/**
 * @param ask for some of what a part holds, from the `start`th on; null if it cannot be shown
 * @param onBytes shows the bytes of a part of a proof, by its index
 */
export function fileTree(
  ask: (place: Place, start: number) => Promise<Part | null>,
  onBytes: (proof: number, place: Place) => void,
): FileTree {
  const { list, open } = branch([], ask, onBytes)
  void open('')
  return {
    content: [digitsHint(), list],
    async find(place) {
      let inside: Open = open
      let last: HTMLElement | undefined
      for (const name of place) {
        const row = await inside(name)
        if (row === undefined) break
        last = row.element
        inside = row.open
      }
      last?.scrollIntoView({ block: 'center' })
      last?.querySelector<HTMLElement>('.digits, summary')?.focus({ preventScroll: true })
    },
  }
}

/** A list of what a part holds, which is filled when it is opened. */
function branch(place: Place, ask: Parameters<typeof fileTree>[0], onBytes: (proof: number, place: Place) => void) {
  const list = h('ul', { class: 'tree' })
  const rows = new Map<string | number, ReturnType<typeof rowOf>>()
  const more = button(
    {},
    () => void add(end).then(first => first?.querySelector<HTMLElement>('summary, .digits')?.focus()),
  )
  const rest = h('li', { hidden: true }, more)
  list.append(rest)
  let end = 0
  let isFilled = false
  const add = async (start: number): Promise<HTMLElement | undefined> => {
    const part = await ask(place, start)
    if (part === null) return undefined
    const added = part.rows.filter(({ name }) => !rows.has(name))
    for (const row of added) {
      const made = rowOf(row, [...place, row.name], ask, onBytes)
      rows.set(row.name, made)
      rest.before(made.element)
    }
    isFilled = true
    end = Math.max(end, start + part.rows.length)
    rest.hidden = end >= part.total
    more.textContent = `Show more: ${rows.size} of ${part.total} are shown`
    const [first] = added
    return first && rows.get(first.name)?.element
  }
  const open: Open = async name => {
    if (!isFilled) await add(0)
    // Far down a long list.
    if (typeof name === 'number' && !rows.has(name)) await add(name)
    return rows.get(name)
  }
  return { list, open }
}

function rowOf(
  { name, kind, size, text, fields }: PartRow,
  place: Place,
  ask: Parameters<typeof fileTree>[0],
  onBytes: (proof: number, place: Place) => void,
): { readonly element: HTMLElement; readonly open: Open } {
  const label = h('span', { class: 'key' }, `${name}`)
  if (kind === 'list' || kind === 'object') {
    const words = kind === 'list' ? `[${size}]` : `{${size}}`
    const { list, open } = branch(place, ask, onBytes)
    const details = h('details', {}, h('summary', {}, label, ' ', h('span', { class: 'from' }, words)), list)
    details.addEventListener('toggle', () => {
      if (details.open) void open('')
    })
    const element = h('li', {}, details)
    return {
      element,
      open: inside => {
        details.open = true
        return open(inside)
      },
    }
  }
  const hint = size > MAX_PART_CHARACTERS && h('span', { class: 'from' }, ` … of ${size} characters`)
  const tones = fields.map(({ start, end }, index) => ({ start: 2 + 2 * start, end: 2 + 2 * end, index }))
  const value = kind === 'hex' ? digitsView(place, 0, text, `${name}`, tones) : h('code', { class: 'raw' }, text)
  const proof = fields.length > 0 ? proofAt(place) : null
  const bytes =
    proof !== null &&
    button(
      { class: 'plain', 'aria-label': `Show the bytes of ${place.join('.')}` },
      () => onBytes(proof, place),
      'Bytes',
    )
  return {
    element: h('li', { class: 'leaf' }, label, h('span', {}, value, hint), bytes),
    open: () => Promise.resolve(undefined),
  }
}

/** The proof that a part of the file belongs to: 0 is the account's, 1 the first slot's. */
function proofAt(place: Place): number | null {
  const index = place.indexOf('storageProofs')
  const slot = place[index + 1]
  if (index >= 0 && typeof slot === 'number') return slot + 1
  return place.includes('accountProof') ? 0 : null
}
