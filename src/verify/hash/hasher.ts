import { concatBytes } from '../../base/bytes.ts'

/**
 * One of the rollup's hash functions. The last two are batch forms of `hash`, so that an implementation can do the work of a whole
 * path in one call.
 * Messages must be canonical: the functions may reduce silently, so the caller checks first. Digests are 32 bytes, and must
 * not be modified: a hasher may return the same array again.
 */
export interface Hasher {
  /** H(message). @param message a multiple of 32 bytes for mimc, of 4 bytes for poseidon2 */
  hash(message: Uint8Array): Uint8Array
  /** The digest of each message, in order. @param messages all of one length */
  hashBatch(messages: readonly Uint8Array[]): Uint8Array[]
  /**
   * Folds a leaf's digest with its siblings, lowest level first, into the top of the tree. At level i the running digest is the right
   * child if bit i of `leafIndex`, a safe integer, is 1, else the left child; it becomes H(left || right).
   */
  foldPath(digest: Uint8Array, siblings: readonly Uint8Array[], leafIndex: number): Uint8Array
}

export const hasherOf = (hash: (message: Uint8Array) => Uint8Array): Hasher => ({
  hash,
  hashBatch: messages => messages.map(hash),
  foldPath: (leafDigest, siblings, leafIndex) =>
    siblings.reduce((digest, sibling, level) => {
      // Division instead of a shift, because leaf indices can exceed 2^32.
      const isRight = Math.floor(leafIndex / 2 ** level) % 2 === 1
      return hash(isRight ? concatBytes(sibling, digest) : concatBytes(digest, sibling))
    }, leafDigest),
})
