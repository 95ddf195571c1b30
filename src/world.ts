export type { Hex } from './bytes.ts'
export { type ErrorCode, ProofError } from './errors.ts'
export type {
  AccountProof,
  ExistenceProof,
  GetProofResult,
  NonExistenceProof,
  Proof,
  StorageProof,
} from './tree/answer.ts'
export { WorldError, type WorldErrorCode } from './world/error.ts'
export { type AccountChanges, type AccountState, createWorld, type World } from './world/world.ts'
