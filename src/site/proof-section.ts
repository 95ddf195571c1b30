import { bytesView } from './bytes-view.ts'
import { checksView, chip } from './chain-view.ts'
import { digitsHint } from './digits.ts'
import { button, type Child, growing, h, hidden, rowList } from './dom.ts'
import { neighboursView } from './neighbours.ts'
import type { Place } from './part.ts'
import { pathsView } from './path-view.ts'
import type { BlockRow, ProofView } from './proof-view.ts'
import type { TrieNode } from './trie-view.ts'

/** One proof: its checks, the neighbours of an absent key, and the way from the root to the leaves. */
export function proofSection(proof: ProofView, isJudged: boolean, onChoose: (index: number) => void): Child[] {
  const { title, claims, key, keyHash, checks, gap, paths, trie, fault, blocks } = proof
  return [
    heading(`Proof of ${title}`, proof, onChoose),
    isJudged ? null : h('p', { class: 'note' }, 'Unverified: this is what the file says.'),
    rowList(
      Object.entries({ Key: key, 'Its hash': keyHash ?? '', Claims: claims }).filter(([, value]) => value !== ''),
    ),
    fault && h('p', { class: 'fault-note' }, h('strong', {}, fault.code), ` ${fault.text}`),
    gap && neighboursView(gap),
    paths.length > 0 && pathsView(paths, keyHash),
    trie.length > 0 && trieView(trie),
    ...(blocks.length > 0 ? blocksView(blocks) : []),
    paths.length + trie.length + blocks.length === 0 &&
      h('p', {}, 'There is no path to draw: this proof has no hashes of its own.'),
    checks.length > 0 && checksView(`Checks of ${title}, in order`, checks),
  ]
}

/** The bytes of the leaves, of node 0 and of the values. */
export function bytesSection(
  proof: ProofView,
  place: Place | null,
  onChoose: (index: number) => void,
  onFind: (place: Place) => void,
): Child[] {
  const paths = proof.paths.filter(({ bytes }) => bytes.length > 0)
  if (paths.length === 0) return []
  return [
    heading(`Bytes of ${proof.title}`, proof, onChoose),
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
  ]
}

const bytesTitles = {
  proof: 'The leaf and its value',
  leftProof: 'Left neighbour',
  rightProof: 'Right neighbour',
} as const

/** The title, and the way to the other proofs of the file. */
function heading(title: string, { index, count }: ProofView, onChoose: (index: number) => void): HTMLElement {
  const to = (target: number, name: string, arrow: string) =>
    button({ disabled: target < 0 || target >= count, 'aria-label': name, title: name }, () => onChoose(target), arrow)
  return h(
    'div',
    { class: 'pager' },
    h('h3', {}, title),
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

/** Newest first, as they follow from each other. */
const blocksView = (blocks: readonly BlockRow[]) =>
  growing(
    h('ol', { class: 'proofs blocks' }),
    blocks,
    ({ name, status, text }) =>
      h(
        'li',
        { 'data-status': status },
        h('span', { class: 'name' }, name),
        h('span', { class: 'about' }, text),
        chip(status),
      ),
    blocks.findIndex(({ status }) => status === 'failed'),
  )

/** The nodes of a Merkle-Patricia proof from the root down, each with the digits of the key that it takes. */
const trieView = (nodes: readonly TrieNode[]): HTMLElement =>
  h(
    'ol',
    { class: 'trie' },
    ...nodes.map(({ hash, kind, digits, children, child }) =>
      h(
        'li',
        { 'data-kind': kind },
        h('span', { class: 'name' }, kind),
        children.length === 0
          ? h('span', {}, 'takes ', h('code', {}, digits === '' ? 'nothing' : digits))
          : h(
              'span',
              { class: 'children' },
              hidden(`takes the digit ${digits}`),
              ...children.map((isThere, index) =>
                h(
                  'span',
                  { 'aria-hidden': 'true', 'data-there': isThere, 'data-taken': index === child },
                  index.toString(16),
                ),
              ),
            ),
        h('code', { class: 'hash' }, hash ?? 'not hexadecimal'),
      ),
    ),
  )
