import { type AuditedBatch, auditBatch } from './audited.ts'
import type { Batch } from './lines.ts'
import { createRecordVerifier, type RecordClaim, type RecordVerifier } from './record.ts'

/** What a worker receives. */
export interface AuditTask {
  readonly batch: Batch
  /** Named in each verdict; undefined if there is only one input. */
  readonly file: string | undefined
  readonly claim: RecordClaim
}

/** What a worker sends back. */
export interface TakenBatch {
  readonly audited: AuditedBatch
  /** The memory of the batch. It is free for the next one as soon as the verdicts, which it may hold, are written. */
  readonly memory: Uint8Array<ArrayBuffer>
}

/** Verifies a batch, in a worker or in this thread. */
export const takeBatch = (batch: Batch, file: string | undefined, verify: RecordVerifier): TakenBatch => ({
  audited: auditBatch(batch, file, verify),
  memory: new Uint8Array(batch.bytes.buffer),
})

/** Verifies batches on several cores. */
export interface AuditPool {
  /** How many batches to keep pending: enough that no worker waits for one. */
  readonly capacity: number
  /** Moves the bytes of the batch to the worker: they cannot be used afterwards. */
  run(batch: Batch, file: string | undefined): Promise<TakenBatch>
  close(): Promise<void>
}

/**
 * In MiB. A record is garbage as soon as it is verified, and leaves nothing behind, so half the usual young generation is as fast
 * as more. The longest record that is parsed at all fits into the old generation.
 */
const [YOUNG_GENERATION, OLD_GENERATION] = [24, 768]

/** @param jobs number of workers; one per core is best. With 1, this thread does the work */
export async function createAuditPool(claim: RecordClaim, jobs: number): Promise<AuditPool> {
  if (jobs === 1) {
    const verify = createRecordVerifier(claim)
    // Without workers, each batch is judged as it is read.
    return { capacity: 1, run: async (batch, file) => takeBatch(batch, file, verify), close: async () => {} }
  }
  // Loaded only here, because verifying a single proof does not need it.
  const { Tinypool } = await import('tinypool')
  // The sources are TypeScript, the build is JavaScript.
  const worker = import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js'
  const pool = new Tinypool({
    filename: new URL(worker, import.meta.url).href,
    ...{ minThreads: jobs, maxThreads: jobs },
    // The next batch is already there when one is done.
    concurrentTasksPerWorker: 2,
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION, maxOldGenerationSizeMb: OLD_GENERATION },
  })
  return {
    // Two batches per worker, and one more.
    capacity: 2 * jobs + 1,
    run(batch, file) {
      const task: AuditTask = { batch, file, claim }
      return pool.run(task, { name: 'auditInWorker', transferList: [batch.bytes.buffer] })
    },
    close: () => pool.destroy(),
  }
}
