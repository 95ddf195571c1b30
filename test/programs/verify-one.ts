import { type Hex, verifyProof } from 'rollup-state-proof'
import { poseidon2 } from 'rollup-state-proof/poseidon2'

/** The balance of one account, from an answer that somebody sent. */
export function readBalance(answer: unknown, stateRoot: Hex, address: Hex): bigint {
  const { account } = verifyProof(answer, { scheme: poseidon2, stateRoot, address })
  return account?.balance ?? 0n
}
