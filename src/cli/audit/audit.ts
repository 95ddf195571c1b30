import type { Hash } from 'node:crypto'
import type { Tinypool } from 'tinypool'
import { messageOf } from '../words/value.ts'
import { type AuditedBatch, auditBatch } from './audited.ts'
import { inOrder } from './in-order.ts'
import { CHUNK_LENGTH, type Input, unpack } from './input.ts'
import { readBatches } from './lines.ts'
import { createRecordVerifier, type RecordClaim } from './record.ts'
import type { AuditTask } from './worker.ts'

export interface AuditOptions {
  readonly claim: RecordClaim
  readonly jobs: number
  /** In bytes. */
  readonly maxLineLength: number
  readonly digest: Hash
}

export class AuditInputError extends Error {
  override readonly name = 'AuditInputError'
}

/** Per thread: a batch that it verifies, and the next one. */
const BATCHES = 2

/** In MiB. A record is garbage as soon as it is verified, so half the usual young generation is as fast as more. */
const YOUNG_GENERATION = 24

/** Yields the verdicts in the order of the lines. Memory is bounded for any input: reading waits until the verdicts are consumed. */
export async function* audit(inputs: readonly Input[], options: AuditOptions): AsyncGenerator<AuditedBatch> {
  const { claim, jobs } = options
  const verify = createRecordVerifier(claim)
  let pool: Promise<Tinypool> | undefined
  let isFirst = true
  const judge = async ({ batch, file }: Omit<AuditTask, 'claim'>): Promise<AuditedBatch> => {
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
      weigh: ({ batch }) => Math.max(1, batch.bytes.length / CHUNK_LENGTH),
      run: judge,
    })
  } finally {
    await (await pool)?.destroy()
  }
}

async function openPool(jobs: number): Promise<Tinypool> {
  const { Tinypool } = await import('tinypool')
  // The sources are TypeScript, the build is JavaScript.
  const worker = import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js'
  return new Tinypool({
    filename: new URL(worker, import.meta.url).href,
    minThreads: jobs,
    maxThreads: jobs,
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION },
  })
}

async function* readInputs(inputs: readonly Input[], { maxLineLength, digest }: AuditOptions) {
  async function* digested(chunks: AsyncIterable<Uint8Array>) {
    for await (const chunk of chunks) {
      digest.update(chunk)
      yield chunk
    }
  }
  for (const { name, open } of inputs) {
    let line = 0
    try {
      for await (const batch of readBatches(digested(unpack(open())), maxLineLength)) {
        line += batch.count
        yield { batch, file: inputs.length > 1 ? name : undefined }
      }
    } catch (error) {
      throw new AuditInputError(`${name} cannot be read beyond line ${line}: ${messageOf(error)}`)
    }
  }
}
