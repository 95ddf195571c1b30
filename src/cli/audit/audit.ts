import type { Tinypool } from 'tinypool'
import { messageOf } from '../words/value.ts'
import { type AuditedBatch, auditBatch } from './audited.ts'
import { inOrder } from './in-order.ts'
import { unpack } from './input.ts'
import { createLineDigest } from './line-digest.ts'
import { type Batch, readBatches } from './lines.ts'
import { createRecordVerifier, type RecordClaim } from './record.ts'
import type { AuditTask } from './worker.ts'

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

/** Per thread: a batch that it verifies, and the next one. */
const BATCHES = 2

/** In MiB. A record is garbage as soon as it is verified, so half the usual young generation is as fast as more. */
const YOUNG_GENERATION = 24

/**
 * Verifies inputs line by line, on all cores, and yields the verdicts in the order of the lines. Memory is bounded for any
 * input, because reading waits until the verdicts are consumed.
 */
export async function* audit(inputs: readonly AuditInput[], options: AuditOptions): AsyncGenerator<JudgedBatch> {
  const { claim, jobs } = options
  const verify = createRecordVerifier(claim)
  let pool: Promise<Tinypool> | undefined
  let isFirst = true
  const judge = async ({ batch, file }: ReadBatch): Promise<AuditedBatch> => {
    // The first batch, which is often the only one, does not wait for workers to start.
    const isHere = isFirst || jobs === 1
    isFirst = false
    if (isHere) return auditBatch(batch, file, verify)
    pool ??= openPool(jobs)
    const task: AuditTask = { batch, file, claim }
    return (await pool).run(task, { name: 'auditInWorker', transferList: [batch.bytes.buffer] })
  }
  try {
    yield* inOrder({
      items: readInputs(inputs, options),
      ahead: jobs === 1 ? 1 : BATCHES * jobs,
      // Fewer batches are pending if they hold very long lines.
      weigh: ({ batch }) => Math.max(1, batch.bytes.length / BATCH_LENGTH),
      run: async read => ({ ...(await judge(read)), judged: read.judged, sha256: read.sha256 }),
    })
  } finally {
    await (await pool)?.destroy()
  }
}

/** Loaded only when it is needed: most files have one batch. */
async function openPool(jobs: number): Promise<Tinypool> {
  const { Tinypool } = await import('tinypool')
  // The sources are TypeScript, the build is JavaScript.
  const worker = import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js'
  return new Tinypool({
    filename: new URL(worker, import.meta.url).href,
    ...{ minThreads: jobs, maxThreads: jobs, resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION } },
  })
}

interface ReadBatch extends Pick<JudgedBatch, 'judged' | 'sha256'> {
  readonly batch: Batch
  readonly file: string | undefined
}

async function* readInputs(
  inputs: readonly AuditInput[],
  { maxLineLength, judged }: AuditOptions,
): AsyncGenerator<ReadBatch> {
  const digest = createLineDigest()
  let lines = 0
  for (const { name, open } of inputs) {
    const file = inputs.length > 1 ? name : undefined
    let line = 0
    try {
      for await (const batch of readBatches(unpack(open()), { batchLength: BATCH_LENGTH, maxLineLength })) {
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
      throw new AuditInputError(`${name} cannot be read beyond line ${line}: ${messageOf(error)}`)
    }
  }
  const missing = judged.lines - lines
  if (missing > 0)
    throw new AuditInputError(`the inputs are shorter than before: ${missing} lines that have a verdict are missing`)
}
