import { type AuditedBatch, auditBatch } from './audited.ts'
import type { Batch } from './lines.ts'
import { createRecordVerifier, type RecordClaim, type RecordVerifier } from './record.ts'

export interface AuditTask {
  readonly batch: Batch
  /** Named in each verdict; undefined if there is only one input. */
  readonly file: string | undefined
  readonly claim: RecordClaim
}

let verify: RecordVerifier | undefined

/** The function that a worker runs. It keeps one verifier, with its cache, for all batches, because the claim never changes. */
export function auditInWorker({ batch, file, claim }: AuditTask): AuditedBatch {
  verify ??= createRecordVerifier(claim)
  return auditBatch(batch, file, verify)
}
