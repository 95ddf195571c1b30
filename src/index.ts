/**
 * Verifies `rollup_getProof` (`linea_getProof`) answers against a state root that you trust: {@link verifyProof}, and
 * its building blocks. Pure and synchronous; no network, no platform module.
 *
 * @module rollup-state-proof
 */
export type { Hex } from './bytes.ts'
export { type ErrorCode, type ErrorDetails, errorMeanings, ProofError } from './errors.ts'
export type { Hasher } from './hash/hasher.ts'
export type { Claim } from './proof/claim.ts'
export type { Account, StorageSlot, VerifiedState } from './proof/verify.ts'
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
export { type SafeVerifiedState, safeVerifyProof } from './verifier/safe.ts'
export { createVerifier, type Verifier, type VerifierClaim } from './verifier/verifier.ts'
export { verifyProof } from './verifier/verify-proof.ts'
