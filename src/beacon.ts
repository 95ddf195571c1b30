/**
 * The consensus layer: proves the finalized L1 block hash from one beacon block root that you trust, with the answers of a
 * beacon API that you need not trust. Pure and synchronous.
 *
 * @module rollup-state-proof/beacon
 */
export { checkpoint } from './beacon/checkpoint.ts'
export type { Committee } from './beacon/committee.ts'
export { type BeaconFork, type BeaconNetwork, mainnet, sepolia } from './beacon/network.ts'
export {
  type BeaconBlock,
  type Checkpoint,
  type CheckpointAnswers,
  type VerifiedBootstrap,
  type VerifiedCheckpoint,
  type VerifiedFinality,
  type VerifiedUpdate,
  verifyBootstrap,
  verifyCheckpoint,
  verifyFinality,
  verifyUpdate,
} from './beacon/verify.ts'
