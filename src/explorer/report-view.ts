import { chainView } from './chain-view.ts'
import { type Child, h } from './dom.ts'
import type { Check, CheckGroup, Failure, ProofSummary, Report, Row, Status } from './messages.ts'

/** What an attacker could do if a check were missing. The build inserts this from the catalogue. */
declare const CHECK_REASONS: Readonly<Record<string, string>>

const marks: Readonly<Record<Status, string>> = { passed: '✓', failed: '✗', 'not reached': '–' }

const statusChip = (status: Status, text: string = status): HTMLElement =>
  h('span', { class: 'chip', 'data-status': status }, h('span', { 'aria-hidden': 'true' }, `${marks[status]} `), text)

/** One row per line: a name, a value and its source. */
const rowList = (rows: readonly Row[]): HTMLElement =>
  h(
    'dl',
    { class: 'rows' },
    ...rows.map(([name, value, source]) =>
      h(
        'div',
        {},
        h('dt', {}, name),
        h('dd', {}, h('span', { class: 'value' }, value), source ? h('span', { class: 'from' }, ` ${source}`) : null),
      ),
    ),
  )

export function verdictText({ headline, text }: Report): Child[] {
  return [h('p', { class: 'headline' }, headline), h('p', {}, text)]
}

export function verdictDetails({ failure, notes, question }: Report): Child[] {
  return [
    failure && describeFailure(failure),
    ...notes.map(note => h('p', { class: 'note' }, note)),
    h('details', { class: 'group' }, h('summary', {}, 'The inputs, and who stated them'), rowList(question)),
  ]
}

function describeFailure({ code, path, expected, found }: Failure): HTMLElement {
  const rows = rowList([
    ...(path === '' ? [] : [['At', path] as const]),
    ...(expected === undefined ? [] : [['Expected', expected] as const]),
    ...(found === undefined ? [] : [['Found', found] as const]),
  ])
  const reason = CHECK_REASONS[code]
  return h(
    'div',
    {},
    rows,
    reason ? h('p', { class: 'reason' }, h('strong', {}, 'Without this check: '), reason) : null,
  )
}

/** Rows per page. A file may have thousands of slots. */
const PAGE = 20

export function reportView(report: Report, shown: number, onChoose: (index: number) => void): Child[] {
  const { chain, boxes, account, proofs, groups } = report
  return [
    h(
      'section',
      {},
      h('h2', {}, 'The chain of trust'),
      h('p', {}, 'Each box is proven by the one above it, from the trusted value down to the slots.'),
      chainView(boxes),
      chain.length > 0 &&
        h('details', { class: 'group' }, h('summary', {}, 'Every value, and what proves it'), rowList(chain)),
    ),
    account.length > 0 && h('section', {}, h('h2', {}, 'Account'), rowList(account)),
    h('section', {}, h('h2', {}, 'Proofs'), proofList(proofs, shown, onChoose)),
    h('section', {}, h('h2', {}, 'Checks of the file'), ...groups.map(group => groupView(group))),
  ]
}

function proofList(proofs: readonly ProofSummary[], shown: number, onChoose: (index: number) => void): HTMLElement {
  const list = h('ul', { class: 'proofs' })
  const more = h('button', { type: 'button', hidden: true })
  let end = 0
  const show = (count: number) => {
    const rows = proofs.slice(end, end + count).map((proof, index) => proofRow(proof, end + index))
    list.append(...rows)
    end += rows.length
    more.hidden = end >= proofs.length
    more.textContent = `Show ${Math.min(PAGE, proofs.length - end)} more of ${proofs.length}`
    return rows[0]
  }
  const proofRow = ({ name, key, status, outcome, value }: ProofSummary, index: number) => {
    const button = h(
      'button',
      { type: 'button', 'aria-current': index === shown ? 'true' : undefined },
      h('span', { class: 'name' }, name),
      statusChip(status),
      h('span', { class: 'key' }, key),
      h('span', { class: 'outcome' }, value === '' ? outcome : `${outcome}: `, describeValue(value)),
    )
    button.addEventListener('click', () => {
      for (const other of list.querySelectorAll('[aria-current]')) other.removeAttribute('aria-current')
      button.setAttribute('aria-current', 'true')
      onChoose(index)
    })
    return h('li', {}, button)
  }
  show(PAGE)
  const failing = proofs[shown]
  if (shown >= end && failing) list.append(proofRow(failing, shown))
  more.addEventListener('click', () => show(PAGE)?.querySelector('button')?.focus())
  return h('div', {}, h('p', {}, 'Choose one to see its path and checks below.'), list, more)
}

/** Shows the bytes, and the number that they encode if it is small enough to read. */
function describeValue(value: string): Child {
  if (value === '') return null
  const number = BigInt(value)
  const decimal = number < 2n ** 96n ? ` = ${number}` : ''
  return h('span', { class: 'value' }, `${value}${decimal}`)
}

/** Counts the checks by status. */
function tally(checks: readonly Check[]): string {
  const of = (status: Status) => checks.filter(check => check.status === status).length
  const counts = (['passed', 'failed', 'not reached'] as const).filter(status => of(status) > 0)
  return counts.map(status => `${of(status)} ${status}`).join(', ')
}

/** A list of checks, folded unless one failed. @param isOpened false to keep it folded, because a long list fills a phone */
export function groupView({ title, checks }: CheckGroup, isOpened = true): HTMLElement {
  const failed = checks.some(({ status }) => status === 'failed')
  const passed = checks.every(({ status }) => status === 'passed')
  const status: Status = failed ? 'failed' : passed ? 'passed' : 'not reached'
  return h(
    'details',
    { class: 'group', open: failed && isOpened },
    h('summary', {}, h('span', {}, title), ' ', statusChip(status, tally(checks))),
    checkList(checks),
  )
}

const checkList = (checks: readonly Check[]): HTMLElement =>
  h(
    'ol',
    { class: 'checks' },
    ...checks.map(({ title, codes, status }) =>
      h(
        'li',
        { 'data-status': status },
        h('span', { class: 'mark', 'aria-hidden': 'true' }, marks[status]),
        h('span', {}, title),
        h('span', { class: 'status' }, status),
        h('span', { class: 'codes' }, codes.join(' ')),
      ),
    ),
  )
