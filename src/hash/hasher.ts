import { concatBytes } from '../bytes.ts'

/**
 * One of the rollup's hash functions, in the three forms that verification needs. The last two say no more than `hash`
 * does; they exist so that an implementation can do the work of a whole path in one call.
 *
 * Messages must be canonical: the functions may reduce silently, so whoever calls them checks first.
 */
export interface Hasher {
  /** H(message), 32 bytes. The message's length is a multiple of 32 bytes for mimc and of 4 for poseidon2. */
  hash(message: Uint8Array): Uint8Array
  /** The digests of `messages.length / length` messages that stand side by side, each `length` bytes; side by side too. */
  hashEach(messages: Uint8Array, length: number): Uint8Array
  /**
   * Climbs from `digest` (32 bytes) past `siblings` (32 bytes each, lowest level first). At level i the running digest
   * is the right child when bit i of `position` (a safe integer) is 1, else the left; it becomes H(left || right).
   */
  climb(digest: Uint8Array, siblings: Uint8Array, position: number): Uint8Array
}

/** The plain meaning of the two longer forms, on top of any `hash`. */
export function hasherOf(hash: (message: Uint8Array) => Uint8Array): Hasher {
  return {
    hash,
    hashEach(messages, length) {
      const digests = new Uint8Array((messages.length / length) * 32)
      for (let index = 0; index * length < messages.length; index++) {
        digests.set(hash(messages.subarray(index * length, (index + 1) * length)), index * 32)
      }
      return digests
    },
    climb(digest, siblings, position) {
      let running = digest
      for (let level = 0; level * 32 < siblings.length; level++) {
        const sibling = siblings.subarray(level * 32, (level + 1) * 32)
        // Division, not a shift: positions pass 2^32.
        const isRight = Math.floor(position / 2 ** level) % 2 === 1
        running = hash(isRight ? concatBytes(sibling, running) : concatBytes(running, sibling))
      }
      return running
    },
  }
}
