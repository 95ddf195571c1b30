import { setImmediate } from 'node:timers/promises'
import { Tinypool } from 'tinypool'
import { auditBatch } from './audited.ts'
import type { AuditTask } from './pool.ts'
import { createRecordVerifier, type RecordVerifier } from './record.ts'

let verify: RecordVerifier | undefined

/** The function that a worker runs. It keeps one verifier, with its cache, for all batches, because the claim never changes. */
export async function auditInWorker({ batch, file, claim }: AuditTask): Promise<unknown> {
  // Sends the verdicts on the batch before. Otherwise, they would wait for those on this one.
  await setImmediate()
  verify ??= createRecordVerifier(claim)
  const audited = auditBatch(batch, file, verify)
  // Moves the memory back to the caller instead of copying it. The verdicts are in it, or in memory of their own.
  const buffers = [...new Set([audited.memory.buffer, audited.bytes.buffer])]
  const movable: object = { [Tinypool.transferableSymbol]: buffers, [Tinypool.valueSymbol]: audited }
  return Tinypool.move(movable as Parameters<typeof Tinypool.move>[0])
}
