import { printable } from '../../document/value.ts'
import { meaningOf } from '../../error-meanings.ts'
import { MAX_REJECTED } from '../limits.ts'
import type { Tally } from './audited.ts'
import type { RecordClaim } from './record-claim.ts'

/** The result of an audit. */
export type AuditSummary = ReturnType<typeof summarize>

export function summarize(tally: Tally) {
  const { lines, kinds } = tally
  const entries = Object.entries(kinds).sort(([, a], [, b]) => b - a)
  const sum = (start: string) =>
    entries.reduce((total, [kind, count]) => (kind.startsWith(start) ? total + count : total), 0)
  return {
    lines,
    present: sum('present'),
    absent: sum('absent'),
    refused: sum('refused '),
    unreadable: sum('unreadable: '),
    /** Most frequent first. `meaning` is empty unless the kind is a refusal. */
    kinds: entries.map(([kind, count]) => ({ kind, count, meaning: meaningOf(kind.replace(/^refused /, '')) })),
    /** What the verdicts rest on, in sentences. */
    notes: notesOf(tally),
  }
}

/** Notes on what nothing proves, because only the records or the answers state it. */
function notesOf({ rootsFromRecord: roots, addressesFromAnswer: addresses, keysFromAnswer: keys }: Tally): string[] {
  return [
    roots > 0 &&
      `${counted(roots, 'verdict rests on a state root that only the record names', 'verdicts rest on state roots that only the records name')}. Nothing proves these roots: state the one that you trust.`,
    addresses > 0 &&
      `${counted(addresses, 'answer was', 'answers were')} verified for the address that the answer itself names: compare it with the one that you asked for, or state it.`,
    keys > 0 &&
      `${counted(keys, 'answer was', 'answers were')} verified for the storage keys that the answer itself names: compare them with the ones that you asked for, or state them.`,
  ].filter(note => note !== false)
}

/** Identifies a report: it is near the beginning of every report, and in no other file. */
export const REPORT_MARK = '<meta name="generator" content="rollup-state-proof audit">'

/** What to report. */
export interface AuditReport {
  readonly inputs: readonly string[]
  /** What the user stated about all records. */
  readonly claim: RecordClaim
  readonly tally: Tally
  readonly jobs: number
  /** How many of the lines an earlier run judged. */
  readonly resumedAt: number
  /** How long this run took. */
  readonly seconds: number
  /** How many lines this run had judged after so many seconds. */
  readonly samples: readonly { readonly seconds: number; readonly lines: number }[]
  readonly version: string
  /** Why the audit ended before the end of its inputs; undefined if it did not. */
  readonly failure: string | undefined
}

