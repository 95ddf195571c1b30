import { type AuditedBatch, auditBatch } from './audited.ts'
import type { AuditTask } from './pool.ts'
import { createRecordVerifier, type RecordVerifier } from './record.ts'

let verify: RecordVerifier | undefined

/** What a worker runs. Its verifiers live as long as it does, and with them what they remember; the claim never changes. */
export function auditInWorker({ batch, file, claim }: AuditTask): AuditedBatch {
  verify ??= createRecordVerifier(claim)
  return auditBatch(batch, file, verify)
}
