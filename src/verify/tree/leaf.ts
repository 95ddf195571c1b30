import { byteAt, bytesToBigint } from '../../base/bytes.ts'
import { ProofError, refusal } from '../../base/errors.ts'
import type { HashScheme } from '../scheme/scheme.ts'

// Each check of this file is a rule of test/soundness/Rules.v.

/** Levels between a leaf and the sub-root; leaf indices are below 2^40. */
export const TREE_DEPTH = 40
export const MAX_LEAVES = 2 ** TREE_DEPTH
/** The index of the smallest leaf of the list, whose key hash is 32 zero bytes. */
export const HEAD_INDEX = 0
/** The index of the largest leaf of the list, whose key hash is `scheme.tailKey()`. */
export const TAIL_INDEX = 1
/** Length in bytes of a digest: a key hash, value hash, sub-root or root. */
export const DIGEST_LENGTH = 32

/** The digest of a missing leaf, and the value hash of HEAD and TAIL. A new array per call, because bytes cannot be frozen. */
export const zeroDigest = (): Uint8Array => new Uint8Array(DIGEST_LENGTH)

/** The content of a leaf in the sorted linked list. */
export interface Leaf {
  /** Index of the leaf with the next smaller key hash (HEAD: itself). */
  readonly prev: number
  /** Index of the leaf with the next larger key hash (TAIL: itself). */
  readonly next: number
  /** Hashes of the key and of the value, 32 bytes each. */
  readonly hKey: Uint8Array
  readonly hVal: Uint8Array
}

/** A leaf of a proof, with the message whose hash is its digest. */
export interface LeafNode extends Leaf {
  readonly opening: Uint8Array
}

/** Length in bytes of a leaf opening: 128 (mimc) or 192 (poseidon2). */
export const openingLength = ({ wordLength }: Pick<HashScheme, 'wordLength'>): number =>
  2 * wordLength + 2 * DIGEST_LENGTH

/** Tree format, "The messages": an opening is `word(prev) || word(next) || hKey || hVal`, the preimage of the leaf's digest. */
export function decodeOpening(scheme: HashScheme, opening: Uint8Array): LeafNode {
  const { wordLength } = scheme
  const digests = 2 * wordLength
  return {
    opening,
    prev: decodeIndexWord(scheme, opening.subarray(0, wordLength), MAX_LEAVES),
    next: decodeIndexWord(scheme, opening.subarray(wordLength, digests), MAX_LEAVES),
    hKey: opening.subarray(digests, digests + DIGEST_LENGTH),
    hVal: opening.subarray(digests + DIGEST_LENGTH),
  }
}

/** Inverse of `word(index)`. @param limit exclusive upper bound of the index, at most 2^53 */
export function decodeIndexWord(scheme: HashScheme, word: Uint8Array, limit: number): number {
  const x = scheme.decodeWord(word)
  if (x === null) throw new ProofError('NON_CANONICAL', { found: 'stray bytes in an index word' })
  // Inexact above 2^53, but no such index is below the limit, even when rounded.
  let index = 0
  for (let byte = 0; byte < 32; byte++) index = index * 256 + byteAt(x, byte)
  if (index >= limit) throw refusal('INDEX_OUT_OF_RANGE', `below ${limit}`, bytesToBigint(x))
  return index
}

/** Tree format, "What a verifier must check": a hash that reduces silently would give two encodings the same digest. */
export function verifyCanonical(scheme: HashScheme, bytes: Uint8Array): void {
  if (!scheme.isCanonical(bytes)) throw new ProofError('NON_CANONICAL', { found: 'a field element not reduced' })
}
