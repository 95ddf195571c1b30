import type { ProofSummary } from './chain.ts'
import { chainView } from './chain-view.ts'
import type { Check, Status } from './checks.ts'
import { type Child, fold, h, rowList } from './dom.ts'
import type { Report } from './judge.ts'
import { PROOFS_PER_STEP } from './limits.ts'

/** What an attacker could do if a check were missing. The build inserts this from the catalogue. */
declare const CHECK_REASONS: Readonly<Record<string, string>>

const marks: Readonly<Record<Status, string>> = { passed: '✓', failed: '✗', 'not reached': '–' }

const statusChip = (status: Status, text: string = status): HTMLElement =>
  h('span', { class: 'chip', 'data-status': status }, h('span', { 'aria-hidden': 'true' }, `${marks[status]} `), text)

export const verdictText = ({ headline, text }: Pick<Report, 'headline' | 'text'>): HTMLElement[] => [
  h('p', { class: 'headline' }, headline),
  h('p', {}, text),
]

export function verdictDetails({ failure, notes, question }: Report): Child[] {
  const reason = failure && CHECK_REASONS[failure.code]
  const why = reason ? h('p', { class: 'reason' }, h('strong', {}, 'Without this check: '), reason) : null
  return [
    failure && h('div', {}, rowList(failure.rows), why),
    ...notes.map(note => h('p', { class: 'note' }, note)),
    fold(false, 'The inputs, and who stated them', rowList(question)),
  ]
}

export function reportView(report: Report, shown: number, onChoose: (index: number) => void): Child[] {
  const { chain, boxes, account, proofs, groups } = report
  return [
    h(
      'section',
      {},
      h('h2', {}, 'The chain of trust'),
      h('p', {}, 'Each box is proven by the one above it, from the trusted value down to the slots.'),
      chainView(boxes),
      chain.length > 0 && fold(false, 'Every value, and what proves it', rowList(chain)),
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
    more.textContent = `Show ${Math.min(PROOFS_PER_STEP, proofs.length - end)} more of ${proofs.length}`
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
  show(PROOFS_PER_STEP)
  const failing = proofs[shown]
  if (shown >= end && failing) list.append(proofRow(failing, shown))
  more.addEventListener('click', () => show(PROOFS_PER_STEP)?.querySelector('button')?.focus())
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
export function groupView({ title, checks }: Report['groups'][number], isOpened = true): HTMLElement {
  const failed = checks.some(({ status }) => status === 'failed')
  const passed = checks.every(({ status }) => status === 'passed')
  const status: Status = failed ? 'failed' : passed ? 'passed' : 'not reached'
  return fold(failed && isOpened, [h('span', {}, title), ' ', statusChip(status, tally(checks))], checkList(checks))
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
