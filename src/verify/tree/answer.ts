import type { Hex } from '../../base/bytes.ts'

/** The path of one leaf, as served: see "The proof" in the tree format. */
export interface Proof {
  /** The value of the leaf: 192 bytes for an account, 32 for a slot, 32 zero bytes for HEAD and TAIL. */
  value: Hex
  /** 42 nodes, root first. */
  proofRelatedNodes: Hex[]
}

/** A leaf proof of a key that exists. */
export interface ExistenceProof {
  /** 20 bytes for an account, 32 for a slot. */
  key: Hex
  /** From 2 to 2^40 - 1. */
  leafIndex: number
  /** The path of its leaf. */
  proof: Proof
}

/** A leaf proof of a key that does not exist: its two neighbours in the sorted list. */
export interface NonExistenceProof {
  /** 20 bytes for an account, 32 for a slot. */
  key: Hex
  /** Index of the neighbour with the next smaller key hash; 0 is HEAD. */
  leftLeafIndex: number
  /** The path of that neighbour. */
  leftProof: Proof
  /** Index of the neighbour with the next larger key hash; 1 is TAIL. */
  rightLeafIndex: number
  /** The path of that neighbour. */
  rightProof: Proof
}

/** The result of `rollup_getProof` (on the Linea networks `linea_getProof`): see "The proof" in the tree format. */
export interface GetProofResult {
  /** The proof of the requested account. */
  accountProof: ExistenceProof | NonExistenceProof
  /** One per requested key. Empty, or null for each key, if the account does not exist or has no storage. */
  storageProofs: (ExistenceProof | NonExistenceProof | null)[]
}
