import { plural } from '../base/errors.ts'
import type { ChainBox, Change, Changes, ProofSummary } from './chain.ts'
import type { Check, Status } from './checks.ts'
import { button, type Child, copyable, growing, h, hidden, nodesOf, rowList } from './dom.ts'
import type { Report } from './report.ts'
import { abbreviate } from './statement.ts'

/** What an attacker could do if a check were missing. The build inserts this from the catalogue. */
declare const CHECK_REASONS: Readonly<Record<string, string>>

export function verdictText({ badge, headline, text }: Pick<Report, 'badge' | 'headline' | 'text'>): HTMLElement[] {
  return [h('p', { class: 'badge' }, badge), h('p', { class: 'headline' }, headline), h('p', { class: 'basis' }, text)]
}

export function overview(report: Report, onChoose: (index: number) => void): Child[] {
  const { failure, notes, facts, logs, proofs, changes } = report
  return [
    failure && failureView(failure),
    ...notes.map(note => h('p', { class: 'note' }, note)),
    facts.length > 0 && rowList(facts),
    logs && logs.count > 0 && logsView(logs),
    proofs.length > 0 && proofTable(proofs, onChoose),
    changes && changesView(changes),
  ]
}

function failureView({ code, rows, next }: NonNullable<Report['failure']>): HTMLElement {
  const reason = CHECK_REASONS[code]
  return h(
    'section',
    { class: 'failure' },
    ...(rows.length > 0 ? [h('h3', {}, 'Where it failed'), rowList(rows)] : []),
    reason ? h('p', {}, h('strong', {}, 'Without this check: '), reason, ' ', checkLink(code)) : null,
    h('p', {}, h('strong', {}, 'What to do: '), next ?? ''),
  )
}

function logsView({ count: total, listed }: NonNullable<Report['logs']>): HTMLElement {
  const title = listed.length < total ? `Logs: the first ${listed.length} of ${total}` : 'Logs'
  const logRow = ({ title, rows }: (typeof listed)[number]) => h('li', {}, h('h4', {}, title), rowList(rows, title))
  return h('section', {}, h('h3', {}, title), ...nodesOf(growing(h('ol', { class: 'logs' }), listed, logRow)))
}

function proofTable(proofs: readonly ProofSummary[], onChoose: (index: number) => void): HTMLElement {
  const proofRow = ({ name, key, status, outcome, value }: ProofSummary, index: number) => {
    const words = { 'aria-label': `Show the proof of the ${name.toLowerCase()}` }
    const number = readable(value)
    const found = number === value ? copyable(value, `the value of ${name.toLowerCase()}`) : number
    return h(
      'li',
      { 'data-status': status },
      button(words, () => onChoose(index), h('span', { class: 'name' }, name)),
      key === '' ? h('span', {}) : copyable(key, index === 0 ? 'the address' : `the key of slot ${index}`),
      h('span', { class: 'outcome' }, value === '' ? outcome : found),
      chip(status),
    )
  }
  const failing = proofs.findIndex(({ status }) => status === 'failed')
  const list = growing(h('ol', { class: 'proofs' }), proofs, proofRow, failing)
  return h('section', {}, h('h3', {}, 'Proofs'), ...nodesOf(list))
}

function changesView({ rows, count: total, blocks, accounts, slotChanges }: Changes): HTMLElement {
  const changed = `${plural(total, 'change')} of ${plural(accounts, 'account')}, ${slotChanges} of them in slots,`
  const headings = ['Block', 'Account', 'What', 'Before', 'After'].map(name => h('th', { scope: 'col' }, name))
  const [body, more] = growing(h('tbody', {}), rows, (row, index) => changeRow(row, rows[index - 1]))
  const hint = `The first ${rows.length} of ${total} changes: the command diff lists all.`
  return h(
    'section',
    { class: 'changes' },
    h('p', {}, `${changed} in ${plural(blocks, 'block')}.`),
    rows.length < total && h('p', { class: 'hint' }, hint),
    h('table', {}, h('thead', {}, h('tr', {}, ...headings)), body),
    more,
  )
}

/** What the row above says, too, is not repeated. */
function changeRow({ block, address, event, what, before, after }: Change, above: Change | undefined): HTMLElement {
  const isSame = above?.block === block && above.address === address && above.event === event
  const account = [h('code', {}, address), ' ', h('span', { class: 'chip' }, event)]
  const value = (text: string) =>
    text === '' ? h('span', { class: 'from' }, 'nothing') : h('code', {}, readable(text))
  const cells: Record<string, Child[]> = {
    Block: [isSame ? hidden(`${block}`) : `${block}`],
    Account: isSame ? [hidden(address)] : [h('span', {}, ...account)],
    What: what.startsWith('0x') ? [h('span', {}, 'slot ', h('code', {}, readable(what)))] : [what],
    Before: [value(before)],
    After: [value(after)],
  }
  const all = Object.entries(cells).map(([name, content]) => h('td', { 'data-name': name }, ...content))
  return h('tr', { 'data-event': event, 'data-same': isSame }, ...all)
}

/** The number that 32 bytes encode, if it is small enough to read. */
const readable = (text: string): string => (/^0x0{40}[0-9a-f]{24}$/.test(text) ? `${BigInt(text)}` : text)

const marks: Readonly<Record<Status, string>> = { passed: '✓', failed: '✗', 'not reached': '–' }

const words: Readonly<Record<ChainBox['state'], string>> = {
  trusted: 'you trust it',
  assumed: 'not confirmed',
  passed: 'proven',
  failed: 'refused',
  'not reached': 'not checked',
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

function moreOf({ title, value, rows, checks, proof }: ChainBox, onProof: (index: number) => void): HTMLElement {
  const link = proof !== null && button({}, () => onProof(proof), 'Show its proof')
  return h(
    'section',
    { class: 'more' },
    h('h3', {}, title),
    value.startsWith('0x') && copyable(value, title),
    rows.length > 0 && rowList(rows, title),
    checks.length > 0 && checksView('Checks', checks, title),
    link && h('p', {}, link),
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
const checkLink = (code: string): HTMLElement => h('a', { href: `../checks.md#:~:text=${code}` }, code)

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

const chip = (status: Status, text: string = status): HTMLElement =>
  h('span', { class: 'chip', 'data-status': status }, h('span', { 'aria-hidden': 'true' }, `${marks[status]} `), text)
