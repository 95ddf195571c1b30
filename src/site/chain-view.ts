import type { ChainBox } from './chain.ts'
import type { Check, Status } from './checks.ts'
import { button, type Child, copyable, h, hidden, rowList } from './dom.ts'
import type { Report } from './report.ts'
import { abbreviate } from './statement.ts'

const marks: Readonly<Record<Status, string>> = { passed: '✓', failed: '✗', 'not reached': '–' }

const words: Readonly<Record<ChainBox['state'], string>> = {
  ...{ trusted: 'you trust it', assumed: 'not confirmed', passed: 'proven', failed: 'refused' },
  ...{ 'not reached': 'not checked' },
}

/** The link that is unfolded: a new verdict leaves it so. */
let unfolded = -1

/** The chain of trust: each link follows from the one before it. One at a time unfolds, with everything that it shows. */
export function chainView({ boxes, verdict }: Report, onProof: (index: number) => void): Child[] {
  // What follows from something that nobody has confirmed is not proven.
  const isAssumed = verdict === 'consistent' || boxes.some(({ state }) => state === 'assumed')
  const links = boxes.map(({ title, layer, state, value, note }, index) =>
    button(
      { class: 'link' },
      () => unfold(unfolded === index ? -1 : index),
      h('span', { class: 'layer' }, layer),
      h('span', { class: 'title' }, title),
      h('span', { class: 'brief' }, value.startsWith('0x') ? abbreviate(value) : value),
      h('span', { class: 'about' }, note),
      h('span', { class: 'word' }, state === 'passed' && isAssumed ? 'follows' : words[state]),
    ),
  )
  const unfold = (wanted: number) => {
    unfolded = wanted
    for (const [index, link] of links.entries()) link.setAttribute('aria-expanded', String(index === wanted))
  }
  unfold(unfolded)
  const items = boxes.map((box, index) =>
    h('li', { 'data-state': box.state }, links[index] ?? '', moreOf(box, onProof)),
  )
  return items.length === 0 ? [] : [h('ol', { class: 'chain', 'aria-label': 'The chain of trust' }, ...items)]
}

/** The value in full, the rows, and the checks that lead to it. */
function moreOf({ title, value, rows, checks, proof }: ChainBox, onProof: (index: number) => void): HTMLElement {
  return h(
    'section',
    { class: 'more' },
    h('h3', {}, title),
    value.startsWith('0x') && copyable(value, title),
    rows.length > 0 && rowList(rows, title),
    checks.length > 0 && checksView('Checks', checks, title),
    proof !== null &&
      h(
        'p',
        {},
        button({}, () => onProof(proof), 'Show its proof'),
      ),
  )
}

/** A list of checks. What passed is folded; what failed is not. */
export function checksView(title: string, checks: readonly Check[], of = ''): HTMLElement {
  const passed = checks.filter(({ status }) => status === 'passed')
  const name = h('span', {}, title, of !== '' && hidden(` of ${of}`))
  const summary = h('summary', {}, name, ' ', chip('passed', `${passed.length} passed`))
  return h(
    'div',
    {},
    passed.length > 0 && h('details', {}, summary, checkList(passed)),
    passed.length < checks.length && checkList(checks.filter(check => !passed.includes(check))),
  )
}

/** The row of a check in the documents. Browsers that do not know the fragment open the page. */
export const checkLink = (code: string): HTMLElement => h('a', { href: `../checks.md#:~:text=${code}` }, code)

const checkList = (checks: readonly Check[]): HTMLElement =>
  h(
    'ol',
    { class: 'checks' },
    ...checks.map(check =>
      h(
        'li',
        { 'data-status': check.status },
        h('span', { class: 'mark', 'aria-hidden': 'true' }, marks[check.status]),
        h('span', {}, check.status === 'passed' ? hidden('Ruled out: ') : null, check.title),
        h('span', { class: 'codes' }, checkLink(check.code), check.times > 1 && ` × ${check.times}`),
      ),
    ),
  )

export const chip = (status: Status, text: string = status): HTMLElement =>
  h('span', { class: 'chip', 'data-status': status }, h('span', { 'aria-hidden': 'true' }, `${marks[status]} `), text)
