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
    /** Most frequent first. `meaning` is empty unless the kind is a refusal, and `first` missing if it is a proof. */
    kinds: entries.map(([kind, count]) => {
      const place = first[kind]
      return { kind, count, meaning: meaningOf(kind.replace(/^refused /, '')), ...(place && { first: place }) }
    }),
    notes: notesOf(tally),
  }
}

/** What to say before the first verdicts if they look like those on a JSON text of several lines; empty if they do not. */
export const hintAbout = ({ lines, kinds }: Tally): string =>
  lines > 1 && 'unreadable: not JSON' in kinds && Object.keys(kinds).every(kind => kind.startsWith('unreadable: '))
    ? 'Note: an audit reads one record per line. To write a JSON file as one line: jq -c . FILE\n'
    : ''

/** Notes on what nothing proves, because only the records or the answers state it. */
function notesOf({ addressesFromAnswer: addresses, keysFromAnswer: keys }: Tally): string[] {
  return [
    addresses > 0 &&
      `${counted(addresses, 'answer was', 'answers were')} verified for the address that the answer itself names: compare it with the one that you asked for, or state it.`,
    keys > 0 &&
      `${counted(keys, 'answer was', 'answers were')} verified for the storage keys that the answer itself names: compare them with the ones that you asked for, or state them.`,
  ].filter(note => note !== false)
}

export const formatNumber = (value: number): string =>
  value.toLocaleString('en-US', { maximumFractionDigits: value < 10 ? 1 : 0 })

const counted = (count: number, one: string, many: string) => `${formatNumber(count)} ${count === 1 ? one : many}`

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

/** What to do about records that are consistent only. */
export const confirmRoots = (count: number) =>
  `To confirm ${count === 1 ? 'it' : 'them'}, look up the state root on L1, and state it with --state-root 0x...`
