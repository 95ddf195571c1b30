import type { PathLevel } from '../document/layout.ts'
import { abbreviate, type Child, h, hidden, nodesOf } from './dom.ts'
import type { FaultPlace } from './fault.ts'
import type { PathView } from './proof-view.ts'

/** At least this many adjacent levels with empty siblings are folded into one line. */
const MIN_FOLDED = 2

/** Draws a path from the root down to the leaf, as in `proofRelatedNodes`. Each sibling is on its side of the line. */
export function pathView(path: PathView, keyHash: string | null): HTMLElement {
  const explanation = h('p', { class: 'explanation', role: 'status' })
  const explain = (text: Child[]) => explanation.replaceChildren(...nodesOf(text))
  if (path.levels.length === 0) {
    return h('p', { class: 'note' }, 'The nodes cannot be read as a path, so nothing is drawn.')
  }
  const levels = foldLevels(path.levels, path.fault?.place ?? null)
  return h(
    'div',
    { class: 'path' },
    h(
      'ol',
      { class: 'spine' },
      rootRow(path),
      topRow(path),
      ...levels.flatMap(run => {
        const rows = run.map(level => levelRow(level, path, explain))
        return run.length < MIN_FOLDED ? rows : [foldedRow(run, rows)]
      }),
      leafRow(path, keyHash),
    ),
    explanation,
  )
}

/** Groups the levels into runs. Runs of more than one level can be folded; the level at fault is always alone. */
function foldLevels(levels: readonly PathLevel[], fault: FaultPlace | null): PathLevel[][] {
  const runs: PathLevel[][] = []
  for (const level of levels) {
    const run = runs.at(-1)
    const isFoldable = (one: PathLevel | undefined) => one?.isEmpty === true && fault !== `level ${one.level}`
    if (run && isFoldable(level) && isFoldable(run[0])) run.push(level)
    else runs.push([level])
  }
  return runs
}

type Explain = (text: Child[]) => void

function foldedRow(run: readonly PathLevel[], rows: readonly HTMLElement[]): HTMLElement {
  const title = `Levels ${run[0]?.level} to ${run.at(-1)?.level}: ${run.length} siblings, all empty subtrees`
  return h('li', { class: 'fold' }, h('details', {}, h('summary', {}, title), h('ol', { class: 'spine' }, ...rows)))
}

function levelRow(level: PathLevel, path: PathView, explain: Explain): HTMLElement {
  const { siblingSide, sibling, isEmpty, running, problem, entry } = level
  const isFault = path.fault?.place === `level ${level.level}`
  const siblingText = problem !== null ? 'refused' : isEmpty ? 'empty' : abbreviate(sibling ?? '')
  const siblingCell = h(
    'span',
    { class: 'sibling', 'data-empty': isEmpty, 'data-fault': isFault },
    hidden(`, sibling on the ${siblingSide}, `),
    h('code', {}, siblingText),
  )
  const nodeCell = h('span', { class: 'node' }, h('span', { class: 'level-name' }, `level ${level.level}`))
  const button = h(
    'button',
    { type: 'button', class: 'level', 'data-side': siblingSide },
    nodeCell,
    h('span', { class: 'line', 'aria-hidden': 'true' }),
    siblingCell,
  )
  const text = (): Child[] => [
    h('strong', {}, `Level ${level.level}. `),
    `Node ${entry} makes the sibling on the ${siblingSide}: `,
    problem === null ? h('code', {}, sibling ?? '') : `it cannot be hashed, ${problem}`,
    isEmpty ? ' (a subtree without leaves).' : '.',
    ' The node on the path is ',
    running === null ? 'not known' : h('code', {}, running),
    '. The hash of both is the node one level up.',
  ]
  for (const event of ['focus', 'pointerenter', 'click']) button.addEventListener(event, () => explain(text()))
  const tag = isFault && h('p', { class: 'fault-line' }, h('span', { class: 'fault-tag' }, `✗ ${path.fault?.code}`))
  return h('li', {}, button, tag)
}

/** A box on the line, with its content. @param places the places of a fault that is marked in this box */
function box({ fault }: PathView, places: readonly FaultPlace[], ...children: readonly Child[]): HTMLElement {
  const isFault = fault !== null && places.includes(fault.place)
  const tag = isFault && h('span', { class: 'fault-tag' }, `✗ ${fault.code}`)
  return h('li', { class: 'box', 'data-fault': isFault }, ...children, tag)
}

const named = (name: string, value: string | null): HTMLElement =>
  h('span', { class: 'named' }, h('span', { class: 'name' }, name), ' ', h('code', {}, value ?? 'not known'))

const from = (text: string): HTMLElement => h('span', { class: 'from' }, text)

function rootRow(path: PathView): HTMLElement {
  const { rootName, wantedRoot, rootSource, computedRoot } = path
  const isShown = computedRoot !== null && wantedRoot?.toLowerCase() !== computedRoot
  const computed = isShown && named('this path leads to', computedRoot)
  return box(path, ['root'], named(rootName, wantedRoot), from(rootSource), computed)
}

function topRow(path: PathView): HTMLElement {
  const { nextFreeNode, statedSubRoot, computedSubRoot } = path
  const differs = statedSubRoot !== null && computedSubRoot !== null && statedSubRoot !== computedSubRoot
  return box(
    path,
    ['node 0', 'sub-root'],
    from('node 0'),
    named('nextFreeNode', nextFreeNode),
    named('sub-root', statedSubRoot),
    differs && named('the levels lead to', computedSubRoot),
  )
}

function leafRow(path: PathView, keyHash: string | null): HTMLElement {
  const { leafIndex, bytes, valueHash, fault } = path
  const field = (name: string) => bytes[0]?.fields.find(one => one.name === name)?.value ?? null
  return box(
    path,
    ['leaf', 'leaf index', 'value'],
    from('leaf, node 41'),
    named('index', leafIndex),
    named('hKey', field('hKey')),
    fault?.code === 'LEAF_KEY_MISMATCH' && named('the key hashes to', keyHash),
    named('hVal', field('hVal')),
    fault?.code === 'VALUE_MISMATCH' && valueHash !== null && named('the value hashes to', valueHash),
  )
}
