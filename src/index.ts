/**
 * Verifies `rollup_getProof` (`linea_getProof`) answers against a state root that you trust: {@link verifyProof}, its
 * building blocks, and what programs need around it: storage keys, errors, JSON. Pure and synchronous; no network, no
 * platform module.
 *
 * @module rollup-state-proof
 */
export { verifyCode } from './anchor/code.ts'
export { arraySlot, mappingSlot, slotKey } from './anchor/slots.ts'
export { type Hex, isHex } from './bytes.ts'
export {
  type AnswerErrorCode,
  answerErrorMeanings,
  type BeaconErrorCode,
  type BlocksErrorCode,
  type EvidenceErrorCode,
  type MessagesErrorCode,
  type TransitionErrorCode,
} from './error-meanings.ts'
export {
  ArgumentError,
  type ErrorAction,
  type ErrorDetails,
  isArgumentError,
  isProofError,
  ProofError,
  type ProofErrorCode,
} from './errors.ts'
export { stringify } from './json/stringify.ts'
export type { Claim } from './proof/claim.ts'
export type { ProvenAccount, ProvenSlot, ProvenSlots, VerifiedState } from './proof/verify.ts'
export type { Scheme } from './scheme/scheme.ts'
export type {
  AccountProof,
  ExistenceProof,
  GetProofResult,
  NonExistenceProof,
  Proof,
  StorageProof,
} from './tree/answer.ts'
export type { AccountFields } from './tree/kind.ts'
export {
  computeRoot,
  decodeAccount,
  hashAccountKey,
  hashAccountValue,
  hashStorageKey,
  hashStorageValue,
  type LeafProofClaim,
  verifyExistence,
  verifyNonExistence,
} from './verifier/leaf-api.ts'
export { type Outcome, safely } from './verifier/safe.ts'
export { createVerifier, type Verifier, type VerifierClaim } from './verifier/verifier.ts'
export { verifyProof } from './verifier/verify-proof.ts'
