import { messageOf } from '../words/value.ts'
import type { AuditedBatch } from './audited.ts'
import { unpack } from './input.ts'
import { createLineDigest } from './line-digest.ts'
import { type Batch, readBatches } from './lines.ts'
import { createAuditPool } from './pool.ts'
import type { RecordClaim } from './record.ts'

/** One input of an audit. */
export interface AuditInput {
  /** Used in messages, and in the verdicts if there are several inputs. */
  readonly name: string
  readonly open: () => AsyncIterable<Uint8Array | string>
}

export interface AuditOptions {
  readonly claim: RecordClaim
  /** How many threads verify: one per core is best. */
  readonly jobs: number
  /** In bytes. */
  readonly maxLineLength: number
  /** What an earlier run judged. It is read and skipped. */
  readonly judged: Judged
}

/** Lines at the start of the inputs. */
export interface Judged {
  readonly lines: number
  /** See `createLineDigest`. */
  readonly digest: string
}

/** The verdicts of a batch of lines, and what is judged with them. */
export interface JudgedBatch extends AuditedBatch {
  /** Null if the batch would have more lines if its input grew: a later run judges it again. */
  readonly judged: Judged | null
  /** SHA-256 of all lines so far. */
  readonly sha256: string
}

/** An input that cannot be read to its end. */
export class AuditInputError extends Error {
  override readonly name = 'AuditInputError'
}

/** The lines that an earlier run judged are not the same any more. */
export class ChangedInput extends Error {}

/** In bytes: enough that handing over a batch costs nothing, and few enough that no worker waits for the others. */
export const BATCH_LENGTH = 2 ** 20

/**
 * Verifies inputs line by line, on all cores, and yields the verdicts in the order of the lines. Memory is bounded for any
 * input, because reading waits until the verdicts are consumed. The bytes of a batch are valid until the next one is asked for.
 *
 * @throws AuditInputError, ChangedInput
 */
export async function* audit(inputs: readonly AuditInput[], options: AuditOptions): AsyncGenerator<JudgedBatch> {
  const pool = await createAuditPool(options.claim, options.jobs)
  // Fewer batches are pending if they hold very long lines.
  const { capacity } = pool
  const pending: Pending[] = []
  let pendingLength = 0
  const spare: Uint8Array<ArrayBuffer>[] = []
  const batches = readInputs(inputs, options, spare)
  try {
    let failure: unknown
    for (let isReading = true; isReading || pending.length > 0; ) {
      if (isReading && pending.length < capacity && pendingLength < 2 * capacity * BATCH_LENGTH) {
        // Lines that were read before an input fails still get their verdicts.
        const next = await batches.next().catch(error => {
          failure = error
          return { done: true, value: undefined } as const
        })
        isReading = !next.done
        if (next.value === undefined) continue
        const { batch, file, ...about } = next.value
        const { length } = batch.bytes
        const outcome = pool.run(batch, file)
        // Awaited in its turn. Until then, a failure must not count as unhandled.
        outcome.catch(() => {})
        pending.push({ length, outcome, about })
        pendingLength += length
      } else {
        const first = pending.shift()
        if (first === undefined) continue
        const audited = await first.outcome
        pendingLength -= first.length
        yield { ...audited, ...first.about }
        // Memory that grew for a very long line is not kept.
        if (audited.memory.length <= 2 * BATCH_LENGTH) spare.push(audited.memory)
      }
    }
    if (failure !== undefined) throw failure
  } finally {
    await batches.return(undefined)
    await pool.close()
  }
}

interface Pending {
  readonly length: number
  readonly outcome: Promise<AuditedBatch>
  readonly about: Pick<JudgedBatch, 'judged' | 'sha256'>
}

async function* readInputs(
  inputs: readonly AuditInput[],
  { maxLineLength, judged }: AuditOptions,
  spare: Uint8Array<ArrayBuffer>[],
): AsyncGenerator<Pending['about'] & { batch: Batch; file: string | undefined }> {
  const digest = createLineDigest()
  let lines = 0
  for (const { name, open } of inputs) {
    const file = inputs.length > 1 ? name : undefined
    let line = 0
    try {
      for await (const batch of readBatches(unpack(open()), { batchLength: BATCH_LENGTH, maxLineLength, spare })) {
        const before = lines
        line += batch.count
        lines += batch.count
        digest.add(batch)
        const isDone = lines <= judged.lines
        // The same lines are in the same batches.
        if (lines === judged.lines ? digest.get() !== judged.digest : !isDone && before < judged.lines)
          throw new ChangedInput()
        if (isDone) continue
        // Only the last input may grow.
        const isFinal = batch.isFull || name !== inputs.at(-1)?.name
        yield { batch, file, judged: isFinal ? { lines, digest: digest.get() } : null, sha256: digest.ofLines() }
      }
    } catch (error) {
      if (error instanceof ChangedInput) throw error
      const reason = messageOf(error)
      throw new AuditInputError(`${name} cannot be read beyond line ${line}: ${reason}`)
    }
  }
  const missing = judged.lines - lines
  if (missing > 0)
    throw new AuditInputError(`the inputs are shorter than before: ${missing} lines that have a verdict are missing`)
}
