import { type Hex, slotKey, verifyProof } from 'rollup-state-proof'
import { poseidon2 } from 'rollup-state-proof/poseidon2'

const storageKeys = [slotKey(0n), slotKey(1n), slotKey(9n)] as const

/** Several slots of one contract, by name. */
export function readSettings(answer: unknown, stateRoot: Hex, address: Hex) {
  const { storage } = verifyProof(answer, { scheme: poseidon2, stateRoot, address, storageKeys })
  const [counter, limit, paused] = storage
  return { counter: BigInt(counter.value), limit: BigInt(limit.value), isPaused: paused.exists }
}
