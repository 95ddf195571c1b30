/**
 * An in-memory state of the rollup that builds the same trees and answers `rollup_getProof`, for devnets and tests. It
 * never calls the verifier.
 *
 * @module rollup-state-proof/world
 */
export type { Hex } from './bytes.ts'
export type { Scheme } from './scheme/scheme.ts'
export type {
  AccountProof,
  ExistenceProof,
  GetProofResult,
  NonExistenceProof,
  Proof,
  StorageProof,
} from './tree/answer.ts'
export type { AccountChanges } from './world/account.ts'
export type { BlockAccess, SlotWrite } from './world/block.ts'
export type { Trace } from './world/trace.ts'
export { type AccountState, createWorld, type World } from './world/world.ts'
