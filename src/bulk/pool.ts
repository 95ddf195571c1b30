import { type AuditedBatch, auditWithout, mergeAudited } from './audited.ts'
import { type Batch, splitBatch } from './lines.ts'
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
  run(batch: Batch, file: string | undefined): Promise<AuditedBatch>
  close(): Promise<void>
}

/** Memory of one worker in MiB. Parsed, a hostile line takes up to 50 times its length. */
const WORKER_MEMORY = 1024

/** @param jobs how many workers; one per core is best */
export async function createAuditPool(claim: RecordClaim, jobs: number): Promise<AuditPool> {
  // Loaded here alone: nobody who verifies a single proof needs it.
  const { Tinypool } = await import('tinypool')
  // The tests run the source, and users what was compiled from it.
  const worker = import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js'
  const pool = new Tinypool({
    filename: new URL(worker, import.meta.url).href,
    minThreads: jobs,
    maxThreads: jobs,
    resourceLimits: { maxOldGenerationSizeMb: WORKER_MEMORY },
  })
  const attempt = (batch: Batch, file: string | undefined): Promise<AuditedBatch> => {
    // The worker takes a copy with it when it dies.
    const task: AuditTask = { batch: { ...batch, bytes: batch.bytes.slice() }, file, claim }
    return pool.run(task, { name: 'auditInWorker', transferList: [task.batch.bytes.buffer] })
  }
  return {
    async run(batch, file) {
      try {
        return await attempt(batch, file)
      } catch (error) {
        if (!isOutOfMemory(error)) throw error
        // One of these lines is too much for a worker. Each gets one of its own.
        const parts: AuditedBatch[] = []
        for (const line of splitBatch(batch))
          parts.push(await attempt(line, file).catch(() => auditWithout(line, file)))
        return mergeAudited(parts)
      }
    },
    close: () => pool.destroy(),
  }
}

const isOutOfMemory = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
