import type { PathLevel } from '../cli/words/layout.ts'
import { explanationOf } from './bytes-view.ts'
import { type Child, h, hidden, nodesOf, rove } from './dom.ts'
import type { FaultPlace } from './fault.ts'
import type { PathView } from './proof-view.ts'

/** At least this many adjacent levels with empty siblings are folded into one line. */
const MIN_FOLDED = 2

/** Collects what can get the focus, and what it then explains. */
interface Drawing {
  readonly keyHash: string | null
  add<Element extends HTMLElement>(element: Element, explanation: () => Child[]): Element
}

/**
 * Draws the paths of a proof from the root down to their leaves, each sibling on its side of the line. What two paths have in
 * common is drawn once. One tab stop: the arrow keys move along it.
 */
export function pathsView(paths: readonly PathView[], keyHash: string | null): HTMLElement {
  const explanation = h(
    'p',
    { class: 'explanation', role: 'status' },
    'Point at a node or a byte, or use the arrow keys.',
  )
  const stops: HTMLElement[] = []
  const texts: (() => Child[])[] = []
  const explain = (index: number) => explanation.replaceChildren(...nodesOf(texts[index]?.() ?? []))
  const drawing: Drawing = {
    keyHash,
    add(element, text) {
      const index = texts.push(text) - 1
      stops.push(element)
      for (const event of ['pointerenter', 'click']) element.addEventListener(event, () => explain(index))
      return element
    },
  }
  const [first, ...others] = paths
  const rows = first === undefined ? [] : draw(first, others, drawing)
  rove(stops, explain)
  return h('div', { class: 'path' }, explanation, h('ol', { class: 'spine' }, ...rows))
}

function draw(first: PathView, others: readonly PathView[], drawing: Drawing): HTMLElement[] {
  const [other] = others
  if (other === undefined) return [rootRow(first), ...rowsFrom(first, -1, drawing)]
  const count = commonLevels(first, other)
  const branches = [first, other].map(path =>
    h(
      'section',
      { class: 'branch' },
      h('h4', {}, path.title),
      h('ol', { class: 'spine' }, ...(count < 0 ? [rootRow(path)] : []), ...rowsFrom(path, count, drawing)),
    ),
  )
  const split = h('li', { class: 'split' }, ...branches)
  if (count < 0) return [split]
  return [rootRow(first), topRow(first), ...levelRows(first, first.levels.slice(0, count), drawing), split]
}

/** How many levels from the top two paths have in common; -1 if not even node 0 is the same. */
function commonLevels(one: PathView, other: PathView): number {
  const isSame = (name: 'nextFreeNode' | 'statedSubRoot' | 'computedSubRoot') => one[name] === other[name]
  if (one.fault ?? other.fault) return -1
  if (!isSame('nextFreeNode') || !isSame('statedSubRoot') || !isSame('computedSubRoot')) return -1
  const differs = one.levels.findIndex(({ running, sibling }, index) => {
    const level = other.levels[index]
    return running === null || running !== level?.running || sibling !== level.sibling
  })
  return Math.max(0, differs)
}

/** @param start the first level that is not drawn yet; below zero, node 0 is not drawn either */
function rowsFrom(path: PathView, start: number, drawing: Drawing): HTMLElement[] {
  const isPath = path.levels.length > 0
  const note = h('li', { class: 'note' }, 'The nodes cannot be read as a path, so nothing is drawn.')
  return [
    ...(start < 0 && path.statedSubRoot !== null ? [topRow(path)] : []),
    ...(isPath ? levelRows(path, path.levels.slice(Math.max(0, start)), drawing) : [note]),
    leafRow(path, drawing),
  ]
}

/** Groups the levels into runs. Runs of more than one level can be folded; the level at fault is always alone. */
function levelRows(path: PathView, levels: readonly PathLevel[], drawing: Drawing): HTMLElement[] {
  const fault = path.fault?.place ?? null
  const runs: PathLevel[][] = []
  for (const level of levels) {
    const run = runs.at(-1)
    const isFoldable = (one: PathLevel | undefined) => one?.isEmpty === true && fault !== `level ${one.level}`
    if (run && isFoldable(level) && isFoldable(run[0])) run.push(level)
    else runs.push([level])
  }
  return runs.flatMap(run => {
    const rows = run.map(level => levelRow(level, path, drawing))
    if (run.length < MIN_FOLDED) return rows
    const title = `Levels ${run[0]?.level} to ${run.at(-1)?.level}: ${run.length} siblings, all empty subtrees`
    return [h('li', { class: 'fold' }, h('details', {}, h('summary', {}, title), h('ol', { class: 'spine' }, ...rows)))]
  })
}

function levelRow(level: PathLevel, path: PathView, drawing: Drawing): HTMLElement {
  const { siblingSide, sibling, isEmpty, running, problem, entry } = level
  const isFault = path.fault?.place === `level ${level.level}`
  const siblingText = problem !== null ? 'refused' : isEmpty ? 'empty' : (sibling ?? '')
  const row = h(
    'button',
    { type: 'button', class: 'level', 'data-side': siblingSide },
    h('span', { class: 'node' }, `level ${level.level}`),
    h('span', { class: 'line', 'aria-hidden': 'true' }),
    h(
      'span',
      { class: 'sibling', 'data-empty': isEmpty, 'data-fault': isFault },
      hidden(`, sibling on the ${siblingSide}, `),
      h('code', {}, siblingText),
    ),
  )
  drawing.add(row, () => [
    h('strong', {}, `Level ${level.level}. `),
    `Node ${entry} makes the sibling on the ${siblingSide}: `,
    problem === null ? h('code', {}, sibling ?? '') : `it cannot be hashed, ${problem}`,
    isEmpty ? ' (a subtree without leaves).' : '.',
    ' The node on the path is ',
    running === null ? 'not known' : h('code', {}, running),
    '. The hash of both is the node one level up.',
  ])
  const tag = isFault && h('p', { class: 'fault-line' }, h('span', { class: 'fault-tag' }, `✗ ${path.fault?.code}`))
  return h('li', {}, row, tag)
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
    named('sub-root', statedSubRoot),
    from(`node 0; next free node ${nextFreeNode}`),
    differs && named('the levels lead to', computedSubRoot),
  )
}

function leafRow(path: PathView, drawing: Drawing): HTMLElement {
  const { leafIndex, bytes, valueHash, fault } = path
  const [leaf] = bytes
  if (leaf === undefined) return h('li', {})
  const parts = leaf.fields.map((field, index) => {
    const { name, start, end, isFault } = field
    const part = h('button', { type: 'button', class: 'segment', 'data-fault': isFault }, name)
    part.style.setProperty('--bytes', `${end - start}`)
    part.style.setProperty('--tone', `var(--tone-${index})`)
    return drawing.add(part, () => explanationOf(field))
  })
  return box(
    path,
    ['leaf', 'leaf index', 'value'],
    named(`leaf ${leafIndex},`, `${leaf.fields.at(-1)?.end ?? 0} bytes`),
    h('div', { class: 'bar' }, ...parts),
    leaf.problem === null ? null : from(leaf.problem),
    fault?.code === 'LEAF_KEY_MISMATCH' && named('the key hashes to', drawing.keyHash),
    fault?.code === 'VALUE_MISMATCH' && valueHash !== null && named('the value hashes to', valueHash),
  )
}
