import type { AuditedBatch } from './audited.ts'
import type { Batch } from './lines.ts'
import type { RecordClaim } from './record.ts'

/** What a worker is told. */
export interface AuditTask {
  readonly batch: Batch
  /** Named in each verdict; undefined when there is only one input. */
  readonly file: string | undefined
  readonly claim: RecordClaim
}

/** Verifies batches on several cores. */
export interface AuditPool {
  /** The batch is gone afterwards: its bytes move to the worker. */
  run(batch: Batch, file: string | undefined): Promise<AuditedBatch>
  close(): Promise<void>
}

/** @param jobs how many workers; one per core is best */
export async function createAuditPool(claim: RecordClaim, jobs: number): Promise<AuditPool> {
  // Loaded here alone: nobody who verifies a single proof needs it.
  const { Tinypool } = await import('tinypool')
  // The sources are TypeScript, and what was compiled from them is not.
  const worker = import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js'
  const pool = new Tinypool({
    filename: new URL(worker, import.meta.url).href,
    ...{ minThreads: jobs, maxThreads: jobs },
  })
  return {
    run(batch, file) {
      const task: AuditTask = { batch, file, claim }
      return pool.run(task, { name: 'auditInWorker', transferList: [batch.bytes.buffer] })
    },
    close: () => pool.destroy(),
  }
}
