import { verifyEthProof } from '../anchor/eth-proof.ts'
import { decodeArgument } from '../arguments.ts'
import type { Hex } from '../bytes.ts'
import { verifyProof } from '../verifier/verify-proof.ts'
import type { AnyState, StateKind } from './types.ts'

/** What was asked about a state of any kind, and the root that is trusted. */
export interface StateClaim {
  readonly scheme: StateKind
  readonly stateRoot: Hex
  readonly address: Hex
  readonly storageKeys?: readonly Hex[] | undefined
}

/** `verifyProof`, or `verifyEthProof` for an Ethereum state. @throws as they do */
export function verifyState(answer: unknown, { scheme, stateRoot, address, storageKeys }: StateClaim): AnyState {
  if (scheme !== 'ethereum') return verifyProof(answer, { scheme, stateRoot, address, storageKeys })
  // Under its name here.
  decodeArgument('stateRoot', stateRoot, 32)
  return verifyEthProof(answer, { l1StateRoot: stateRoot, address, storageKeys })
}
