import type { Hex } from '../bytes.ts'
import type { Hasher } from '../hash/hasher.ts'

/**
 * Everything that differs between the hash schemes of the rollup. They share the tree and the proofs.
 *
 * Pass one of the two that exist: `mimc` from `rollup-state-proof/mimc`, `poseidon2` from `rollup-state-proof/poseidon2`.
 */
export interface Scheme {
  /** The name in evidence bundles, vectors and command lines. */
  readonly name: 'mimc' | 'poseidon2'
  /** The hash function H, created on first use. */
  readonly hasher: Hasher
  /** Length in bytes of a small integer or index inside a hashed message: 32 (mimc) or 64 (poseidon2). */
  readonly wordLength: number
  /**
   * Whether every field element in `bytes` is reduced.
   *
   * @param bytes digests and words: a multiple of 32 bytes
   */
  isCanonical(bytes: Uint8Array): boolean
  /**
   * `word(x)` of the tree format: encodes a small integer for hashing, in `wordLength` bytes.
   *
   * @param x 32 bytes, big-endian
   */
  encodeWord(x: Uint8Array): Uint8Array
  /**
   * Inverse of `encodeWord`: 32 bytes, or null if `encodeWord` cannot produce this word.
   *
   * @param word `wordLength` bytes
   */
  decodeWord(word: Uint8Array): Uint8Array | null
  /**
   * `full(x)` of the tree format: encodes any 32 bytes for hashing, in 64 bytes.
   *
   * @param x 32 bytes
   */
  encodeBytes32(x: Uint8Array): Uint8Array
  /**
   * `address(a)` of the tree format: encodes an address for hashing, in 32 bytes (mimc) or 40 bytes (poseidon2).
   *
   * @param a 20 bytes
   */
  encodeAddress(a: Uint8Array): Uint8Array
  /** The key hash of TAIL, 32 bytes: no key hash is larger. A new array per call. */
  tailKey(): Uint8Array
  /** The root of a tree with only HEAD and TAIL, 32 bytes: the storage root of an account without storage. */
  readonly emptyTreeRoot: Hex
}
