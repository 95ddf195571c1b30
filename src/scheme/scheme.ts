import type { Hasher } from '../hash/hasher.ts'

/**
 * All that sets one hash scheme of the rollup apart from the other. The tree and the proofs are the same for both.
 *
 * Pass one of the two that exist: `mimc` from `rollup-state-proof/mimc`, `poseidon2` from `rollup-state-proof/poseidon2`.
 */
export interface Scheme {
  /** As evidence bundles, vectors and the command line spell it. */
  readonly name: 'mimc' | 'poseidon2'
  /** The hash function H. Made on first use. */
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
   * `word(x)`: a small integer, as it is hashed. Of `wordLength` bytes.
   *
   * @param x 32 bytes, big-endian
   */
  word(x: Uint8Array): Uint8Array
  /**
   * The 32 bytes that a word was made of, or null when stray bytes show that it was not made by `word`.
   *
   * @param word of `wordLength` bytes
   */
  unword(word: Uint8Array): Uint8Array | null
  /**
   * `full(x)`: 32 bytes that may hold any value, as they are hashed: 64 bytes.
   *
   * @param x 32 bytes
   */
  full(x: Uint8Array): Uint8Array
  /**
   * `address(a)`: an address, as it is hashed: 32 bytes (mimc) or 40 (poseidon2).
   *
   * @param a 20 bytes
   */
  address(a: Uint8Array): Uint8Array
  /** The key of TAIL, 32 bytes: no key hash is larger. */
  largestKey(): Uint8Array
}

/** `make`, called once, when its value is first asked for. */
export function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
