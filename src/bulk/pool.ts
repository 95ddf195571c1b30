import { type AuditedBatch, auditBatch } from './audited.ts'
import type { Batch } from './lines.ts'
import { createRecordVerifier, type RecordClaim, type RecordVerifier } from './record.ts'

/** What a worker is told. */
export interface AuditTask {
  readonly batch: Batch
  /** Named in each verdict; undefined when there is only one input. */
  readonly file: string | undefined
  readonly claim: RecordClaim
}

/** What a worker sends back. */
export interface TakenBatch {
  readonly audited: AuditedBatch
  /** In which the batch was: free for the next one. */
  readonly memory: Uint8Array<ArrayBuffer>
}

/** What a worker does. */
export const takeBatch = (batch: Batch, file: string | undefined, verify: RecordVerifier): TakenBatch => ({
  audited: auditBatch(batch, file, verify),
  memory: new Uint8Array(batch.bytes.buffer),
})

/** Verifies batches on several cores. */
export interface AuditPool {
  /** The batch is gone afterwards: its bytes move to the worker. */
  run(batch: Batch, file: string | undefined): Promise<TakenBatch>
  close(): Promise<void>
}

/**
 * In MiB. A record is garbage as soon as it is verified, so a worker needs little room; allowed more, it would collect that
 * garbage later. The longest record that is parsed at all has room in the second.
 */
const [YOUNG_GENERATION, OLD_GENERATION] = [24, 768]

/** @param jobs how many workers; one per core is best. One alone is this thread itself */
export async function createAuditPool(claim: RecordClaim, jobs: number): Promise<AuditPool> {
  if (jobs === 1) {
    const verify = createRecordVerifier(claim)
    return { run: async (batch, file) => takeBatch(batch, file, verify), close: async () => {} }
  }
  // Loaded here alone: nobody who verifies a single proof needs it.
  const { Tinypool } = await import('tinypool')
  // The sources are TypeScript, and what was compiled from them is not.
  const worker = import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js'
  const pool = new Tinypool({
    filename: new URL(worker, import.meta.url).href,
    ...{ minThreads: jobs, maxThreads: jobs },
    // The next batch is there when one is done.
    concurrentTasksPerWorker: 2,
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION, maxOldGenerationSizeMb: OLD_GENERATION },
  })
  return {
    run(batch, file) {
      const task: AuditTask = { batch, file, claim }
      return pool.run(task, { name: 'auditInWorker', transferList: [batch.bytes.buffer] })
    },
    close: () => pool.destroy(),
  }
}
