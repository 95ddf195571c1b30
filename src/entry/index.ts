/**
 * Verifies `rollup_getProof` (`linea_getProof`) answers against a state root that you trust: {@link verifyProof}, its
 * building blocks, and what programs need around it: storage keys, errors, JSON. Pure and synchronous; no network, no
 * platform module.
 *
 * @module rollup-state-proof
 */

export { type Hex, isHex } from '../base/bytes.ts'
export { meaningOf, type ProofErrorCode } from '../base/error-meanings.ts'
export {
  ArgumentError,
  type ErrorAction,
  isArgumentError,
  isProofError,
  ProofError,
} from '../base/errors.ts'
export { stringify } from '../base/json/stringify.ts'
export { mappingSlot, slotKey, verifyCode } from '../verify/anchor/contract.ts'
export type { Claim } from '../verify/proof/claim.ts'
export type { ProvenAccount, ProvenSlot, VerifiedState } from '../verify/proof/verify.ts'
export type { Scheme } from '../verify/scheme/scheme.ts'
export type { GetProofResult } from '../verify/tree/answer.ts'
export { type Outcome, safely } from '../verify/verifier/safe.ts'
export { createVerifier, type Verifier, type VerifierClaim } from '../verify/verifier/verifier.ts'
export { verifyProof } from '../verify/verifier/verify-proof.ts'
