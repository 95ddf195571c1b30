import { h } from './dom.ts'
import { MAX_CHANGED_DIGITS } from './limits.ts'
import type { DigitChange, Place } from './part.ts'

/** Digits of the file that the visitor has changed. Each can be put back. */

const changes = new Map<string, DigitChange & { readonly original: string }>()
const keyOf = (place: Place, at: number): string => JSON.stringify([...place, at])
/** What is drawn, and how to draw it again. */
const drawn = new Map<HTMLElement, () => void>()
/** Where the visitor is: drawing a verdict takes the focus away. */
let cursor: { readonly name: string; readonly at: number } | null = null
let onChange = (): void => {}

/** @param listener called on every change */
export function listenToDigits(listener: () => void): void {
  onChange = listener
}

export const changedDigits = () => [...changes.values()]

/** Nothing is changed any more, because it is another file, or because it was put back. */
export function forgetDigits(): void {
  changes.clear()
  drawAgain()
}

function drawAgain(): void {
  for (const [element, draw] of drawn) {
    if (element.isConnected) draw()
    else drawn.delete(element)
  }
}

/** Gives the focus back to the digit that had it. */
export function refocusDigit(): void {
  if (cursor === null || document.activeElement !== document.body) return
  const { name } = cursor
  for (const element of drawn.keys()) {
    if (element.dataset['digits'] === name && element.offsetParent !== null) element.focus({ preventScroll: true })
  }
}

/** Gives the focus to the first digits of a text in the file, in one of the views. */
export function focusDigits(view: string, place: Place): void {
  const id = JSON.stringify(place)
  const all = [...document.querySelectorAll<HTMLElement>(`${view} .digits`)]
  all.find(one => one.dataset['digits']?.startsWith(id))?.focus()
}

function change(place: Place, at: number, original: string, digit: string): void {
  const key = keyOf(place, at)
  changes.delete(key)
  if (digit !== original && changes.size < MAX_CHANGED_DIGITS) changes.set(key, { place, at, digit, original })
  drawAgain()
  onChange()
}

export const digitsHint = (): HTMLElement =>
  h('p', { class: 'hint' }, 'Click a digit to change it, or type another; Backspace puts it back. The verdict follows.')

/** A part of the digits that means something. */
export interface Tone {
  readonly start: number
  readonly end: number
  readonly index: number
}

/**
 * Some digits of a text in the file. A click, or a key, makes another digit of one.
 *
 * @param from where in the text they begin @param name what they are, for screen readers
 */
export function digitsView(
  place: Place,
  from: number,
  shown: string,
  name: string,
  tones: readonly Tone[] = [],
): HTMLElement {
  const changeAt = (index: number) => changes.get(keyOf(place, from + index))
  // As in the file.
  const text = [...shown].map((digit, index) => changeAt(index)?.original ?? digit).join('')
  const first = from === 0 && text.startsWith('0x') ? 2 : 0
  const id = `${JSON.stringify(place)} ${from}`
  const element = h('code', {
    ...{ class: 'raw digits', tabindex: '0', role: 'textbox', 'aria-multiline': 'true', 'aria-readonly': 'true' },
    ...{ 'aria-label': name, 'data-digits': id },
  })
  let at = first
  const isHere = () => document.activeElement === element
  const draw = (): void => {
    const cuts = new Set([0, text.length, ...tones.flatMap(({ start, end }) => [start, end])])
    for (const [index] of [...text].entries()) {
      if (changeAt(index) || (isHere() && index === at)) cuts.add(index).add(index + 1)
    }
    const sorted = [...cuts].filter(one => one <= text.length).sort((one, other) => one - other)
    const parts = sorted.slice(0, -1).map((start, index) => {
      const digits = text.slice(start, sorted[index + 1])
      const other = changeAt(start)
      const part = h(
        'span',
        { 'data-changed': other !== undefined, 'data-cursor': isHere() && start === at },
        other?.digit ?? digits,
      )
      if (other) part.title = `The file has ${other.original}`
      const tone = tones.find(one => one.start <= start && start < one.end)
      if (tone) part.style.setProperty('--tone', `var(--tone-${tone.index % 6})`)
      return part
    })
    element.replaceChildren(...parts)
  }
  const set = (digit: string): void => {
    cursor = { name: id, at }
    const original = text.charAt(at)
    // Upper case is the same digit.
    change(place, from + at, original, digit === original.toLowerCase() ? original : digit)
  }
  const now = () => changeAt(at)?.digit ?? text.charAt(at)
  element.addEventListener('focus', () => {
    if (cursor?.name === id) at = cursor.at
    draw()
  })
  element.addEventListener('blur', draw)
  // Drawing the cursor replaces what was pressed, so that there is no click.
  element.addEventListener('pointerup', event => {
    const index = offsetIn(element, event)
    if (index === null || index < first || index >= text.length || getSelection()?.isCollapsed === false) return
    at = index
    set(((Number.parseInt(now(), 16) + 1) % 16).toString(16))
  })
  element.addEventListener('keydown', event => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    const isDigit = /^[0-9a-f]$/i.test(event.key) && !event.ctrlKey && !event.metaKey && !event.altKey
    if (step === undefined && !isDigit && event.key !== 'Backspace') return
    event.preventDefault()
    event.stopImmediatePropagation()
    if (event.key === 'Backspace') set(text.charAt(at))
    else if (isDigit) set(event.key.toLowerCase())
    if (isDigit || step !== undefined) at = Math.min(Math.max(at + (step ?? 1), first), text.length - 1)
    cursor = { name: id, at }
    draw()
  })
  drawn.set(element, draw)
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
