import { bytesView } from './bytes-view.ts'
import type { Status } from './checks.ts'
import { type Child, fold, h, rowList } from './dom.ts'
import { pathView } from './path-view.ts'
import type { Gap, ProofView } from './proof-view.ts'
import { groupView } from './report-view.ts'

/** One leaf proof: its checks, the neighbours of an absent key, the paths and their bytes. */
export function proofSection(proof: ProofView, isJudged: boolean): Child[] {
  const { title, claims, key, keyHash, checks, gap, paths, fault } = proof
  // A phone has no room for details that the user did not open.
  const isWide = window.matchMedia('(min-width: 64rem)').matches
  const hasFault = paths.some(path => path.bytes.some(({ fields }) => fields.some(({ isFault }) => isFault)))
  // The links between two neighbours and the key between them are drawn above the paths.
  const isOnPath = fault !== null && fault.place !== 'links' && fault.place !== 'key'
  return [
    h('h2', { id: 'proof-title' }, `Proof of ${title}`),
    isJudged ? null : h('p', { class: 'note' }, 'Unverified: this is what the file says.'),
    rowList([
      [proof.index === 0 ? 'Requested address' : 'Requested key', key || 'none'],
      ...(keyHash ? [['Its key hash', keyHash] as const] : []),
      ['The proof claims', claims],
    ]),
    fault && h('p', { class: 'fault-note' }, h('strong', {}, fault.code), ` ${fault.text}`),
    gap && gapView(gap),
    paths.length > 0
      ? fold(
          isWide || isOnPath,
          `The path${paths.length === 1 ? '' : 's'}, level by level`,
          h('div', { class: 'paths' }, ...paths.map(path => section(path.title, pathView(path, keyHash)))),
        )
      : h('p', {}, 'There is no path to draw: this proof has no hashes of its own.'),
    groupView({ title: `Checks of ${title}, in order`, checks }, isWide),
    paths.length > 0 &&
      fold(
        hasFault || isWide,
        'What the bytes mean',
        h('p', { class: 'hint' }, 'Point at a field, or use the arrow keys.'),
        h(
          'div',
          { class: 'paths' },
          ...paths.map(path => section(bytesTitles[path.part], ...path.bytes.map(bytesView))),
        ),
      ),
  ]
}

const section = (title: string, ...children: readonly Child[]): HTMLElement =>
  h('section', { class: 'one-path' }, h('h3', {}, title), ...children)

const bytesTitles = {
  proof: 'The leaf and its value',
  leftProof: 'Left neighbour',
  rightProof: 'Right neighbour',
} as const

const verdictMarks: Readonly<Record<Status, string>> = { passed: '✓', failed: '✗', 'not reached': '(not checked)' }

/** The two neighbours, their links to each other, and the key between them. */
function gapView(gap: Gap): HTMLElement {
  const { left, right, keyHash, forth, back, between, isAfterLeft } = gap
  const link = (text: string, { isSo, status }: Gap['forth'], direction: string) =>
    h(
      'p',
      { class: `link ${direction}`, 'data-status': status, 'data-elsewhere': !isSo },
      h('span', {}, `${text}${isSo ? '' : ', which is another leaf'} ${verdictMarks[status]}`),
    )
  const place = isAfterLeft ? 'its hash is not below the right one' : 'its hash is not above the left one'
  return h(
    'section',
    { class: 'gap-section' },
    h('h3', {}, 'The two neighbours'),
    h(
      'div',
      { class: 'gap' },
      neighbourCard('Left neighbour', left),
      h(
        'div',
        { class: 'between' },
        link(`left.next = ${left.next}`, forth, 'forth'),
        h(
          'p',
          { class: 'gap-key', 'data-status': between.status },
          h('span', { class: 'gap-name' }, 'requested key'),
          h('code', {}, keyHash),
          h('span', {}, `${between.isSo ? 'its hash lies between theirs' : place} ${verdictMarks[between.status]}`),
        ),
        link(`right.prev = ${right.prev}`, back, 'back'),
      ),
      neighbourCard('Right neighbour', right),
    ),
  )
}

function neighbourCard(title: string, { name, hKey, prev, next }: Gap['left']): HTMLElement {
  const rows = Object.entries({ 'key hash': h('code', {}, hKey), prev, next })
  const list = h('dl', {}, ...rows.flatMap(([term, value]) => [h('dt', {}, term), h('dd', {}, value)]))
  return h('div', { class: 'card' }, h('h4', {}, `${title}: ${name}`), list)
}
