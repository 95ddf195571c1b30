import { bytesView } from './bytes-view.ts'
import { checksView } from './chain-view.ts'
import { digitsHint } from './digits.ts'
import { button, type Child, h, rowList } from './dom.ts'
import { neighboursView } from './neighbours.ts'
import type { Place } from './part.ts'
import { pathsView } from './path-view.ts'
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
    paths.length > 0 ? pathsView(paths, keyHash) : h('p', {}, 'This page draws no path of it.'),
    paths.length > 0 && bytesSection(paths, place, onFind),
    checks.length > 0 && checksView(`Checks of ${title}, in order`, checks),
  ]
}

/** The bytes of the leaves, of node 0 and of the values. */
const bytesSection = (paths: readonly PathView[], place: Place | null, onFind: (place: Place) => void): HTMLElement =>
  h(
    'section',
    { id: 'bytes' },
    h('h3', {}, 'Its bytes'),
    digitsHint(),
    h(
      'div',
      { class: 'columns' },
      ...paths.map(({ part, bytes }) =>
        h(
          'section',
          {},
          h('h4', {}, bytesTitles[part]),
          ...bytes.map(one => {
            const inside = one.entry === 'value' ? ['value'] : ['proofRelatedNodes', one.entry]
            return bytesView(one, bytesTitles[part], place && [...place, part, ...inside], onFind)
          }),
        ),
      ),
    ),
  )

const bytesTitles = {
  proof: 'The leaf and its value',
  leftProof: 'Left neighbour',
  rightProof: 'Right neighbour',
} as const

/** The title, and the way to the other proofs of the file. */
function heading({ title, index, count }: ProofView, onChoose: (index: number) => void): HTMLElement {
  const to = (target: number, name: string, arrow: string) =>
    button({ disabled: target < 0 || target >= count, 'aria-label': name, title: name }, () => onChoose(target), arrow)
  return h(
    'div',
    { class: 'pager' },
    h('h3', {}, `Proof of ${title}`),
    count > 1 &&
      h(
        'span',
        {},
        to(index - 1, 'Previous proof', '‹'),
        h('span', {}, `${index + 1} of ${count}`),
        to(index + 1, 'Next proof', '›'),
      ),
  )
}
