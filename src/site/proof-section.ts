import type { PathLevel } from '../cli/words/layout.ts'
import type { ByteField, Bytes } from './bytes.ts'
import type { Status } from './checks.ts'
import { button, type Child, h, hidden, rove, rowList } from './dom.ts'
import { digitsHint, digitsView } from './file-view.ts'
import { checksView } from './overview.ts'
import type { Place } from './part.ts'
import type { Gap, PathView, ProofView } from './proof-view.ts'
import { abbreviate } from './statement.ts'

/** One proof: neighbours, paths, bytes and checks. @param place where in the file it is; null if that is not known */
export function proofSection(
  proof: ProofView,
  place: Place | null,
  isJudged: boolean,
  onChoose: (index: number) => void,
  onFind: (place: Place) => void,
): Child[] {
  const { title, claims, key, keyHash, checks, gap, paths, fault } = proof
  const rows = Object.entries({ Key: key, 'Its hash': keyHash ?? '', Claims: claims })
  return [
    heading(proof, onChoose),
    isJudged ? null : h('p', { class: 'note' }, 'Unverified: this is what the file says.'),
    rowList(rows.filter(([, value]) => value !== '')),
    fault && h('p', { class: 'fault-note' }, h('strong', {}, fault.code), ` ${fault.text}`),
    gap && neighboursView(gap),
    paths.length === 0 && h('p', {}, 'This page draws no path of it.'),
    h('div', { class: 'paths' }, ...paths.map(path => pathView(path, keyHash))),
    paths.length > 0 && bytesSection(proof, place, onFind),
    checks.length > 0 && checksView(`Checks of ${title}, in order`, checks),
  ]
}

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

const verdictMarks: Readonly<Record<Status, string>> = { passed: '✓', failed: '✗', 'not reached': '(not checked)' }

/** The two neighbours and the key on a line, where they really lie: among all keys, and enlarged. */
function neighboursView({ points, last }: Gap): HTMLElement {
  const places = points.map(({ hash }) => BigInt(hash)).sort((one, other) => (one < other ? -1 : 1))
  const [lowest = 0n, , highest = 0n] = places
  // A forged key can lie beyond all keys.
  const isBeyond = highest > BigInt(last)
  const end = isBeyond ? highest : BigInt(last)
  const margin = (highest - lowest) / 8n + 1n
  const [from, to] = [lowest - margin, highest + margin]
  const line = (first: bigint, last: bigint, isEnlarged: boolean) =>
    h(
      'div',
      { class: 'number-line', 'data-enlarged': isEnlarged, 'aria-hidden': 'true' },
      ...points.map(({ name, hash, status }) => {
        const label = isEnlarged && h('span', { class: 'label' }, name)
        return placed(h('span', { class: 'point', 'data-name': name, 'data-status': status }, label), {
          '--at': percent(BigInt(hash), first, last),
        })
      }),
    )
  return h(
    'section',
    { class: 'neighbours' },
    h('h3', {}, 'The two neighbours'),
    h(
      'p',
      { class: 'ends', 'aria-hidden': 'true' },
      h('span', {}, 'HEAD, 0'),
      h('span', {}, 'all keys of the tree, by hash'),
      h('span', {}, isBeyond ? 'beyond TAIL' : 'TAIL'),
    ),
    line(0n, end, false),
    placed(h('div', { class: 'lens', 'aria-hidden': 'true' }), {
      '--from': percent(from, 0n, end),
      '--to': percent(to, 0n, end),
    }),
    line(from, to, true),
    h('dl', { class: 'legend' }, ...points.map(entry)),
  )
}

const percent = (value: bigint, from: bigint, to: bigint): number =>
  Number(((value - from) * 10_000n) / (to - from)) / 100

function placed(element: HTMLElement, places: Readonly<Record<string, number>>): HTMLElement {
  for (const [name, at] of Object.entries(places)) element.style.setProperty(name, `${Math.min(Math.max(at, 0), 100)}%`)
  return element
}

