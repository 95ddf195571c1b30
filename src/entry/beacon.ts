/**
 * The consensus layer: proves the finalized L1 block hash from one beacon block root that you trust, with the answers of a
 * beacon API that you need not trust. Pure and synchronous.
 *
 * @module rollup-state-proof/beacon
 */

export type { Committee } from '../verify/beacon/committee.ts'
export { type BeaconNetwork, hoodiBeacon, mainnetBeacon, sepoliaBeacon } from '../verify/beacon/network.ts'
export { type TrustedBeaconBlock, trustBeaconBlock } from '../verify/beacon/trusted-block.ts'
export {
  type BeaconBlock,
  type ConsensusAnswers,
  type TrustedBlock,
  type VerifiedConsensus,
  type VerifiedUpdate,
  verifyBootstrap,
  verifyConsensus,
  verifyFinality,
  verifyUnfinalized,
  verifyUpdate,
} from '../verify/beacon/verify.ts'
