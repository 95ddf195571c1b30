import { type AuditedBatch, auditBatch } from './audited.ts'
import type { Batch } from './lines.ts'
import { createRecordVerifier, type RecordClaim } from './record.ts'

/** What a worker receives. */
export interface AuditTask {
  readonly batch: Batch
  /** Named in each verdict; undefined if there is only one input. */
  readonly file: string | undefined
  readonly claim: RecordClaim
}

/** Per worker: one that it verifies, and the next one. */
const BATCHES = 2

/** In MiB. A record is garbage as soon as it is verified, so half the usual young generation is as fast as more. */
const YOUNG_GENERATION = 24

/**
 * Verifies batches on several cores.
 *
 * @param jobs number of threads that verify; one per core is best. This thread is one of them, because reading leaves it idle:
 * a thread more than there are cores would take their time from the workers
 */
export async function createAuditPool(claim: RecordClaim, jobs: number) {
  const verify = createRecordVerifier(claim)
  const verifyHere = async (batch: Batch, file: string | undefined) => auditBatch(batch, file, verify)
  // Without workers, each batch is judged as it is read.
  if (jobs === 1) return { capacity: 1, run: verifyHere, close: async () => {} }
  // Loaded only here, because verifying a single proof does not need it.
  const { Tinypool } = await import('tinypool')
  // The sources are TypeScript, the build is JavaScript.
  const worker = import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js'
  const workers = jobs - 1
  const pool = new Tinypool({
    filename: new URL(worker, import.meta.url).href,
    ...{ minThreads: workers, maxThreads: workers, concurrentTasksPerWorker: BATCHES },
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION },
  })
  let isFirst = true
  let atWorkers = 0
  return {
    /** How many batches to keep pending: enough that no worker waits for one. What is verified here waits for its turn. */
    capacity: BATCHES * jobs + 1,
    /** The batch may move to a worker: its bytes cannot be used afterwards. */
    async run(batch: Batch, file: string | undefined): Promise<AuditedBatch> {
      // The first batch does not wait for the workers to start.
      const isHere = isFirst || atWorkers >= BATCHES * workers
      isFirst = false
      if (isHere) return verifyHere(batch, file)
      const task: AuditTask = { batch, file, claim }
      atWorkers++
      try {
        return await pool.run(task, { name: 'auditInWorker', transferList: [batch.bytes.buffer] })
      } finally {
        atWorkers--
      }
    },
    close: () => pool.destroy(),
  }
}
