import { brief, printable } from '../words/value.ts'
import type { Tally } from './audited.ts'
import { MAX_NAMED } from './limits.ts'
import type { RecordClaim } from './record.ts'
import { conclude, confirmRoots, counted, formatNumber, summarize } from './summary.ts'

/** Identifies a report: it is near the beginning of every report, and in no other file. */
export const REPORT_MARK = '<meta name="generator" content="rollup-state-proof audit">'

export interface AuditReport {
  readonly inputs: readonly string[]
  readonly claim: RecordClaim
  /** The network of the bundles; undefined if they cannot be verified. */
  readonly network: string | undefined
  readonly tally: Tally
  readonly jobs: number
  /** How many of the lines an earlier run judged. */
  readonly resumedAt: number
  readonly seconds: number
  readonly version: string
  readonly date: string
  /** SHA-256 of all lines, unpacked; empty if there was none. */
  readonly sha256: string
  /** Why the audit ended before the end of its inputs; undefined if it did not. */
  readonly failure: string | undefined
}

const escapeHtml = (text: string): string =>
  text.replace(/[&<>"'\p{Cc}\p{Cf}]/gu, character => `&#${character.codePointAt(0)};`)

const STYLE = `:root{color-scheme:light dark}body{font:15px/1.45 system-ui,sans-serif;max-width:1100px;margin:24px auto;padding:0 16px;overflow-wrap:anywhere}
table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:4px 12px 4px 0;border-top:1px solid GrayText}td:nth-child(2){text-align:right;white-space:nowrap}dd{margin:0 0 8px}`

/** A self-contained page: it loads nothing, and its policy allows no script. Its length does not depend on that of the inputs. */
export function formatAuditReport(report: AuditReport): string {
  const { tally, version, failure } = report
  const summary = summarize(tally)
  const { lines, notes, consistent, kinds } = summary
  const paragraphs = [
    ...(failure === undefined ? [] : [`Incomplete: ${failure}.`]),
    ...(consistent > 0 ? [confirmRoots(consistent)] : []),
    ...notes,
  ]
  const rows = kinds.map(({ kind, count, meaning }) => {
    const examples = (tally.examples[kind] ?? []).map(placeOf).join('<br>')
    const first = examples && `<br>First of them: ${examples}`
    return `<tr><th>${escapeHtml(brief(kind))}</th><td>${formatNumber(count)}</td><td>${escapeHtml(meaning)}${first}</td></tr>`
  })
  const facts = factsOf(report).map(([name, value]) => `<dt>${name}</dt><dd>${escapeHtml(value)}</dd>`)
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
${REPORT_MARK}
<title>Audit: ${formatNumber(lines)} lines</title>
<style>${STYLE}</style>
<main>
<h1>Audit of ${counted(lines, 'record', 'records')}</h1>
<p><b>${escapeHtml(conclude(summary).sentence)}</b></p>
${paragraphs.map(text => `<p>${escapeHtml(text)}</p>`).join('\n')}
<table>
<tr><th>Verdict</th><th>Lines</th><th>What it means</th></tr>
${rows.join('\n')}
</table>
<h2>This audit</h2>
<dl>${facts.join('\n')}</dl>
<p>rollup-state-proof ${escapeHtml(version)}</p>
</main>
</html>
`
}

/** Where a record is. What an earlier run found comes from a file. */
function placeOf({ line, file, path }: Tally['examples'][string][number]): string {
  const place = `${file === undefined ? '' : `${nameOf(String(file))}, `}line ${formatNumber(Number(line))}`
  return escapeHtml(path ? `${place}, ${nameOf(String(path))}` : place)
}

/** Of a file, or of a place in a record. The end of a long one says more than its beginning. */
const nameOf = (name: string): string => printable(name.length > LONGEST_NAME ? `…${name.slice(-LONGEST_NAME)}` : name)

const LONGEST_NAME = 100

const shortened = (items: readonly string[]): string =>
  items.length > MAX_NAMED
    ? `${items.slice(0, MAX_NAMED).join(', ')} and ${formatNumber(items.length - MAX_NAMED)} more`
    : items.join(', ')

function factsOf(report: AuditReport): readonly (readonly [string, string])[] {
  const { inputs, claim, network, tally, jobs, resumedAt, seconds, date, sha256 } = report
  const { stateRoot, address, storageKeys, anchor } = claim
  // Whoever reads the page does not see the command line.
  const stated = Object.entries({
    'state root': stateRoot,
    address,
    'storage keys': storageKeys && shortened(storageKeys),
    implementation: anchor?.rollup.implementation,
    'L1 block hash': anchor && 'l1BlockHash' in anchor.trusted ? anchor.trusted.l1BlockHash : undefined,
    'L1 state root': anchor && 'l1StateRoot' in anchor.trusted ? anchor.trusted.l1StateRoot : undefined,
  }).flatMap(([name, value]) => (value === undefined ? [] : [[`Stated ${name}`, value] as const]))
  const judged = tally.lines - resumedAt
  const rate = formatNumber(judged / Math.max(seconds, 0.001))
  return [
    [inputs.length === 1 ? 'Input' : 'Inputs', shortened(inputs.map(nameOf))],
    ...(sha256 === '' ? [] : [['SHA-256 of its lines', sha256] as const]),
    ['Date', date],
    ...(stated.length > 0 ? stated : [['Stated', 'nothing'] as const]),
    ...(network === undefined ? [] : [['Network of bundles', network] as const]),
    ['This run', `${formatNumber(judged)} lines with ${counted(jobs, 'thread', 'threads')}, ${rate} per second`],
    ...(resumedAt > 0 ? [['Before', `an earlier run processed ${formatNumber(resumedAt)} lines`] as const] : []),
  ]
}
