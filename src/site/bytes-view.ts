import type { ByteField, Bytes } from './bytes.ts'
import { digitsView } from './digits.ts'
import { button, type Child, h, hidden, nodesOf, rove } from './dom.ts'
import type { Place } from './part.ts'

let made = 0

/**
 * Bytes, one part per line. They are a single tab stop: up and down lead from part to part, left and right from digit to digit.
 * A text explains each part.
 *
 * @param of the part of the proof @param place where in the file they are; null if that is not known
 */
export function bytesView(
  { title, hex, fields, problem }: Bytes,
  of: string,
  place: Place | null,
  onFind: (place: Place) => void,
) {
  const id = `bytes-${++made}`
  const find =
    place !== null &&
    button(
      { class: 'plain', 'aria-label': `${of}: show ${title.charAt(0).toLowerCase()}${title.slice(1)} in the file` },
      () => onFind(place),
      'In the file',
    )
  const heading = h('h4', { id }, title, ' ', find)
  if (problem !== null) {
    const raw = h('code', { class: 'raw' }, hex === '' ? 'nothing' : hex)
    return h('div', { class: 'bytes' }, heading, h('p', { class: 'note' }, problem), raw)
  }
  const explanation = h('p', { class: 'explanation', role: 'status' })
  const digits = fields.map(({ name, start, end, isFault }) =>
    digitsView(
      place ?? [],
      2 + 2 * start,
      hex.slice(2 + 2 * start, 2 + 2 * end),
      `${name}, ${end - start} bytes${isFault ? ', at fault' : ''}`,
    ),
  )
  const explain = (index: number) => {
    const field = fields[index]
    if (field) explanation.replaceChildren(...nodesOf(explanationOf(field)))
  }
  rove(digits, explain)
  const rows = fields.map((field, index) => {
    const row = fieldRow(field, index, digits[index] ?? hidden(''))
    row.addEventListener('pointerenter', () => explain(index))
    return row
  })
  return h('div', { class: 'bytes' }, heading, h('ul', { class: 'parts', 'aria-labelledby': id }, ...rows), explanation)
}

function fieldRow({ name, value, isFault }: ByteField, index: number, digits: HTMLElement): HTMLElement {
  const isShort = value.length <= 24
  const row = h(
    'li',
    { class: 'part', 'data-fault': isFault },
    h('span', { class: 'part-name' }, name, isShort ? h('span', { class: 'part-value' }, ` = ${value}`) : null),
    digits,
  )
  row.style.setProperty('--tone', `var(--tone-${index % 6})`)
  return row
}

export const explanationOf = ({ name, start, end, value, note }: ByteField): Child[] => [
  h('strong', {}, name),
  ` ${note} Bytes ${start} to ${end - 1}: `,
  h('code', {}, value),
]
