import { type Batch, linesOf } from './lines.ts'
import type { RecordVerifier, Verdict } from './record.ts'

/** The verdicts of a batch of lines. */
export interface AuditedBatch {
  /** One JSON object per line, each ended by `\n`. */
  readonly text: string
  /** How many lines came to each {@link countedAs}. */
  readonly kinds: Readonly<Record<string, number>>
  /** The first verdicts that are neither present nor absent, as they stand in the text. */
  readonly rejected: readonly string[]
}

/** How many rejected lines of a batch, and of a whole run, are kept to be looked at. */
export const MAX_REJECTED = 1000

/** What the verdicts are counted by: the verdict, and why where it is no proof. */
export function countedAs(verdict: Verdict): string {
  if (verdict.verdict === 'refused') return `refused ${verdict.code}`
  return verdict.verdict === 'unreadable' ? `unreadable: ${verdict.reason}` : verdict.verdict
}

/** One line of output. Integers that a JSON number may not hold become decimal strings. */
export function formatVerdict(line: number, file: string | undefined, verdict: Verdict): string {
  const place = file === undefined ? { line } : { line, file }
  return `${JSON.stringify({ ...place, ...verdict }, (_, field) => (typeof field === 'bigint' ? field.toString() : field))}\n`
}

/** @param file named in each verdict; undefined when there is but one input */
export function auditBatch(batch: Batch, file: string | undefined, verify: RecordVerifier): AuditedBatch {
  const kinds: Record<string, number> = Object.create(null)
  const rejected: string[] = []
  let [text, line] = ['', batch.firstLine]
  for (const record of linesOf(batch)) {
    const verdict = record === null ? TOO_LONG : verify(record)
    const formatted = formatVerdict(line++, file, verdict)
    const kind = countedAs(verdict)
    kinds[kind] = (kinds[kind] ?? 0) + 1
    if ((verdict.verdict === 'refused' || verdict.verdict === 'unreadable') && rejected.length < MAX_REJECTED) {
      rejected.push(formatted)
    }
    text += formatted
  }
  return { text, kinds, rejected }
}

const TOO_LONG: Verdict = { verdict: 'unreadable', reason: 'longer than a record may be' }

/** The verdict on a line that no worker survives. */
export function auditWithout({ firstLine }: Batch, file: string | undefined): AuditedBatch {
  const verdict: Verdict = { verdict: 'unreadable', reason: 'takes more memory than a record may' }
  const text = formatVerdict(firstLine, file, verdict)
  return { text, kinds: { [countedAs(verdict)]: 1 }, rejected: [text] }
}

/** The batches one after the other. */
export function mergeAudited(parts: readonly AuditedBatch[]): AuditedBatch {
  const kinds: Record<string, number> = Object.create(null)
  for (const part of parts) addCounts(kinds, part.kinds)
  return {
    text: parts.map(({ text }) => text).join(''),
    kinds,
    rejected: parts.flatMap(({ rejected }) => rejected).slice(0, MAX_REJECTED),
  }
}

export function addCounts(sum: Record<string, number>, counts: Readonly<Record<string, number>>): void {
  for (const [kind, count] of Object.entries(counts)) sum[kind] = (sum[kind] ?? 0) + count
}
