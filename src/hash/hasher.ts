import { concatBytes } from '../bytes.ts'

/**
 * One of the rollup's hash functions, in the three forms that verification needs. The last two say no more than `hash`
 * does; they exist so that an implementation can do the work of a whole path in one call.
 *
 * Messages must be canonical: the functions may reduce silently, so whoever calls them checks first. Digests are 32 bytes,
 * and nobody changes one: a hasher may give out the same array again.
 */
export interface Hasher {
  /**
   * H(message).
   *
   * @param message of a multiple of 32 bytes for mimc, of 4 for poseidon2
   */
  hash(message: Uint8Array): Uint8Array
  /**
   * The digests of messages, in their order.
   *
   * @param messages all of one length
   */
  hashEach(messages: readonly Uint8Array[]): Uint8Array[]
  /**
   * Climbs from a digest past its siblings. At level i the running digest is the right child when bit i of `position` is
   * 1, else the left; it becomes H(left || right).
   *
   * @param digest where to start
   * @param siblings digests too, lowest level first
   * @param position a safe integer
   */
  climb(digest: Uint8Array, siblings: readonly Uint8Array[], position: number): Uint8Array
}

/** The plain meaning of the two longer forms, on top of any `hash`. */
export function hasherOf(hash: (message: Uint8Array) => Uint8Array): Hasher {
  return {
    hash,
    hashEach: messages => messages.map(hash),
    climb(digest, siblings, position) {
      let running = digest
      for (const [level, sibling] of siblings.entries()) {
        // Division, not a shift: positions pass 2^32.
        const isRight = Math.floor(position / 2 ** level) % 2 === 1
        running = hash(isRight ? concatBytes(sibling, running) : concatBytes(running, sibling))
      }
      return running
    },
  }
}
