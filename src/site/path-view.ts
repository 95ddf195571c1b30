import type { PathLevel } from '../cli/words/layout.ts'
import { type Child, h, hidden, rove } from './dom.ts'
import type { PathView } from './proof-view.ts'

/** At least this many adjacent levels with empty siblings are folded into one line. */
const MIN_FOLDED = 2

/** A path from the root down to its leaf, each sibling on its side of the line. One tab stop: the arrow keys move along it. */
export function pathView(path: PathView, keyHash: string | null): HTMLElement {
  const rows = path.levels.length > 0 ? levelRows(path) : [h('li', { class: 'note' }, UNREADABLE)]
  const view = h(
    'section',
    { class: 'path' },
    h('h4', {}, path.title),
    h('ol', { class: 'spine' }, rootRow(path), path.statedSubRoot && topRow(path), ...rows, leafRow(path, keyHash)),
  )
  rove([...view.querySelectorAll<HTMLElement>('.level')])
  return view
}

const UNREADABLE = 'The nodes cannot be read as a path, so nothing is drawn.'

/** The levels, from the top. Those with empty siblings are folded, unless one is at fault. */
function levelRows(path: PathView): HTMLElement[] {
  const runs: PathLevel[][] = []
  const isFoldable = (one: PathLevel | undefined) => one?.isEmpty === true && path.fault?.place !== `level ${one.level}`
  for (const level of path.levels) {
    const run = runs.at(-1)
    if (run && isFoldable(level) && isFoldable(run[0])) run.push(level)
    else runs.push([level])
  }
  return runs.flatMap(run => {
    const rows = run.map(level => levelRow(level, path))
    if (run.length < MIN_FOLDED) return rows
    const title = `Levels ${run[0]?.level} to ${run.at(-1)?.level}: ${run.length} siblings, all empty subtrees`
    return [h('li', { class: 'fold' }, h('details', {}, h('summary', {}, title), h('ol', { class: 'spine' }, ...rows)))]
  })
}

function levelRow(level: PathLevel, { fault }: PathView): HTMLElement {
  const { siblingSide, sibling, isEmpty, running, problem, entry } = level
  const isFault = fault?.place === `level ${level.level}`
  const text = [
    h('strong', {}, `Level ${level.level}. `),
    `Node ${entry} makes the sibling on the ${siblingSide}: `,
    problem === null ? h('code', {}, sibling ?? '') : `it cannot be hashed, ${problem}`,
    isEmpty ? ' (a subtree without leaves).' : '.',
    ' The node on the path is ',
    running === null ? 'not known' : h('code', {}, running),
    '. The hash of both is the node one level up.',
  ]
  const row = h(
    'button',
    { type: 'button', class: 'level', 'data-side': siblingSide, 'data-explained': true },
    h('span', { class: 'node' }, `level ${level.level}`),
    h('span', { class: 'line', 'aria-hidden': 'true' }),
    h(
      'span',
      { class: 'sibling', 'data-empty': isEmpty, 'data-fault': isFault },
      hidden(`, sibling on the ${siblingSide}, `),
      h('code', {}, problem !== null ? 'refused' : isEmpty ? 'empty' : sibling),
    ),
    h('span', { class: 'text', hidden: true }, ...text),
  )
  return h('li', {}, row, isFault && tag(fault.code))
}

const tag = (code: string): HTMLElement => h('p', { class: 'fault-tag' }, `✗ ${code}`)

/** A box on the line, with its content. @param places the places of a fault that is marked in this box */
function box({ fault }: PathView, places: readonly string[], ...children: readonly Child[]): HTMLElement {
  const isFault = fault !== null && places.includes(fault.place)
  return h('li', { class: 'box', 'data-fault': isFault }, ...children, isFault && tag(fault.code))
}

const named = (name: string, value: string | null): HTMLElement =>
  h('span', {}, h('strong', {}, name), ' ', h('code', {}, value ?? 'not known'))

const from = (text: string): HTMLElement => h('span', { class: 'from' }, text)

function rootRow(path: PathView): HTMLElement {
  const { rootName, wantedRoot, rootSource, computedRoot } = path
  const isOther = computedRoot !== null && wantedRoot?.toLowerCase() !== computedRoot
  const computed = isOther && named('this path leads to', computedRoot)
  return box(path, ['root'], named(rootName, wantedRoot), from(rootSource), computed)
}

function topRow(path: PathView): HTMLElement {
  const { nextFreeNode, statedSubRoot, computedSubRoot } = path
  const isOther = computedSubRoot !== null && statedSubRoot !== computedSubRoot
  return box(
    path,
    ['node 0'],
    named('sub-root', statedSubRoot),
    from(`node 0; next free node ${nextFreeNode}`),
    isOther && named('the levels lead to', computedSubRoot),
  )
}

function leafRow(path: PathView, keyHash: string | null): HTMLElement {
  const { leafIndex, valueHash, fault } = path
  return box(
    path,
    ['leaf', 'leaf index', 'value'],
    named('leaf', leafIndex),
    fault?.code === 'LEAF_KEY_MISMATCH' && named('the key hashes to', keyHash),
    fault?.code === 'VALUE_MISMATCH' && valueHash !== null && named('the value hashes to', valueHash),
  )
}
