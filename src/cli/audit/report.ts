import { createHash } from 'node:crypto'
import { meaningOf } from '../../base/error-meanings.ts'
import { brief, printable } from '../words/value.ts'
import { listed, type Word } from '../words/verdict.ts'
import type { Tally } from './audited.ts'
import { MAX_NAMED } from './limits.ts'
import type { RecordClaim } from './record-claim.ts'

/** The result of an audit. */
export type AuditSummary = ReturnType<typeof summarize>

export function summarize(tally: Tally) {
  const { lines, kinds, consistent } = tally
  const entries = Object.entries(kinds).sort(([, a], [, b]) => b - a)
  const sum = (start: string) =>
    entries.reduce((total, [kind, count]) => (kind.startsWith(start) ? total + count : total), 0)
  return {
    lines,
    present: sum('present'),
    absent: sum('absent'),
    /** Of those present and absent: how many rest on your word, and how many on that of the records alone. */
    ...{ verified: sum('present') + sum('absent') - consistent, consistent },
    refused: sum('refused '),
    unreadable: sum('unreadable: '),
    /** Most frequent first. `meaning` is empty unless the kind is a refusal. */
    kinds: entries.map(([kind, count]) => ({ kind, count, meaning: meaningOf(kind.replace(/^refused /, '')) })),
    /** What the verdicts rest on, in sentences. */
    notes: notesOf(tally),
  }
}

