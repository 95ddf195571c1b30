import { availableParallelism } from 'node:os'
import type { AuditedBatch } from './audited.ts'
import { unpack } from './input.ts'
import { type Batch, readBatches, skipLines } from './lines.ts'
import { createAuditPool } from './pool.ts'
import type { RecordClaim } from './record.ts'

/** One input of an audit. */
export interface AuditInput {
  /** For messages, and for the verdicts where there are several inputs. */
  readonly name: string
  readonly open: () => AsyncIterable<Uint8Array | string>
}

export interface AuditOptions {
  readonly claim: RecordClaim
  /** How many workers verify. Default: one per core. */
  readonly jobs?: number
  /** In bytes. */
  readonly maxLineLength: number
  /** How many lines an earlier run has judged: they are read, and passed over. */
  readonly skip?: number
}

/** An input that cannot be read to its end. */
export class AuditInputError extends Error {
  override readonly name = 'AuditInputError'
}

/** Enough lines that handing them over costs nothing, and few enough that no worker waits for the others. */
const BATCH_LENGTH = 2 ** 18

/**
 * Verifies inputs line by line, on all cores, and gives the verdicts in the order of the lines. What is in memory is bounded,
 * whatever the inputs: reading waits for the verdicts to be taken.
 *
 * @throws AuditInputError
 */
export async function* audit(inputs: readonly AuditInput[], options: AuditOptions): AsyncGenerator<AuditedBatch> {
  const { claim, jobs = availableParallelism() } = options
  const pool = await createAuditPool(claim, jobs)
  const pending: Promise<AuditedBatch>[] = []
  const batches = readInputs(inputs, options)
  try {
    let failure: unknown
    for (let isReading = true; isReading || pending.length > 0; ) {
      if (isReading && pending.length <= 2 * jobs) {
        // What was read before an input fails still gets its verdicts.
        const next = await batches.next().catch(error => {
          failure = error
          return { done: true, value: undefined } as const
        })
        isReading = !next.done
        if (next.value === undefined) continue
        const audited = pool.run(next.value.batch, next.value.file)
        // Awaited in its turn: until then a failure is not unhandled.
        audited.catch(() => {})
        pending.push(audited)
      } else {
        const first = pending.shift()
        if (first !== undefined) yield await first
      }
    }
    if (failure !== undefined) throw failure
  } finally {
    await batches.return(undefined)
    await pool.close()
  }
}

async function* readInputs(
  inputs: readonly AuditInput[],
  { maxLineLength, skip = 0 }: AuditOptions,
): AsyncGenerator<{ batch: Batch; file: string | undefined }> {
  let left = skip
  for (const { name, open } of inputs) {
    const file = inputs.length > 1 ? name : undefined
    let line = 0
    try {
      for await (const whole of readBatches(unpack(open()), BATCH_LENGTH, maxLineLength)) {
        line += whole.count
        const batch = skipLines(whole, left)
        left = Math.max(left - whole.count, 0)
        if (batch !== null) yield { batch, file }
      }
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      throw new AuditInputError(`${name} cannot be read beyond line ${line}: ${reason}`)
    }
  }
  if (left > 0)
    throw new AuditInputError(`the inputs are shorter than before: ${left} lines that have a verdict are missing`)
}
