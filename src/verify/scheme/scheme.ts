import { invalid } from '../../base/arguments.ts'
import type { Hex } from '../../base/bytes.ts'
import { atPath } from '../../base/errors.ts'
import type { Hasher } from '../hash/hasher.ts'

/** Marks a scheme of this package, in any copy of it. The number changes when the members of {@link HashScheme} do. */
const genuine: unique symbol = /* @__PURE__ */ Symbol.for('rollup-state-proof/scheme/1')

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
  /** Whether every field element is reduced. @param bytes digests and words: a multiple of 32 bytes */
  isCanonical(bytes: Uint8Array): boolean
  /** `word(x)` of the tree format: 32 bytes, a small big-endian integer, as `wordLength` bytes for hashing. */
  encodeWord(x: Uint8Array): Uint8Array
  /** Inverse of `encodeWord`: 32 bytes, or null if `encodeWord` cannot produce this word. */
  decodeWord(word: Uint8Array): Uint8Array | null
  /** `full(x)` of the tree format: any 32 bytes as 64 bytes for hashing. */
  encodeBytes32(x: Uint8Array): Uint8Array
  /** `address(a)` of the tree format: 20 bytes as 32 (mimc) or 40 (poseidon2) for hashing. */
  encodeAddress(a: Uint8Array): Uint8Array
  /** The key hash of TAIL, 32 bytes: no key hash is larger. A new array per call. */
  tailKey(): Uint8Array
  /** The root of a tree with only HEAD and TAIL, 32 bytes: the storage root of an account without storage. */
  readonly emptyTreeRoot: Hex
}

/** Makes a scheme that {@link hashSchemeOf} accepts, and that nobody can change. */
export const createScheme = (parts: Omit<HashScheme, typeof genuine>): HashScheme =>
  // It names itself, so that neither a copy of it nor an object that inherits from it is genuine.
  Object.freeze(Object.defineProperty(parts, genuine, { value: parts }) as HashScheme)

const importOf = (name: Scheme['name']) => `${name} of 'rollup-state-proof/${name}'`

/** What a scheme consists of. @throws ArgumentError unless it is `mimc` or `poseidon2` of any copy of this package */
export function hashSchemeOf(scheme: Scheme): HashScheme {
  try {
    if (scheme && scheme[genuine] === scheme) return scheme as HashScheme
  } catch {
    // A proxy can throw anything.
  }
  return atPath('scheme', () => {
    throw invalid('', `the object ${importOf('poseidon2')} or ${importOf('mimc')}`, scheme)
  })
}
