import { meaningOf } from '../../base/error-meanings.ts'
import { listed, type Word } from '../words/verdict.ts'
import type { Tally } from './audited.ts'

export type AuditSummary = ReturnType<typeof summarize>

export function summarize(tally: Tally) {
  const { lines, kinds, consistent, first } = tally
  const entries = Object.entries(kinds).sort(([, a], [, b]) => b - a)
  const sum = (start: string) =>
    entries.reduce((total, [kind, count]) => (kind.startsWith(start) ? total + count : total), 0)
  return {
    lines,
    present: sum('present'),
    absent: sum('absent'),
    /** Of those present and absent: how many rest on your word, and how many on that of the records alone. */
    verified: sum('present') + sum('absent') - consistent,
    consistent,
    refused: sum('refused '),
    unreadable: sum('unreadable: '),
    /** Most frequent first. Only a refusal has a `meaning`, and no proof a `first`. */
    kinds: entries.map(([kind, count]) => {
      const [place, meaning] = [first[kind], meaningOf(kind.replace(/^refused /, ''))]
      return { kind, count, ...(meaning && { meaning }), ...(place && { first: place }) }
    }),
    notes: notesOf(tally),
  }
}

/** Notes on what nothing proves, because only the answers state it, and on a JSON text of several lines. */
function notesOf({ lines, kinds, fromAnswer }: Tally): string[] {
  const isText = 'unreadable: not JSON' in kinds && Object.keys(kinds).every(kind => kind.startsWith('unreadable: '))
  return [
    fromAnswer > 0 &&
      `${counted(fromAnswer, 'answer was', 'answers were')} verified for an address or storage keys that only the answer names: compare these with what you asked for, or state them.`,
    lines > 1 && isText && 'an audit reads one record per line. To write a JSON file as one line: jq -c . FILE',
  ].filter(note => note !== false)
}

export const formatNumber = (value: number): string =>
  value.toLocaleString('en-US', { maximumFractionDigits: value < 10 ? 1 : 0 })

export const counted = (count: number, one: string, many: string) =>
  `${formatNumber(count)} ${count === 1 ? one : many}`

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
  const all = lines === 1 ? 'The record is' : `All ${formatNumber(lines)} records are`
  const some = parts.map(([count, words]) => `${counted(Number(count), 'is', 'are')} ${words}`)
  const sentence = parts.length === 1 ? `${all} ${only}.` : `Of ${formatNumber(lines)} records, ${listed(some)}.`
  return { word, sentence: lines === 0 ? 'There were no records.' : sentence }
}

export const confirmRoots = (count: number) =>
  `To confirm ${count === 1 ? 'it' : 'them'}, look up the state root on L1, and state it with --state-root 0x...`
