/**
 * From L1 to the state root: block headers, `eth_getProof` answers, the rollup contract, and evidence bundles that hold
 * all of it in one document. Pure and synchronous.
 *
 * @module rollup-state-proof/anchor
 */
export { verifyCode } from './anchor/code.ts'
export {
  type EthProofClaim,
  type L1Account,
  type L1Slot,
  type VerifiedEthProof,
  verifyEthProof,
} from './anchor/eth-proof.ts'
export {
  decodeFinalizedStateLog,
  type FinalizedState,
  type FinalizedStateLog,
  finalizedStateTopics,
} from './anchor/finalized-state.ts'
export { encodeHeader, type L1Block, verifyHeader } from './anchor/header.ts'
export {
  type AnchorClaim,
  anchorStorageKeys,
  type FinalizedStateLayout,
  lineaLayout,
  lineaMainnet,
  lineaSepolia,
  type Rollup,
  type RollupLayout,
  type VerifiedAnchor,
  verifyAnchor,
} from './anchor/rollup.ts'
export { arraySlot, mappingSlot } from './anchor/slots.ts'
export type { Consensus } from './evidence/consensus.ts'
export { createEvidence, type EvidenceParts } from './evidence/create.ts'
export type {
  AnchoredState,
  Evidence,
  EvidenceClaim,
  EvidenceState,
  ProvenBeaconBlock,
  ProvenConsensus,
  Reach,
  SafeVerifiedEvidence,
  Trusted,
  TrustedBeaconBlock,
  VerifiedEvidence,
} from './evidence/types.ts'
export { safeVerifyEvidence, verifyEvidence } from './evidence/verify.ts'
