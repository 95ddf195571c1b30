import type { Status } from './checks.ts'
import { h, hidden } from './dom.ts'
import type { Gap } from './proof-view.ts'
import { abbreviate } from './statement.ts'

const verdictMarks: Readonly<Record<Status, string>> = { passed: '✓', failed: '✗', 'not reached': '(not checked)' }

/** The two neighbours and the key on a line, where they really lie: among all keys, and enlarged. */
export function neighboursView({ points, last }: Gap): HTMLElement {
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

/** A place on a line, in percent. */
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
