import { decodeArgument } from '../../base/arguments.ts'
import type { Hex } from '../../base/bytes.ts'
import { ProofError } from '../../base/errors.ts'
import { verifyEthProof } from '../anchor/eth-proof.ts'
import { unwrapResponse } from '../proof/known-answer.ts'
import { createVerifier } from '../verifier/verifier.ts'
import { verifyProof } from '../verifier/verify-proof.ts'
import type { AnyState, KindName, StateKind } from './types.ts'

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

/** {@link verifyState} for a result, or the JSON-RPC response around it: `verifyProof` takes either. */
export function verifyResponse(response: unknown, claim: StateClaim): AnyState {
  if (claim.scheme !== 'ethereum') return verifyState(response, claim)
  const { result, error } = unwrapResponse(response)
  if (error !== undefined) throw new ProofError('ANSWER_IS_ERROR', { path: 'error' })
  return verifyState(result, claim)
}

export type StateVerifier = (response: unknown, claim: Omit<StateClaim, 'scheme'>) => AnyState

/** {@link verifyResponse} for many answers. Those of a hash scheme under the same root share what they hash. */
export function stateVerifier(scheme: StateKind): StateVerifier {
  if (scheme === 'ethereum') return (response, claim) => verifyResponse(response, { scheme, ...claim })
  const verifier = createVerifier(scheme)
  return (response, claim) => verifier.verifyProof(response, claim)
}

/** What reports and files call it. */
export const kindName = (scheme: StateKind): KindName => (scheme === 'ethereum' ? scheme : scheme.name)
