import type { Hex } from '../bytes.ts'

/** The path of one leaf, as served: section 4 of the tree format. */
export interface Proof {
  /** What the leaf's value hash was made of: 192 bytes for an account, 32 for a slot, 32 zero bytes for HEAD and TAIL. */
  value: Hex
  /** 42 entries, root first. */
  proofRelatedNodes: Hex[]
}

/** A leaf proof of a key that exists. */
export interface ExistenceProof {
  key: Hex
  leafIndex: number
  proof: Proof
}

/** A leaf proof of a key that does not exist: its two neighbours in the sorted list. */
export interface NonExistenceProof {
  key: Hex
  leftLeafIndex: number
  leftProof: Proof
  rightLeafIndex: number
  rightProof: Proof
}

/** `key` is the address, 20 bytes. */
export type AccountProof = ExistenceProof | NonExistenceProof
/** `key` is the storage key, 32 bytes. */
export type StorageProof = ExistenceProof | NonExistenceProof

/** The result of `rollup_getProof` (on the Linea network `linea_getProof`): section 6 of the tree format. */
export interface GetProofResult {
  accountProof: AccountProof
  /** One a requested key; empty, or null in each place, when the account is absent or has no storage. */
  storageProofs: (StorageProof | null)[]
}
