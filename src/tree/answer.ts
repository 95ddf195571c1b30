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
  /** 20 bytes for an account, 32 for a slot. */
  key: Hex
  /** From 2 up to 2^40. */
  leafIndex: number
  /** The path of its leaf. */
  proof: Proof
}

/** A leaf proof of a key that does not exist: its two neighbours in the sorted list. */
export interface NonExistenceProof {
  /** 20 bytes for an account, 32 for a slot. */
  key: Hex
  /** Of the neighbour with the next smaller key hash; 0 is HEAD. */
  leftLeafIndex: number
  /** The path of that neighbour. */
  leftProof: Proof
  /** Of the neighbour with the next larger key hash; 1 is TAIL. */
  rightLeafIndex: number
  /** The path of that neighbour. */
  rightProof: Proof
}

/** `key` is the address, 20 bytes. */
export type AccountProof = ExistenceProof | NonExistenceProof
/** `key` is the storage key, 32 bytes. */
export type StorageProof = ExistenceProof | NonExistenceProof

/** The result of `rollup_getProof` (on the Linea network `linea_getProof`): section 6 of the tree format. */
export interface GetProofResult {
  /** Of the account asked for. */
  accountProof: AccountProof
  /** One a requested key; empty, or null in each place, when the account is absent or has no storage. */
  storageProofs: (StorageProof | null)[]
}
