/**
 * From L1 to the state root: block headers, `eth_getProof` answers, the rollup contract, and evidence bundles that hold
 * all of it in one document. Pure and synchronous.
 *
 * @module rollup-state-proof/anchor
 */

import type { NamedEvidence } from '../verify/evidence/kind.ts'
import { stateEvidence as stateKind } from '../verify/evidence/kinds/state.ts'

export {
  type EthProofClaim,
  type L1Account,
  type L1Slot,
  type VerifiedEthProof,
  verifyEthProof,
} from '../verify/anchor/eth-proof.ts'
export { decodeFinalizedStateLog, type FinalizedState, finalizedStateTopics } from '../verify/anchor/finalized-state.ts'
export { encodeHeader, type L1Block, verifyHeader } from '../verify/anchor/header.ts'
export {
  lineaLayout,
  lineaRollup,
  lineaSepoliaRollup,
  type Rollup,
  type RollupLayout,
} from '../verify/anchor/rollup.ts'
export { type AnchorClaim, anchorStorageKeys, type VerifiedAnchor, verifyAnchor } from '../verify/anchor/verify.ts'
export {
  type BundleParts,
  createBundle,
  type EvidenceBundle,
  type EvidenceClaim,
  type VerifiedEvidence,
} from '../verify/evidence/kinds/state.ts'
export type { ProvenBeaconBlock, Trusted } from '../verify/evidence/trusted.ts'
export { verifyEvidence } from '../verify/evidence/verify.ts'
export type { StateScheme } from '../verify/state/kind.ts'

/**
 * Evidence of an account and its slots: the `kind` of a claim for `verifyEvidence`, which takes it by default.
 *
 * @example
 * ```ts
 * import { stateEvidence } from 'rollup-state-proof/anchor'
 *
 * console.log(stateEvidence.name) // state
 * ```
 */
export const stateEvidence: NamedEvidence<'state'> = stateKind