/** Notes on what nothing proves, because only the records or the answers state it. */
function notesOf({ addressesFromAnswer: addresses, keysFromAnswer: keys }: Tally): string[] {
  return [
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
  /** When it ended. */
  readonly date: string
  /** SHA-256 of all lines, unpacked; empty if there was none. */
  readonly sha256: string
  /** Why the audit ended before the end of its inputs; undefined if it did not. */
  readonly failure: string | undefined
}

const escapeHtml = (text: string): string =>
  text.replace(/[&<>"'\p{Cc}\p{Cf}]/gu, character => `&#${character.codePointAt(0)};`)

const number = (value: number): string => value.toLocaleString('en-US', { maximumFractionDigits: value < 10 ? 1 : 0 })

const counted = (count: number, one: string, many: string) => `${number(count)} ${count === 1 ? one : many}`

/** A self-contained page: it loads nothing, and its policy allows no script but its own filter. Its length does not depend on that of the inputs. */
export function formatAuditReport(report: AuditReport): string {
  const { tally, version, failure } = report
  const summary = summarize(tally)
  const { lines, notes, consistent } = summary
  const policy = `default-src 'none'; style-src 'unsafe-inline'; script-src '${digestOf(FILTER)}'; base-uri 'none'; form-action 'none'`
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="color-scheme" content="light dark">
${REPORT_MARK}
<title>Audit: ${number(lines)} lines</title>
<style>${STYLE}</style>
<main>
<h1>Audit of ${counted(lines, 'record', 'records')}</h1>
<p class="lead">${escapeHtml(conclude(summary).sentence)}</p>
${failure === undefined ? '' : `<p class="note bad">${escapeHtml(`Incomplete: ${failure}.`)}</p>`}
${[...(consistent > 0 ? [CONFIRM_ROOTS] : []), ...notes].map(note => `<p class="note odd">${escapeHtml(note)}</p>`).join('\n')}
${shares(summary)}
<div class="columns">
<div>
${groupsOf(summary, tally.examples)}
</div>
<aside><h2>This audit</h2>
<dl>${factsOf(report)
    .map(([name, value]) => `<dt>${name}</dt><dd>${escapeHtml(value)}</dd>`)
    .join('')}</dl>
${rateChart(report)}</aside>
</div>
<footer>rollup-state-proof ${escapeHtml(version)}</footer>
</main>
<script>${FILTER}</script>
</html>
`
}

/** What an audit amounts to: the worst word of its records, and a sentence. */
export function conclude(summary: Pick<AuditSummary, 'lines' | 'refused' | 'unreadable' | 'verified' | 'consistent'>) {
  const { lines, refused, unreadable, verified, consistent } = summary
  const parts = [
    [refused, 'refused'],
    [unreadable, 'unreadable'],
    [verified, 'verified'],
    [consistent, 'consistent only, because nobody has confirmed the state root'],
  ].filter(([count = 0]) => Number(count) > 0)
  const word: Word = refused + unreadable > 0 ? 'refused' : consistent > 0 ? 'consistent' : 'verified'
  const [[, only] = []] = parts
  const all = lines === 1 ? 'The record is' : `All ${number(lines)} records are`
  const some = parts.map(([count, words]) => `${counted(Number(count), 'is', 'are')} ${words}`)
  const sentence = parts.length === 1 ? `${all} ${only}.` : `Of ${number(lines)} records, ${listed(some)}.`
  return { word, sentence: lines === 0 ? 'There were no records.' : sentence }
}

/** What to do about records that are consistent only. */
export const CONFIRM_ROOTS = 'To confirm them, look up the state root on L1, and state it with --state-root 0x...'

/** What the counts count: their tones, signs and meanings. */
const COUNTS = {
  present: ['good', '✓', 'The account exists, with these values.'],
  absent: ['none', '✓', 'There is no such account.'],
  refused: ['bad', '✗', 'It does not prove what was asked.'],
  unreadable: ['odd', '?', 'The line is not a record to verify.'],
} as const
type Count = keyof typeof COUNTS

/** The four counts, and a bar of their shares. */
function shares(summary: AuditSummary): string {
  const entries = Object.entries(COUNTS) as [Count, (typeof COUNTS)[Count]][]
  // Green is for what rests on the user's word alone.
  const isAssumed = (name: Count) => summary.consistent > 0 && (name === 'present' || name === 'absent')
  const bar = entries.map(([name, [ownTone]]) => {
    const tone = isAssumed(name) ? 'odd' : ownTone
    return summary[name] > 0 ? `<i class="${tone}" style="flex:${summary[name]}"></i>` : ''
  })
  const cards = entries.map(([name, [ownTone, ownSign, meaning]]) => {
    const count = summary[name]
    const [tone, sign] = isAssumed(name) ? (['odd', '~'] as const) : [ownTone, ownSign]
    const share = count > 0 ? ` <span>${percent(count / summary.lines)}</span>` : ''
    return `<li class="${count > 0 ? tone : 'empty'}"><h2><span aria-hidden="true">${sign}</span> ${name}</h2><b>${number(count)}</b>${share}<p>${meaning}</p></li>`
  })
  return `<div class="bar" aria-hidden="true">${bar.join('')}</div>\n<ul class="cards">${cards.join('')}</ul>`
}

const percent = (share: number): string =>
  share < 0.001 ? 'below 0.1 %' : share > 0.999 && share < 1 ? 'above 99.9 %' : `${(100 * share).toFixed(1)} %`

type Kinds = AuditSummary['kinds']

/** Lines that did not verify, by reason. */
function groupsOf({ kinds, refused, unreadable }: AuditSummary, examples: Tally['examples']): string {
  const ofVerdict = (start: string) => kinds.filter(({ kind }) => kind.startsWith(start))
  const sections = [
    section('Refused', refused, ofVerdict('refused '), examples),
    section('Unreadable', unreadable, ofVerdict('unreadable: '), examples),
  ].join('\n')
  if (refused + unreadable === 0) return '<h2>Refused or unreadable</h2>\n<p>No line.</p>'
  return `<p class="filter" hidden><input type="search" placeholder="Filter by code, reason, file or path" aria-label="Filter by code, reason, file or path"> <output></output></p>
${sections}`
}

function section(title: string, count: number, kinds: Kinds, examples: Tally['examples']): string {
  if (count === 0) return ''
  const most = kinds[0]?.count ?? 1
  // A single bar would say nothing.
  const barOf = (kind: Kinds[number]) =>
    kinds.length === 1 ? '' : `<i style="width:${((100 * kind.count) / most).toFixed(1)}%"></i>`
  const groups = kinds.map(kind => group(kind, barOf(kind), examples[kind.kind] ?? []))
  const rarer = kinds.slice(MAX_NAMED)
  const lines = rarer.reduce((sum, kind) => sum + kind.count, 0)
  const rest =
    rarer.length === 0
      ? ''
      : `<details class="rest"><summary>${counted(rarer.length, 'rarer reason', 'rarer reasons')}, ${counted(lines, 'line', 'lines')}</summary>${groups.slice(MAX_NAMED).join('')}</details>`
  return `<section><h2>${title} <span>${counted(count, 'line', 'lines')}, ${counted(kinds.length, 'reason', 'reasons')}</span></h2>
${groups.slice(0, MAX_NAMED).join('\n')}
${rest}</section>`
}

function group({ kind, count, meaning }: Kinds[number], bar: string, examples: readonly string[]): string {
  const isRefusal = kind.startsWith('refused ')
  const name = kind.replace(/^refused |^unreadable: /, '')
  // The reason without what differs from line to line.
  const sought = isRefusal ? `"code":"${name}"` : `"reason":"${name.replace(/\[.*/, '')}`
  const all = `The first ${examples.length} of ${number(count)}. The verdicts list all of them: search for ${sought}`
  const more = count > examples.length ? `<p>${escapeHtml(brief(all))}</p>` : ''
  const told = meaning && ` <span>${escapeHtml(meaning)}</span>`
  const summary = `<span class="name"><b>${escapeHtml(brief(name))}</b>${told}</span><span class="count">${number(count)}</span>${bar}`
  return `<details class="group ${isRefusal ? 'bad' : 'odd'}"><summary>${summary}</summary><ul>${examples.map(example).join('')}</ul>${more}</details>`
}

/** @param text a verdict, as a line of the output */
function example(text: string): string {
  const { line, file, path = '' } = JSON.parse(text)
  const place = `${file === undefined ? '' : `${nameOf(String(file))}, `}line ${number(line)}`
  return `<li>${escapeHtml(place)}${path === '' ? '' : ` <code>${escapeHtml(nameOf(String(path)))}</code>`}</li>`
}

/** Of a file, or of a place in a record. The end of a long one says more than its beginning. */
const nameOf = (name: string): string => printable(name.length > LONGEST_NAME ? `…${name.slice(-LONGEST_NAME)}` : name)

const LONGEST_NAME = 100

const shortened = (items: readonly string[]): string =>
  items.length > MAX_NAMED
    ? `${items.slice(0, MAX_NAMED).join(', ')} and ${number(items.length - MAX_NAMED)} more`
    : items.join(', ')

function factsOf({
  inputs,
  claim,
  tally,
  jobs,
  resumedAt,
  seconds,
  date,
  sha256,
}: AuditReport): readonly (readonly [string, string])[] {
  const judged = tally.lines - resumedAt
  return [
    [inputs.length === 1 ? 'Input' : 'Inputs', shortened(inputs.map(nameOf))],
    ...(sha256 === '' ? [] : [['SHA-256 of its lines', sha256] as const]),
    ['Date', date],
    ...statedBy(claim),
    ['This run', `${number(judged)} lines in ${number(seconds)} s with ${counted(jobs, 'thread', 'threads')}`],
    ['Rate', `${number(judged / Math.max(seconds, 0.001))} lines per second`],
    ...(resumedAt > 0 ? [['Before', `an earlier run processed ${number(resumedAt)} lines`] as const] : []),
  ]
}

/** What the user stated: whoever reads the page does not see the command line. */
function statedBy({ scheme, stateRoot, address, storageKeys, rollup, trusted }: RecordClaim): [string, string][] {
  const stated: Readonly<Record<string, string | undefined>> = {
    'Stated scheme': scheme,
    'Stated state root': stateRoot,
    'Stated address': address,
    'Stated storage keys': storageKeys === 'fromRecord' ? storageKeys : shortened(storageKeys),
    'Stated rollup': rollup?.address,
    'Stated implementation': rollup?.implementation,
    'Stated L1 block hash': trusted && 'l1BlockHash' in trusted ? trusted.l1BlockHash : undefined,
    'Stated L1 state root': trusted && 'l1StateRoot' in trusted ? trusted.l1StateRoot : undefined,
  }
  const rows = Object.entries(stated).flatMap(([name, value]): [string, string][] =>
    value && value !== 'fromRecord' ? [[name, value]] : [],
  )
  return rows.length > 0 ? rows : [['Stated', 'nothing']]
}

const [WIDTH, HEIGHT, LEFT, BOTTOM] = [340, 150, 56, 24]

/** Fewer rates, or ones that differ less, say no more than their mean. */
const [LEAST_RATES, LEAST_RATIO] = [10, 2]

/** The lines per second over time, if the run was long enough and the rate changed. */
function rateChart({ samples, resumedAt }: AuditReport): string {
  const rates = samples.slice(1).map(({ seconds, lines }, index) => {
    const before = samples[index] ?? { seconds: 0, lines: 0 }
    const elapsed = seconds - before.seconds
    return { seconds, rate: elapsed > 0 ? (lines - before.lines) / elapsed : 0 }
  })
  // The last sample may cover any time.
  const whole = rates.slice(0, -1).map(({ rate }) => rate)
  if (whole.length < LEAST_RATES || Math.max(...whole) < LEAST_RATIO * Math.min(...whole)) return ''
  const highest = roundUp(Math.max(...rates.map(({ rate }) => rate)))
  const last = rates.at(-1)?.seconds ?? 1
  const x = (seconds: number) => LEFT + (seconds / last) * (WIDTH - LEFT - 12)
  const y = (rate: number) => HEIGHT - BOTTOM - (rate / highest) * (HEIGHT - BOTTOM - 10)
  // A rate covers the time before its point, so the first one applies from the start.
  const points = [{ seconds: 0, rate: rates[0]?.rate ?? 0 }, ...rates].map(
    ({ seconds, rate }) => `${x(seconds).toFixed(1)} ${y(rate).toFixed(1)}`,
  )
  const rows = [0, 0.5, 1].map(share => {
    const height = y(share * highest)
    return `<line x1="${LEFT}" x2="${WIDTH}" y1="${height}" y2="${height}"/><text x="${LEFT - 8}" y="${height + 4}" text-anchor="end">${number(share * highest)}</text>`
  })
  const ends = ['start', 'middle', 'end'].map((anchor, index) => {
    const seconds = (last * index) / 2
    return `<text x="${x(seconds).toFixed(1)}" y="${HEIGHT - 6}" text-anchor="${anchor}">${number(seconds)} s</text>`
  })
  const [curve, base] = [points.join(' L'), HEIGHT - BOTTOM]
  const label = `Between ${number(Math.min(...whole))} and ${number(Math.max(...whole))} lines per second`
  return `<figure><figcaption>Lines per second over time${resumedAt > 0 ? ', in this run' : ''}</figcaption><svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${label}"><g class="axes">${rows.join('')}${ends.join('')}</g><path class="area" d="M${x(0).toFixed(1)} ${base} L${curve} V${base} Z"/><path class="curve" d="M${curve}"/></svg></figure>`
}

/** Rounds up to a number that reads well on an axis, as does its half. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1)))
  return power * ([1, 2, 4, 5, 6, 8].find(factor => factor * power >= value) ?? 10)
}

const digestOf = (script: string): string => `sha256-${createHash('sha256').update(script).digest('base64')}`

/** Hides the groups without the words of the filter, and opens those that have them only among their examples. */
const FILTER = `
const [label, field, output] = ['.filter', '.filter input', '.filter output'].map(name => document.querySelector(name))
const groups = [...document.querySelectorAll('.group')]
const has = (element, words) => words.every(word => element.textContent.toLowerCase().includes(word))
if (label) label.hidden = false
field?.addEventListener('input', () => {
  const words = field.value.toLowerCase().split(/\\s+/).filter(word => word)
  for (const group of groups) {
    group.hidden = !has(group, words)
    group.open = !group.hidden && !has(group.querySelector('summary'), words)
  }
  for (const outer of document.querySelectorAll('.rest, section')) {
    const shown = [...outer.querySelectorAll('.group')].some(group => !group.hidden)
    outer.hidden = !shown
    if (outer.matches('.rest')) outer.open = words.length > 0 && shown
  }
  const count = groups.filter(group => !group.hidden).length
  output.value = words.length > 0 ? count + ' of ' + groups.length + ' reasons' : ''
})
`

const STYLE = `
:root{color-scheme:light dark;--text:#1f2328;--soft:#59636e;--back:#fff;--card:#f6f8fa;--line:#d1d9e0;--good:#1a7f37;--none:#1d6fd8;--bad:#cf222e;--odd:#9a6700}
@media(prefers-color-scheme:dark){:root{--text:#e6edf3;--soft:#9da7b3;--back:#0d1117;--card:#161b22;--line:#3d444d;--good:#3fb950;--none:#5aa2f5;--bad:#f85149;--odd:#d29922}}
*{box-sizing:border-box}[hidden]{display:none!important}
body{margin:0;background:var(--back);color:var(--text);font:15px/1.45 system-ui,sans-serif}
main{max-width:1320px;margin:0 auto;padding:16px 20px 16px}
h1{font-size:28px;line-height:1.2;margin:4px 0}h2{font-size:17px;margin:0}
p{margin:0}.lead{font-size:18px;color:var(--soft);margin-bottom:12px}
.note{border-left:4px solid;padding:2px 12px;margin:8px 0;overflow-wrap:anywhere}.note.odd{border-color:var(--odd)}.note.bad{border-color:var(--bad)}
.good{--tone:var(--good)}.none{--tone:var(--none)}.bad{--tone:var(--bad)}.odd{--tone:var(--odd)}.empty{--tone:var(--soft)}
.bar{display:flex;gap:2px;height:12px;margin:16px 0 12px}.bar i{background:var(--tone);min-width:4px;border-radius:3px}
.cards{list-style:none;display:grid;grid-template-columns:repeat(4,1fr);gap:12px;padding:0;margin:0}
.cards li{background:var(--card);border:1px solid var(--line);border-top:3px solid var(--tone);border-radius:8px;padding:8px 14px 10px}
.cards h2{font-size:15px}.cards h2 span{color:var(--tone)}.cards b{font-size:26px;line-height:1.25;font-variant-numeric:tabular-nums}.cards .empty b{color:var(--soft)}
.cards b+span,.cards p{color:var(--soft)}.cards p{font-size:13px}
.columns{display:grid;grid-template-columns:minmax(0,1fr) 300px;gap:32px;margin-top:24px}
h2 span{font-weight:400;color:var(--soft);font-size:15px}section{margin-bottom:16px}section>h2{margin-bottom:6px}
.filter{display:flex;align-items:baseline;gap:12px;margin-bottom:14px;color:var(--soft)}
input{flex:0 1 360px;min-width:0;font:inherit;color:inherit;background:var(--back);border:1px solid var(--soft);border-radius:6px;padding:5px 10px}
summary{cursor:pointer}:focus-visible{outline:2px solid var(--none);outline-offset:2px}
.group{border-top:1px solid var(--line)}.group summary{display:grid;grid-template-columns:minmax(0,1fr) auto 90px;gap:14px;align-items:baseline;padding:6px 4px;list-style:none}
.group summary::-webkit-details-marker{display:none}.group summary:hover{background:var(--card)}
.name{overflow-wrap:anywhere;padding-left:16px}.name::before{content:'▸';display:inline-block;width:16px;margin-left:-16px;color:var(--soft)}[open]>summary .name::before{content:'▾'}
.name span{color:var(--soft);font-size:14px}.count{font-variant-numeric:tabular-nums}.group i{height:10px;min-width:2px;border-radius:3px;background:var(--tone)}
.group ul{margin:0;padding:0 4px 6px 20px;list-style:none;overflow-wrap:anywhere}.group>p{padding:0 4px 10px 20px;color:var(--soft);font-size:14px;overflow-wrap:anywhere}
.rest{border-top:1px solid var(--line)}.rest>summary{padding:7px 4px;color:var(--soft)}code{font-size:13px;color:var(--soft)}
dl{margin:6px 0 0}dt{color:var(--soft);font-size:13px}dd{margin:0 0 8px;overflow-wrap:anywhere}
figure{margin:16px 0 0}figcaption{color:var(--soft);font-size:13px}svg{display:block;width:100%;height:auto}.axes line{stroke:var(--line)}.axes text{fill:var(--soft);font:12px system-ui,sans-serif}
.area{fill:var(--none);opacity:.15}.curve{fill:none;stroke:var(--none);stroke-width:2}
footer{margin-top:4px;color:var(--soft);font-size:13px}
@media(max-width:900px){.columns{grid-template-columns:minmax(0,1fr);gap:12px}}
@media(max-width:600px){main{padding:16px}h1{font-size:24px}.cards{grid-template-columns:1fr 1fr;gap:8px}.cards p,.group i{display:none}.group summary{grid-template-columns:minmax(0,1fr) auto}.name span{display:block}}
@media print{details::details-content{content-visibility:visible;display:block}.filter{display:none}}
`
