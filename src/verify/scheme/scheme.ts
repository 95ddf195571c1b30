import type { Hex } from '../../base/bytes.ts'
import type { Hasher } from '../hash/hasher.ts'

/** Marks a scheme of this package, in any copy of it. The number changes when the members of {@link HashScheme} do. */
export const genuine: unique symbol = /* @__PURE__ */ Symbol.for('rollup-state-proof/scheme/1')

/**
 * A hash scheme of the rollup. There are two: `mimc` from `rollup-state-proof/mimc`, `poseidon2` from
 * `rollup-state-proof/poseidon2`. Nothing else is accepted in their place.
 */
export interface Scheme {
  /** The name in evidence bundles, vectors and command lines. */
  readonly name: 'mimc' | 'poseidon2'
  /** The scheme itself: a copy with another member is not genuine. */
  readonly [genuine]: Scheme
}

/** Everything that differs between the hash schemes. They share the tree and the proofs. */
export interface HashScheme extends Scheme {
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
