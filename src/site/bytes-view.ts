import type { ByteField, Bytes } from './bytes.ts'
import { type Child, h, hidden, nodesOf, rove } from './dom.ts'

let made = 0

/** Bytes, one part per line. The list is a single tab stop, the arrow keys move between parts, and a text explains each. */
export function bytesView({ title, hex, fields, problem }: Bytes): HTMLElement {
  const id = `bytes-${++made}`
  if (problem !== null) {
    const raw = h('code', { class: 'raw' }, hex === '' ? 'nothing' : hex)
    return h('div', { class: 'bytes' }, h('h4', {}, title), h('p', { class: 'note' }, problem), raw)
  }
  const explanation = h('p', { class: 'explanation', role: 'status' })
  const options = fields.map((field, index) => fieldOption(field, hex, index))
  const explain = (index: number) => {
    const field = fields[index]
    if (field) explanation.replaceChildren(...nodesOf(explanationOf(field)))
  }
  rove(options, index => {
    for (const [other, option] of options.entries()) option.setAttribute('aria-selected', String(other === index))
    explain(index)
  })
  for (const [index, option] of options.entries()) option.addEventListener('pointerenter', () => explain(index))
  return h(
    'div',
    { class: 'bytes' },
    h('h4', { id }, title),
    h('div', { role: 'listbox', class: 'parts', 'aria-labelledby': id }, ...options),
    explanation,
  )
}

function fieldOption({ name, start, end, value, isFault }: ByteField, hex: string, index: number): HTMLElement {
  const digits = hex.slice(2 + 2 * start, 2 + 2 * end)
  const isShort = value.length <= 24
  const option = h(
    'div',
    { role: 'option', class: 'part', 'aria-selected': 'false', 'data-fault': isFault },
    h('span', { class: 'part-name' }, name, isShort ? h('span', { class: 'part-value' }, ` = ${value}`) : null),
    hidden(`, ${end - start} bytes${isFault ? ', at fault' : ''}`),
    // Screen readers would read this digit by digit. The explanation has the value.
    h('code', { class: 'raw', 'aria-hidden': 'true' }, foldZeros(digits)),
  )
  option.style.setProperty('--tone', `var(--tone-${index % 6})`)
  return option
}

/** More leading zero bytes than this are shown as their number. */
const MAX_ZERO_BYTES = 8

function foldZeros(digits: string): string {
  const zeros = Math.floor((digits.length - digits.replace(/^0+/, '').length) / 2)
  return zeros <= MAX_ZERO_BYTES ? digits : `[${zeros} zero bytes] ${digits.slice(2 * zeros)}`.trim()
}

export const explanationOf = ({ name, start, end, value, note }: ByteField): Child[] => [
  h('strong', {}, name),
  ` ${note} Bytes ${start} to ${end - 1}: `,
  h('code', {}, value),
]
