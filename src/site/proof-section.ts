import type { ByteField, Bytes } from './bytes.ts'
import { checksView } from './chain-view.ts'
import { digitsHint, digitsView } from './digits.ts'
import { button, type Child, explained, h, rove, rowList } from './dom.ts'
import { neighboursView } from './neighbours.ts'
import type { Place } from './part.ts'
import { pathView } from './path-view.ts'
import type { PathView, ProofView } from './proof-view.ts'

/**
 * One proof: the neighbours of an absent key, the way from the root to the leaves, their bytes, and its checks.
 *
 * @param place where in the file it is; null if that is not known
 */
export function proofSection(
  proof: ProofView,
  place: Place | null,
  isJudged: boolean,
  onChoose: (index: number) => void,
  onFind: (place: Place) => void,
): Child[] {
  const { title, claims, key, keyHash, checks, gap, paths, fault } = proof
  return [
    heading(proof, onChoose),
    isJudged ? null : h('p', { class: 'note' }, 'Unverified: this is what the file says.'),
    rowList(
      Object.entries({ Key: key, 'Its hash': keyHash ?? '', Claims: claims }).filter(([, value]) => value !== ''),
    ),
    fault && h('p', { class: 'fault-note' }, h('strong', {}, fault.code), ` ${fault.text}`),
    gap && neighboursView(gap),
    paths.length === 0
      ? h('p', {}, 'This page draws no path of it.')
      : explained(
          'Point at a node or a byte, or use the arrow keys.',
          h('div', { class: 'paths' }, ...paths.map(path => pathView(path, keyHash))),
          bytesSection(paths, place, onFind),
        ),
    checks.length > 0 && checksView(`Checks of ${title}, in order`, checks),
  ]
}

/** The title, and the way to the other proofs of the file. */
function heading({ title, index, count }: ProofView, onChoose: (index: number) => void): HTMLElement {
  const to = (target: number, name: string, arrow: string) =>
    button({ disabled: target < 0 || target >= count, 'aria-label': name, title: name }, () => onChoose(target), arrow)
  const pages = h(
    'span',
    {},
    to(index - 1, 'Previous proof', '‹'),
    h('span', {}, `${index + 1} of ${count}`),
    to(index + 1, 'Next proof', '›'),
  )
  return h('div', { class: 'pager' }, h('h3', {}, `Proof of ${title}`), count > 1 && pages)
}

const bytesTitles = { proof: 'The leaf and its value', leftProof: 'Left neighbour', rightProof: 'Right neighbour' }

/** The bytes of the leaves, of node 0 and of the values. */
function bytesSection(paths: readonly PathView[], place: Place | null, onFind: (place: Place) => void): HTMLElement {
  const columns = paths.map(({ part, bytes }) => {
    const title = bytesTitles[part]
    const all = bytes.map(one => {
      const inside = one.entry === 'value' ? ['value'] : ['proofRelatedNodes', one.entry]
      return bytesView(one, title, place && [...place, part, ...inside], onFind)
    })
    return h('section', {}, h('h4', {}, title), ...all)
  })
  return h(
    'section',
    { id: 'bytes' },
    h('h3', {}, 'Its bytes'),
    digitsHint(),
    h('div', { class: 'columns' }, ...columns),
  )
}

/**
 * Bytes, one part per line. They are a single tab stop: up and down lead from part to part, left and right from digit to digit.
 *
 * @param of the part of the proof
 */
function bytesView(
  { title, hex, fields, problem }: Bytes,
  of: string,
  place: Place | null,
  onFind: (place: Place) => void,
): HTMLElement {
  const name = `${of}: show ${title.charAt(0).toLowerCase()}${title.slice(1)} in the file`
  const find = place && button({ class: 'plain', 'aria-label': name }, () => onFind(place), 'In the file')
  const rows = fields.map((field, index) => fieldRow(field, index, hex, place ?? []))
  rove(rows.map(({ digits }) => digits))
  return h(
    'div',
    { class: 'bytes' },
    h('h4', {}, title, ' ', find),
    problem !== null && h('p', { class: 'note' }, problem),
    problem !== null && h('code', { class: 'raw' }, hex === '' ? 'nothing' : hex),
    problem === null && h('ul', { class: 'parts', 'aria-label': title }, ...rows.map(({ row }) => row)),
  )
}

function fieldRow({ name, start, end, value, note, isFault }: ByteField, index: number, hex: string, place: Place) {
  const words = `${name}, ${end - start} bytes${isFault ? ', at fault' : ''}`
  const digits = digitsView(place, 2 + 2 * start, hex.slice(2 + 2 * start, 2 + 2 * end), words)
  const row = h(
    'li',
    { class: 'part', 'data-fault': isFault, 'data-tone': index, 'data-explained': true },
    h('span', { class: 'part-name' }, name, value.length <= 24 && ` = ${value}`),
    digits,
    h(
      'span',
      { class: 'text', hidden: true },
      ...[h('strong', {}, name), ` ${note} Bytes ${start} to ${end - 1}: `, h('code', {}, value)],
    ),
  )
  return { row, digits }
}
