import { setImmediate } from 'node:timers/promises'
import { Tinypool } from 'tinypool'
import { type AuditTask, takeBatch } from './pool.ts'
import { createRecordVerifier, type RecordVerifier } from './record.ts'

let verify: RecordVerifier | undefined

/** The function that a worker runs. It keeps one verifier, with its cache, for all batches, because the claim never changes. */
export async function auditInWorker({ batch, file, claim }: AuditTask): Promise<unknown> {
  // Sends the verdicts on the batch before. Otherwise, they would wait for those on this one.
  await setImmediate()
  verify ??= createRecordVerifier(claim)
  const taken = takeBatch(batch, file, verify)
  // Moves the memory back to the caller instead of copying it. The verdicts are in it, or in memory of their own.
  const buffers = [...new Set([taken.memory.buffer, taken.audited.bytes.buffer])]
  const movable: object = { [Tinypool.transferableSymbol]: buffers, [Tinypool.valueSymbol]: taken }
  return Tinypool.move(movable as Parameters<typeof Tinypool.move>[0])
}
