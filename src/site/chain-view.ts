import type { ChainBox } from './chain.ts'
import type { Check, Status } from './checks.ts'
import { button, type Child, copyable, fold, h, hidden, rowList } from './dom.ts'
import type { Report } from './report.ts'
import { abbreviate } from './statement.ts'

const marks: Readonly<Record<Status, string>> = { passed: '✓', failed: '✗', 'not reached': '–' }

const words: Readonly<Record<ChainBox['state'], string>> = {
  ...{ trusted: 'you trust it', assumed: 'not confirmed', passed: 'proven', failed: 'refused' },
  ...{ 'not reached': 'not checked', 'left out': 'left out' },
}

/** What follows from something that nobody has confirmed is not proven. */
const wordOf = ({ state }: ChainBox, { verdict, boxes }: Report): string =>
  state === 'passed' && (verdict === 'consistent' || boxes.some(box => box.state === 'assumed'))
    ? 'follows'
    : words[state]

/** The chain of trust as a picture: each link follows from the one before it. */
export function picture(report: Report, onChoose: (box: ChainBox, index: number) => void): HTMLElement {
  const links = report.boxes.map((box, index) => {
    const { title, layer, state, value, note } = box
    const content = [
      h('span', { class: 'layer' }, layer),
      h('span', { class: 'title' }, title),
      h('span', { class: 'brief' }, value.startsWith('0x') ? abbreviate(value) : value),
      h('span', { class: 'about' }, note),
      h('span', { class: 'word' }, wordOf(box, report)),
    ]
    const link = button({ class: 'link' }, () => onChoose(box, index), ...content)
    return h('li', { 'data-state': state, 'data-layer': layer }, link)
  })
  return h('ol', { class: 'picture', 'aria-label': 'The chain of trust' }, ...links)
}

/** The same links with everything that they show, and the checks between them. */
export function chainView(report: Report): Child[] {
  const { boxes } = report
  if (boxes.length === 0) return []
  const rows = boxes
    .filter(({ state }) => state !== 'left out')
    .map((box, index) => {
      const { title, layer, state, value, note, rows: more, checks } = box
      return h(
        'li',
        { 'data-state': state, tabindex: '-1', id: `link-${index}` },
        h('h3', {}, title, ' ', h('span', { class: 'from' }, `${layer}${note === '' ? '' : `, ${note}`}`)),
        h('span', { class: 'word' }, wordOf(box, report)),
        value === '' ? null : value.startsWith('0x') ? copyable(value, title) : h('span', { class: 'value' }, value),
        more.length > 0 && rowList(more, title),
        checks.length > 0 && checksView('Checks', checks, title),
      )
    })
  return [h('ol', { class: 'links' }, ...rows)]
}

/** A list of checks. What passed is folded, and so is what was not reached; what failed is in between. */
export function checksView(title: string, checks: readonly Check[], of = ''): HTMLElement {
  const parts = (['passed', 'failed', 'not reached'] as const).flatMap(status => {
    const own = checks.filter(check => check.status === status)
    if (own.length === 0) return []
    const list = checkList(own)
    return [
      status === 'failed'
        ? list
        : fold(
            false,
            [h('span', {}, title, of !== '' && hidden(` of ${of}`)), ' ', chip(status, `${own.length} ${status}`)],
            list,
          ),
    ]
  })
  return h('div', {}, ...parts)
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