const entry = ({ name, title, hash, says, status }: Gap['points'][number]): HTMLElement =>
  h(
    'div',
    { 'data-name': name, 'data-status': status },
    h('dt', {}, h('span', { class: 'dot', 'aria-hidden': 'true' }), name === 'key' ? title : `${name}: ${title}`),
    h('dd', {}, h('code', { title: hash }, abbreviate(hash)), hidden(` ${hash}`)),
    h('dd', { class: 'says' }, `${says} ${verdictMarks[status]}`),
  )

/** At least this many levels with empty siblings are folded into one line. */
const MIN_FOLDED = 2

function pathView(path: PathView, keyHash: string | null): HTMLElement {
  const rows = path.levels.length > 0 ? levelRows(path) : [h('li', { class: 'note' }, UNREADABLE)]
  const top = path.statedSubRoot !== null && topRow(path)
  const spine = h('ol', { class: 'spine' }, rootRow(path), top, ...rows, leafRow(path, keyHash))
  return h('section', { class: 'path' }, h('h4', {}, path.title), spine)
}

const UNREADABLE = 'The nodes cannot be read as a path, so nothing is drawn.'

/** The levels, from the top. Those above the leaves of the tree, whose siblings are empty, are folded. */
function levelRows(path: PathView): HTMLElement[] {
  const { levels, fault } = path
  const rows = levels.map(level => levelRow(level, path))
  const first = levels.findIndex(({ isEmpty, level }) => !isEmpty || fault?.place === `level ${level}`)
  const count = first < 0 ? rows.length : first
  if (count < MIN_FOLDED) return rows
  const title = `Levels ${levels[0]?.level} to ${levels[count - 1]?.level}: ${count} siblings, all empty subtrees`
  const folded = h('details', {}, h('summary', {}, title), h('ol', { class: 'spine' }, ...rows.slice(0, count)))
  return [h('li', { class: 'fold' }, folded), ...rows.slice(count)]
}

function levelRow(level: PathLevel, { fault }: PathView): HTMLElement {
  const { siblingSide, sibling, isEmpty, running, problem, entry } = level
  const isFault = fault?.place === `level ${level.level}`
  const shown = problem !== null ? 'refused' : isEmpty ? 'empty' : sibling
  const summary = h(
    'summary',
    { class: 'level', 'data-side': siblingSide },
    h('span', { class: 'node' }, `level ${level.level}`),
    h('span', { class: 'line', 'aria-hidden': 'true' }),
    h(
      'span',
      { class: 'sibling', 'data-empty': isEmpty, 'data-fault': isFault },
      hidden(`, sibling on the ${siblingSide}, `),
      h('code', {}, shown),
    ),
  )
  const text = [
    `Node ${entry} makes the sibling: `,
    problem === null ? h('code', {}, sibling) : `it cannot be hashed, ${problem}`,
    '. The node on the path is ',
    running === null ? 'not known' : h('code', {}, running),
    '. The hash of both is the node one level up.',
  ]
  return h('li', {}, h('details', {}, summary, h('p', {}, ...text)), isFault && tag(fault.code))
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

const bytesTitles = { proof: 'The leaf and its value', leftProof: 'Left neighbour', rightProof: 'Right neighbour' }

function bytesSection({ paths, wordNote }: ProofView, place: Place | null, onFind: (place: Place) => void) {
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
    h('p', { class: 'hint' }, wordNote),
    h('div', { class: 'columns' }, ...columns),
  )
}

/** One part per line, and one tab stop: up and down lead from part to part, left and right from digit to digit. @param of a part of the proof */
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
  const title = h('strong', {}, name, value.length <= 24 && ` = ${value}`)
  const about = h('p', {}, title, ' ', h('span', { class: 'from' }, note))
  return { digits, row: h('li', { class: 'part', 'data-fault': isFault, 'data-tone': index }, about, digits) }
}