const escapeHtml = (text: string): string =>
  text.replace(/[&<>"'\p{Cc}\p{Cf}]/gu, character => `&#${character.codePointAt(0)};`)

const number = (value: number): string => value.toLocaleString('en-US', { maximumFractionDigits: value < 10 ? 1 : 0 })

const counted = (count: number, one: string, many: string) => `${number(count)} ${count === 1 ? one : many}`

/** A self-contained page: it loads nothing and runs no script. */
export function formatAuditReport(report: AuditReport): string {
  const { inputs, claim, tally, seconds, version, resumedAt, jobs, failure } = report
  const summary = summarize(tally)
  const { lines, present, absent, refused, unreadable, kinds, notes } = summary
  const cards = Object.entries({ present, absent, refused, unreadable })
  const judged = lines - resumedAt
  const ofThisRun = resumedAt > 0 ? ', in this run' : ''
  const facts = [
    [inputs.length === 1 ? 'Input' : 'Inputs', inputs.map(printable).join(', ')],
    ...statedBy(claim),
    ['This run', `${number(judged)} lines in ${number(seconds)} s with ${counted(jobs, 'thread', 'threads')}`],
    ['Rate', `${number(judged / Math.max(seconds, 0.001))} lines per second`],
    ...(resumedAt > 0 ? [['Before', `an earlier run processed ${number(resumedAt)} lines`] as const] : []),
  ] as const
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="color-scheme" content="light dark">
${REPORT_MARK}
<title>Audit: ${number(lines)} lines</title>
<style>${STYLE}</style>
<main>
<h1>Audit of ${counted(lines, 'record', 'records')}</h1>
<p class="lead">${escapeHtml(conclusion(summary))}</p>
${failure === undefined ? '' : `<p class="failure">${escapeHtml(`Incomplete: ${failure}.`)}</p>\n`}<ul class="cards">${cards.map(([name, value]) => `<li class="${value > 0 ? toneOf(name) : 'none'}"><b>${number(value)}</b> ${name}</li>`).join('')}</ul>
${notes.length === 0 ? '' : `<h2>What the verdicts rest on</h2>\n<ul>${notes.map(note => `<li>${escapeHtml(note)}</li>`).join('')}</ul>`}
<dl>${facts.map(([name, value]) => `<dt>${name}</dt><dd>${escapeHtml(value)}</dd>`).join('')}</dl>
<h2>Verdicts</h2>
${verdictBars(kinds)}
<div class="pair">
<figure><figcaption>Lines per second over time${ofThisRun}</figcaption>${rateChart(report.samples)}</figure>
<figure><figcaption>Lines by length${ofThisRun}</figcaption>${lengthChart(tally.lengths)}</figure>
</div>
${rejectedList(tally.rejected, refused + unreadable)}
<footer>rollup-state-proof ${escapeHtml(version)}</footer>
</main>
</html>
`
}

/** What the user stated: whoever reads the page does not see the command line. */
function statedBy({ scheme, stateRoot, address, storageKeys, rollup, trusted }: RecordClaim): [string, string][] {
  const stated: Readonly<Record<string, string | undefined>> = {
    'Stated scheme': scheme,
    'Stated state root': stateRoot,
    'Stated address': address,
    'Stated storage keys': storageKeys === 'fromRecord' ? storageKeys : storageKeys.join(', '),
    'Stated rollup': rollup?.address,
    'Stated L1 block hash': trusted && 'l1BlockHash' in trusted ? trusted.l1BlockHash : undefined,
    'Stated L1 state root': trusted && 'l1StateRoot' in trusted ? trusted.l1StateRoot : undefined,
  }
  const rows = Object.entries(stated).flatMap(([name, value]): [string, string][] =>
    value && value !== 'fromRecord' ? [[name, value]] : [],
  )
  return rows.length > 0 ? rows : [['Stated', 'nothing: see what the verdicts rest on']]
}

function conclusion({ lines, refused, unreadable }: AuditSummary): string {
  if (lines === 0) return 'There were no records.'
  if (refused + unreadable === 0) return 'Every record verified.'
  const parts = [
    refused > 0 && `${counted(refused, 'record was', 'records were')} refused`,
    unreadable > 0 && `${counted(unreadable, 'line was', 'lines were')} unreadable`,
  ].filter(part => part !== false)
  return `${parts.join(', and ')}. ${refused + unreadable === lines ? 'None' : 'Everything else'} verified.`
}

const toneOf = (kind: string): string =>
  kind.startsWith('refused') ? 'bad' : kind.startsWith('unreadable') ? 'odd' : 'good'

/** A table, so that it can be read without the bars. */
function verdictBars(kinds: AuditSummary['kinds']): string {
  const most = kinds[0]?.count ?? 1
  const body = kinds.map(({ kind, count, meaning }) => {
    const width = Math.max((100 * count) / most, 0.5).toFixed(2)
    const note = meaning && `<small>${escapeHtml(meaning)}</small>`
    const bar = `<i class="${toneOf(kind)}" style="width:${width}%"></i>`
    return `<tr><th scope="row">${escapeHtml(kind)}${note}</th><td class="count">${number(count)}</td><td class="bar">${bar}</td></tr>`
  })
  const head = '<tr><th scope="col">verdict</th><th scope="col" class="count">lines</th><td></td></tr>'
  return `<table><thead>${head}</thead><tbody>${body.join('')}</tbody></table>`
}

const [WIDTH, HEIGHT, LEFT, BOTTOM] = [460, 190, 62, 24]

/** A label of the horizontal axis, and where it stands. */
type Mark = readonly [x: number, text: string, anchor: 'start' | 'middle' | 'end']

/** Draws the axes, and `content` between them. */
function chart(label: string, highest: number, marks: readonly Mark[], content: string): string {
  const rows = [0, 0.5, 1].map(share => {
    const y = scaleY(share, 1)
    return `<line x1="${LEFT}" x2="${WIDTH}" y1="${y}" y2="${y}"/><text x="${LEFT - 8}" y="${y + 4}" text-anchor="end">${number(share * highest)}</text>`
  })
  const columns = marks.map(([x, text, anchor]) => {
    return `<text x="${x.toFixed(1)}" y="${HEIGHT - 6}" text-anchor="${anchor}">${escapeHtml(text)}</text>`
  })
  return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escapeHtml(label)}"><g class="axes">${rows.join('')}${columns.join('')}</g>${content}</svg>`
}

const scaleY = (value: number, highest: number): number =>
  HEIGHT - BOTTOM - (value / Math.max(highest, 1)) * (HEIGHT - BOTTOM - 10)

/** Rounds up to a number that reads well on an axis, as does its half. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1)))
  return power * ([1, 2, 4, 5, 6, 8].find(factor => factor * power >= value) ?? 10)
}

function rateChart(samples: AuditReport['samples']): string {
  const rates = samples.slice(1).map(({ seconds, lines }, index) => {
    const before = samples[index] ?? { seconds: 0, lines: 0 }
    const elapsed = seconds - before.seconds
    return { seconds, rate: elapsed > 0 ? (lines - before.lines) / elapsed : 0 }
  })
  if (rates.length < 2) return '<p>The run was too short to say.</p>'
  const highest = roundUp(Math.max(...rates.map(({ rate }) => rate)))
  const last = rates.at(-1)?.seconds ?? 1
  const x = (seconds: number) => LEFT + (seconds / last) * (WIDTH - LEFT - 12)
  // A rate covers the time before its point, so the first one applies from the start.
  const points = [{ seconds: 0, rate: rates[0]?.rate ?? 0 }, ...rates].map(
    ({ seconds, rate }) => `${x(seconds).toFixed(1)} ${scaleY(rate, highest).toFixed(1)}`,
  )
  const [curve, base] = [points.join(' L'), HEIGHT - BOTTOM]
  const content = `<path class="area" d="M${x(0).toFixed(1)} ${base} L${curve} V${base} Z"/><path class="curve" d="M${curve}"/>`
  const marks: Mark[] = [
    [x(0), '0 s', 'start'],
    [x(last / 2), `${number(last / 2)} s`, 'middle'],
    [x(last), `${number(last)} s`, 'end'],
  ]
  return chart(`Between 0 and ${number(highest)} lines per second`, highest, marks, content)
}

function lengthChart(lengths: Tally['lengths']): string {
  const buckets = Object.entries(lengths).map(([digits, count]) => [Number(digits), count] as const)
  if (buckets.length === 0) return '<p>No line was judged.</p>'
  const [least, most] = [Math.min(...buckets.map(([digits]) => digits)), Math.max(...buckets.map(([digits]) => digits))]
  const highest = roundUp(Math.max(...buckets.map(([, count]) => count)))
  const width = (WIDTH - LEFT - 12) / (most - least + 1)
  const x = (digits: number) => LEFT + 4 + (digits - least) * width
  const bars = buckets.map(([digits, count]) => {
    const top = scaleY(count, highest)
    return `<rect x="${(x(digits) + 1).toFixed(1)}" y="${top.toFixed(1)}" width="${(width - 2).toFixed(1)}" height="${(HEIGHT - BOTTOM - top).toFixed(1)}"><title>${number(count)} lines from ${bytesOf(digits - 1)} up to ${bytesOf(digits)}</title></rect>`
  })
  const step = Math.ceil((most - least + 1) / 6)
  // The labels stand between the bars.
  const marks = Array.from({ length: most - least + 2 }, (_, index) => least + index)
    .filter(digits => (digits - least) % step === 0)
    .map((digits): Mark => [x(digits), bytesOf(digits - 1), 'middle'])
  return chart('How many lines have which length', highest, marks, `<g class="bars">${bars.join('')}</g>`)
}

/** 2^digits bytes, or 0 bytes if `digits` is negative. */
function bytesOf(digits: number): string {
  if (digits < 0) return '0 B'
  const [unit, rest] = digits >= 20 ? ['MiB', digits - 20] : digits >= 10 ? ['KiB', digits - 10] : ['B', digits]
  return `${2 ** rest} ${unit}`
}

function rejectedList(rejected: readonly string[], total: number): string {
  if (rejected.length === 0) return ''
  const items = rejected.map(text => {
    const { line, file, verdict, code, path, reason } = JSON.parse(text)
    const place = file === undefined ? `Line ${line}` : `${printable(String(file))}, line ${line}`
    if (verdict !== 'refused') return `<li>${escapeHtml(`${place}: ${reason}`)}</li>`
    const where = path === '' ? '' : `<p>At <code>${escapeHtml(path)}</code></p>`
    return `<li><details><summary>${escapeHtml(`${place}: ${code}`)}</summary><p>${escapeHtml(meaningOf(code))}</p>${where}</details></li>`
  })
  const more = `<p>The first ${number(MAX_REJECTED)} are listed here. The output has all ${number(total)}.</p>`
  return `<h2>Refused and unreadable lines</h2>${total > rejected.length ? more : ''}<ol class="rejected">${items.join('')}</ol>`
}

const STYLE = `
:root{color-scheme:light dark;--text:#1f2328;--soft:#59636e;--back:#fff;--card:#f6f8fa;--line:#d1d9e0;--good:#1a7f37;--bad:#cf222e;--odd:#9a6700;--ink:#1d6fd8}
@media(prefers-color-scheme:dark){:root{--text:#e6edf3;--soft:#9da7b3;--back:#0d1117;--card:#161b22;--line:#3d444d;--good:#3fb950;--bad:#f85149;--odd:#d29922;--ink:#5aa2f5}}
*{box-sizing:border-box}
body{margin:0;background:var(--back);color:var(--text);font:16px/1.5 system-ui,sans-serif}
main{max-width:1000px;margin:0 auto;padding:24px 16px 48px}
h1{font-size:28px;line-height:1.2;margin:8px 0}h2{font-size:19px;margin:32px 0 8px}
.lead{font-size:18px;color:var(--soft);margin:0 0 16px}
.failure{border-left:4px solid var(--bad);padding-left:12px}
.cards{list-style:none;display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px;padding:0;margin:0}
.cards li{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:12px 16px;color:var(--soft)}
.cards b{display:block;font-size:26px;line-height:1.2;color:var(--text);font-variant-numeric:tabular-nums}
.cards .good b{color:var(--good)}.cards .bad b{color:var(--bad)}.cards .odd b{color:var(--odd)}
dl{display:grid;grid-template-columns:max-content 1fr;gap:4px 16px;margin:24px 0 0}dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}
table{width:100%;border-collapse:collapse}th,td{text-align:left;padding:8px 12px 8px 0;border-bottom:1px solid var(--line);vertical-align:top}
th{font-weight:600;overflow-wrap:anywhere}th small{display:block;font-weight:400;color:var(--soft)}td{font-variant-numeric:tabular-nums;white-space:nowrap}.count{text-align:right}
thead th{font-weight:400;color:var(--soft)}.bar{width:34%;padding-right:0}.bar i{display:block;min-width:2px;height:12px;margin-top:6px;border-radius:3px}
i.good{background:var(--good)}i.bad{background:var(--bad)}i.odd{background:var(--odd)}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(300px,1fr));gap:24px;margin-top:32px}figure{margin:0}figcaption{font-weight:600;margin-bottom:8px}
svg{display:block;width:100%;height:auto}.axes line{stroke:var(--line)}.axes text{fill:var(--soft);font:12px system-ui,sans-serif}
.area{fill:var(--ink);opacity:.15}.curve{fill:none;stroke:var(--ink);stroke-width:2}.bars rect{fill:var(--ink)}
.rejected{padding-left:0;list-style:none}.rejected li{border-bottom:1px solid var(--line);padding:8px 0;overflow-wrap:anywhere}
summary{cursor:pointer}.rejected p{margin:4px 0 4px 16px;color:var(--soft)}code{font-size:14px}
@media(max-width:600px){.bar{width:14%}th{font-size:15px}}
footer{margin-top:40px;color:var(--soft);font-size:14px}
`
