import { count } from '../cli/words/wording.ts'
import type { ProofSummary } from './chain.ts'
import { checkLink, chip } from './chain-view.ts'
import type { Change, Changes } from './changes.ts'
import { button, type Child, copyable, growing, h, hidden, nodesOf, rowList } from './dom.ts'
import type { Report } from './report.ts'

/** What an attacker could do if a check were missing. The build inserts this from the catalogue. */
declare const CHECK_REASONS: Readonly<Record<string, string>>

export function verdictText({ badge, headline, text }: Pick<Report, 'badge' | 'headline' | 'text'>): HTMLElement[] {
  return [h('p', { class: 'badge' }, badge), h('p', { class: 'headline' }, headline), h('p', { class: 'basis' }, text)]
}

/** What is proven, or why not. */
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
    rows.length > 0 && h('h3', {}, 'Where it failed'),
    rows.length > 0 && rowList(rows),
    reason ? h('p', {}, h('strong', {}, 'Without this check: '), reason, ' ', checkLink(code)) : null,
    h('p', {}, h('strong', {}, 'What to do: '), next ?? ''),
  )
}

/** What each log holds, oldest first. */
function logsView({ count: total, listed }: NonNullable<Report['logs']>): HTMLElement {
  const title = listed.length < total ? `Logs: the first ${listed.length} of ${total}` : 'Logs'
  const logRow = ({ title, rows }: (typeof listed)[number]) => h('li', {}, h('h4', {}, title), rowList(rows, title))
  return h('section', {}, h('h3', {}, title), ...nodesOf(growing(h('ol', { class: 'logs' }), listed, logRow)))
}

/** The account and its slots. Each leads to its proof. */
function proofTable(proofs: readonly ProofSummary[], onChoose: (index: number) => void): HTMLElement {
  const proofRow = ({ name, key, status, outcome, value }: ProofSummary, index: number) => {
    const words = { 'aria-label': `Show the proof of the ${name.toLowerCase()}` }
    const shown = readable(value)
    return h(
      'li',
      { 'data-status': status },
      button(words, () => onChoose(index), h('span', { class: 'name' }, name)),
      key === '' ? h('span', {}) : copyable(key, index === 0 ? 'the address' : `the key of slot ${index}`),
      h(
        'span',
        { class: 'outcome' },
        value === '' ? outcome : shown === value ? copyable(value, `the value of ${name.toLowerCase()}`) : shown,
      ),
      chip(status),
    )
  }
  const failing = proofs.findIndex(({ status }) => status === 'failed')
  const list = growing(h('ol', { class: 'proofs' }), proofs, proofRow, failing)
  return h('section', {}, h('h3', {}, 'Proofs'), ...nodesOf(list))
}

function changesView({ rows, count: total, blocks, accounts, slotChanges }: Changes): HTMLElement {
  const changed = `${count(total, 'change')} of ${count(accounts, 'account')}, ${slotChanges} of them in slots,`
  const headings = ['Block', 'Account', 'What', 'Before', 'After'].map(name => h('th', { scope: 'col' }, name))
  const [body, more] = growing(h('tbody', {}), rows, (row, index) => changeRow(row, rows[index - 1]))
  const hint = `The first ${rows.length} of ${total} changes: the command diff lists all.`
  return h(
    'section',
    { class: 'changes' },
    h('p', {}, `${changed} in ${count(blocks, 'block')}.`),
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
