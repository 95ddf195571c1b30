/**
 * The consensus layer: proves the finalized L1 block hash from one beacon block root that you trust, with the answers of a
 * beacon API that you need not trust. Pure and synchronous.
 *
 * @module rollup-state-proof/beacon
 */
export { trustBeaconBlock } from './beacon/checkpoint.ts'
export type { Committee } from './beacon/committee.ts'
export { type BeaconFork, type BeaconNetwork, mainnetBeacon, sepoliaBeacon } from './beacon/network.ts'
export {
  type BeaconBlock,
  type ConsensusAnswers,
  type TrustedBlock,
  type VerifiedBootstrap,
  type VerifiedConsensus,
  type VerifiedFinality,
  type VerifiedUpdate,
  verifyBootstrap,
  verifyConsensus,
  verifyFinality,
  verifyUpdate,
} from './beacon/verify.ts'
