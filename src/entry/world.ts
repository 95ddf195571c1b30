/**
 * An in-memory state of the rollup that builds the same trees and answers `rollup_getProof`, for devnets and tests. It
 * never calls the verifier.
 *
 * @module rollup-state-proof/world
 */
export type { Hex } from '../base/bytes.ts'
export type { AccountChanges } from '../devnet/world/account.ts'
export type { BlockAccess, SlotWrite } from '../devnet/world/block.ts'
export type { Trace } from '../devnet/world/trace.ts'
export { type AccountState, createWorld, type World } from '../devnet/world/world.ts'
export type { Scheme } from '../verify/scheme/scheme.ts'
export type {
  AccountProof,
  ExistenceProof,
  GetProofResult,
  NonExistenceProof,
  Proof,
  StorageProof,
} from '../verify/tree/answer.ts'
