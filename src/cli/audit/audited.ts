import { isAscii } from 'node:buffer'
import { escapeUnprintable, fieldsOf, isCount, isObject, messageOf } from '../words/value.ts'
import { BYTES_PER_VALUE, FREE_LENGTH, MAX_EXAMPLES } from './limits.ts'
import { type Batch, linesOf } from './lines.ts'
import { type ReadRecord, type RecordVerifier, readRecord, type UnreadableVerdict, type Verdict } from './record.ts'

/** The counts of the verdicts on some lines. */
export interface Tally {
  lines: number
  /** Number of lines per kind of verdict: see {@link countedAs}. */
  readonly kinds: Record<string, number>
  /** Number of lines that are consistent only: just the record states the root from which they follow. */
  consistent: number
  /** Number of proven lines whose address only the answer names. */
  addressesFromAnswer: number
  /** Number of proven lines whose storage keys only the answer names. */
  keysFromAnswer: number
  /** The first verdicts of each kind that is not a proof. */
  readonly examples: Record<string, Example[]>
}

/** Where a record is that does not verify, and the path inside it. */
interface Example {
  readonly line: number
  readonly file: string | undefined
  readonly path: string | undefined
}

/** The verdicts of a batch of lines. */
export interface AuditedBatch {
  /** UTF-8: one JSON object per line, each ended by `\n`. */
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly tally: Tally
  /** The memory of the batch. It is free for the next one as soon as the verdicts, which it may hold, are written. */
  readonly memory: Uint8Array<ArrayBuffer>
}

/** What stands in the verdict on a line without a text. */
const TOO_LONG = 'longer than a record may be'

// No prototypes, so that a lookup finds no inherited property.
export const createTally = (): Tally => ({
  lines: 0,
  kinds: Object.create(null),
  ...{ consistent: 0, addressesFromAnswer: 0, keysFromAnswer: 0 },
  examples: Object.create(null),
})

/** The name under which a verdict is counted: the verdict, and the reason if it is not a proof. No input creates many names. */
function countedAs(verdict: Verdict): string {
  if (verdict.verdict === 'refused') return `refused ${verdict.code}`
  return verdict.verdict === 'unreadable' ? `unreadable: ${verdict.reason.replace(/\[\d+\]/, '[…]')}` : verdict.verdict
}

export function countVerdict(tally: Tally, verdict: Verdict, line: number, file: string | undefined): void {
  const kind = countedAs(verdict)
  tally.lines++
  count(tally.kinds, kind, 1)
  if (verdict.verdict === 'present' || verdict.verdict === 'absent') {
    const { address, storageKeys } = verdict.sources
    if (verdict.trusted !== 'user') tally.consistent++
    if (address === 'answer') tally.addressesFromAnswer++
    if (storageKeys === 'answer') tally.keysFromAnswer++
  } else keepExamples(tally, kind, [{ line, file, path: 'path' in verdict ? verdict.path : undefined }])
}

function keepExamples({ examples }: Tally, kind: string, more: readonly Example[]): void {
  examples[kind] ??= []
  const kept = examples[kind]
  kept.push(...more.slice(0, MAX_EXAMPLES - kept.length))
}

const count = (counts: Record<string, number>, name: string, more: number): void => {
  counts[name] = (counts[name] ?? 0) + more
}

export function addTally(sum: Tally, more: Tally): void {
  sum.lines += more.lines
  sum.consistent += more.consistent
  sum.addressesFromAnswer += more.addressesFromAnswer
  sum.keysFromAnswer += more.keysFromAnswer
  for (const [name, lines] of Object.entries(more.kinds)) count(sum.kinds, name, lines)
  for (const [kind, examples] of Object.entries(more.examples)) keepExamples(sum, kind, examples)
}

/** A tally that was saved as JSON; undefined if it is none. */
export function readTally(saved: unknown): Tally | undefined {
  const { kinds, examples, ...counts } = fieldsOf(saved)
  const isTally =
    [counts['lines'], counts['consistent'], counts['addressesFromAnswer'], counts['keysFromAnswer']].every(isCount) &&
    Object.values(fieldsOf(kinds)).every(isCount) &&
    Object.values(fieldsOf(examples)).every(items => Array.isArray(items) && items.every(isObject))
  if (!isTally) return undefined
  const tally = createTally()
  addTally(tally, { ...createTally(), ...counts, kinds: fieldsOf(kinds), examples: fieldsOf(examples) } as Tally)
  return tally
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

/**
 * Verifies the lines of a batch. The verdicts are written into the batch's memory, behind its lines, if there is room.
 *
 * @param file named in each verdict; undefined if there is only one input
 */
export function auditBatch(batch: Batch, file: string | undefined, verify: RecordVerifier): AuditedBatch {
  const tally = createTally()
  const { buffer, byteOffset, length } = batch.bytes
  const output = createOutput(Buffer.from(buffer, byteOffset + length))
  const toText = textsOf(batch.bytes)
  const judge = (line: Uint8Array | null): Verdict => {
    try {
      return verify(readLine(line, toText))
    } catch (error) {
      // A fault of this program: whoever reports it needs the line.
      throw new Error(`line ${batch.firstLine + tally.lines}: ${messageOf(error)}`, { cause: error })
    }
  }
  for (const bytes of linesOf(batch)) {
    const line = batch.firstLine + tally.lines
    const verdict = judge(bytes)
    output.add(formatVerdict(line, file, verdict))
    countVerdict(tally, verdict, line, file)
  }
  return { bytes: output.bytes(), tally, memory: new Uint8Array(buffer) }
}

function readLine(line: Uint8Array | null, toText: (part: Uint8Array) => Uint8Array | string): ReadRecord {
  if (line === null) return LINE_TOO_LONG
  return hasTooManyValues(line) ? TOO_MANY : readRecord(toText(line))
}

/**
 * Collects text as UTF-8. Each piece becomes bytes at once, while it is in the processor's cache: joining all pieces of a batch
 * at its end takes longer.
 */
function createOutput(memory: Buffer<ArrayBuffer>) {
  let length = 0
  return {
    add(text: string) {
      // A UTF-16 unit becomes at most three bytes.
      const most = length + 3 * text.length
      if (most > memory.length) {
        const grown = Buffer.alloc(2 * most)
        memory.copy(grown, 0, 0, length)
        memory = grown
      }
      length += memory.write(text, length)
    },
    bytes: () => memory.subarray(0, length),
  }
}

/** Decodes ASCII, which records are, several times faster than a UTF-8 decoder. Anything else is returned as bytes. */
export function textsOf(bytes: Uint8Array<ArrayBuffer>): (part: Uint8Array) => Uint8Array | string {
  if (!isAscii(bytes)) return part => part
  const whole = Buffer.from(bytes.buffer)
  return ({ byteOffset, length }) => whole.toString('latin1', byteOffset, byteOffset + length)
}

const LINE_TOO_LONG: UnreadableVerdict = { verdict: 'unreadable', reason: TOO_LONG }

const TOO_MANY: UnreadableVerdict = { verdict: 'unreadable', reason: 'more values than a record may have' }

const [COMMA, BRACKET, BRACE] = [0x2c, 0x5b, 0x7b]

/** Whether a text may hold so many JSON values that parsing it would take many times its length in memory. */
function hasTooManyValues(text: Uint8Array): boolean {
  if (text.length <= FREE_LENGTH) return false
  let left = text.length / BYTES_PER_VALUE
  for (const byte of text) if ((byte === COMMA || byte === BRACKET || byte === BRACE) && --left < 0) return true
  return false
}
