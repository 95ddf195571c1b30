import type { Status } from './checks.ts'
import { h, hidden } from './dom.ts'
import type { Gap } from './proof-view.ts'
import { abbreviate } from './statement.ts'

const verdictMarks: Readonly<Record<Status, string>> = { passed: '✓', failed: '✗', 'not reached': '(not checked)' }

/** A place on a line, in percent. */
const percent = (value: bigint, from: bigint, to: bigint): number =>
  Number(((value - from) * 10_000n) / (to - from)) / 100

/** The two neighbours and the key on a line, where they really lie: among all keys, and enlarged. */
export function neighboursView(gap: Gap): HTMLElement {
  const { left, right, keyHash, last, forth, back, between, isAfterLeft } = gap
  const points = [
    { name: 'left', at: BigInt(left.hKey) },
    { name: 'key', at: BigInt(keyHash) },
    { name: 'right', at: BigInt(right.hKey) },
  ]
  const values = points.map(({ at }) => at)
  const [lowest, highest] = [values.reduce(least), values.reduce(most)]
  // A forged key can lie beyond all keys.
  const end = most(BigInt(last), highest)
  const margin = (highest - lowest) / 8n + 1n
  const [from, to] = [lowest - margin, highest + margin]
  const sides = left.hKey < right.hKey ? { left: 'before', right: 'after' } : { left: 'after', right: 'before' }
  const line = (first: bigint, last: bigint, isEnlarged: boolean) =>
    h(
      'div',
      { class: 'number-line', 'data-enlarged': isEnlarged, 'aria-hidden': 'true' },
      ...points.map(({ name, at }) => {
        const label = isEnlarged
          ? h('span', { class: 'label', 'data-side': name === 'key' ? 'above' : sides[name as 'left' | 'right'] }, name)
          : null
        const mark = h(
          'span',
          { class: 'point', 'data-name': name, 'data-status': name === 'key' ? between.status : null },
          label,
        )
        mark.style.setProperty('--at', `${percent(at, first, last)}%`)
        return mark
      }),
    )
  const lens = h('div', { class: 'lens', 'aria-hidden': 'true' })
  lens.style.setProperty('--from', `${Math.max(0, percent(from, 0n, end))}%`)
  lens.style.setProperty('--to', `${Math.min(100, percent(to, 0n, end))}%`)
  const place = between.isSo
    ? 'its hash lies between theirs'
    : isAfterLeft
      ? 'its hash is not below the right one'
      : 'its hash is not above the left one'
  return h(
    'section',
    { class: 'neighbours' },
    h('h3', {}, 'The two neighbours'),
    h(
      'p',
      { class: 'ends', 'aria-hidden': 'true' },
      h('span', {}, 'HEAD, 0'),
      h('span', {}, 'all keys of the tree, by hash'),
      h('span', {}, end > BigInt(last) ? 'beyond TAIL' : 'TAIL'),
    ),
    line(0n, end, false),
    lens,
    line(from, to, true),
    h(
      'dl',
      { class: 'legend' },
      entry('left', left.name, left.hKey, `next is ${left.next}`, forth, 'the right one'),
      entry('key', 'requested key', keyHash, place, between, ''),
      entry('right', right.name, right.hKey, `prev is ${right.prev}`, back, 'the left one'),
    ),
  )
}

const least = (a: bigint, b: bigint) => (a < b ? a : b)
const most = (a: bigint, b: bigint) => (a > b ? a : b)

function entry(
  name: string,
  title: string,
  hash: string,
  says: string,
  { isSo, status }: Gap['forth'],
  other: string,
): HTMLElement {
  const target = other === '' ? '' : isSo ? `, ${other}` : ', another leaf'
  return h(
    'div',
    { 'data-name': name, 'data-status': status, 'data-elsewhere': other !== '' && !isSo },
    h('dt', {}, h('span', { class: 'dot', 'aria-hidden': 'true' }), name === 'key' ? title : `${name}: ${title}`),
    h('dd', {}, h('code', { title: hash }, abbreviate(hash)), hidden(` ${hash}`)),
    h('dd', { class: 'says' }, `${says}${target} ${verdictMarks[status]}`),
  )
}
