import { Tinypool } from 'tinypool'
import { type AuditTask, takeBatch } from './pool.ts'
import { createRecordVerifier, type RecordVerifier } from './record.ts'

let verify: RecordVerifier | undefined

/** What a worker runs. Its verifiers live as long as it does, and with them what they remember; the claim never changes. */
export function auditInWorker({ batch, file, claim }: AuditTask): unknown {
  verify ??= createRecordVerifier(claim)
  const taken = takeBatch(batch, file, verify)
  // The memory moves back as it came.
  const movable: object = { [Tinypool.transferableSymbol]: taken.memory.buffer, [Tinypool.valueSymbol]: taken }
  return Tinypool.move(movable as Parameters<typeof Tinypool.move>[0])
}
