import { escapeUnprintable, messageOf } from '../words/value.ts'
import { type Batch, linesOf } from './lines.ts'
import type { RecordVerifier, Verdict } from './record.ts'

export interface Tally {
  lines: number
  /** Number of lines per kind of verdict: see {@link countedAs}. */
  readonly kinds: Record<string, number>
  /** Number of lines that are consistent only: just the record states the root from which they follow. */
  consistent: number
  /** Number of proven lines whose address or storage keys only the answer names. */
  fromAnswer: number
  /** Where the first record of each kind is that does not verify. */
  readonly first: Record<string, Place>
}

export interface Place {
  readonly line: number
  readonly file?: string | undefined
  readonly path?: string
}

export interface AuditedBatch {
  /** One JSON object per line, each ended by `\n`. */
  readonly text: string
  readonly tally: Tally
}

// No prototypes, so that a lookup finds no inherited property.
export const createTally = (): Tally => ({
  lines: 0,
  kinds: Object.create(null),
  consistent: 0,
  fromAnswer: 0,
  first: Object.create(null),
})

/** The name under which a verdict is counted: the verdict, and the reason if it is not a proof. No input creates many names. */
function countedAs(verdict: Verdict): string {
  if (verdict.verdict === 'refused') return `refused ${verdict.code}`
  return verdict.verdict === 'unreadable' ? `unreadable: ${verdict.reason.replace(/\[\d+\]/, '[…]')}` : verdict.verdict
}

function countVerdict(tally: Tally, verdict: Verdict, line: number, file: string | undefined): void {
  const kind = countedAs(verdict)
  tally.lines++
  count(tally.kinds, kind, 1)
  if (verdict.verdict === 'present' || verdict.verdict === 'absent') {
    const { address, storageKeys } = verdict.sources
    if (verdict.trusted !== 'user') tally.consistent++
    if (address === 'answer' || storageKeys === 'answer') tally.fromAnswer++
  } else tally.first[kind] ??= { line, file, ...('path' in verdict && { path: verdict.path }) }
}

const count = (counts: Record<string, number>, name: string, more: number): void => {
  counts[name] = (counts[name] ?? 0) + more
}

export function addTally(sum: Tally, more: Tally): void {
  sum.lines += more.lines
  sum.consistent += more.consistent
  sum.fromAnswer += more.fromAnswer
  for (const [name, lines] of Object.entries(more.kinds)) count(sum.kinds, name, lines)
  for (const [kind, place] of Object.entries(more.first)) sum.first[kind] ??= place
}

/** One line of output. Integers that may not fit a JSON number become decimal strings. */
function formatVerdict(line: number, file: string | undefined, verdict: Verdict): string {
  const place = file === undefined ? '' : `,"file":${escapeUnprintable(JSON.stringify(file))}`
  const isProven = 'account' in verdict
  const plain = isProven ? { ...toPlain(verdict), account: verdict.account && toPlain(verdict.account) } : verdict
  return `{"line":${line}${place},"version":1,${JSON.stringify(plain).slice(1)}\n`
}

/** Of one level, because a replacer takes several times as long. */
const toPlain = (fields: object): object =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, typeof field === 'bigint' ? `${field}` : field]),
  )

export function auditBatch(batch: Batch, file: string | undefined, verify: RecordVerifier): AuditedBatch {
  const tally = createTally()
  let text = ''
  for (const bytes of linesOf(batch)) {
    const line = batch.firstLine + tally.lines
    try {
      const verdict = verify(bytes)
      text += formatVerdict(line, file, verdict)
      countVerdict(tally, verdict, line, file)
    } catch (error) {
      // A fault of this program: whoever reports it needs the line.
      throw new Error(`line ${line}: ${messageOf(error)}`, { cause: error })
    }
  }
  return { text, tally }
}
