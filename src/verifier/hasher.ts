import type { Hasher } from '../hash/hasher.ts'

/** In bytes: a digest; the longest message that is remembered, a leaf. */
const [DIGEST, LONGEST] = [32, 192]
/** In words of 4 bytes. */
const STRIDE = LONGEST / 4

/** The last path that was folded. */
interface Fold {
  siblings: readonly Uint8Array[]
  leafIndex: number
  /** The digest at each level, and the top. */
  readonly running: Uint8Array[]
}

/**
 * A hasher that remembers digests of inner nodes and leaves, in a memory that is bounded. Its answers are those of `hasher`.
 *
 * @param places how many digests are remembered: a power of two; about 400 bytes each
 */
export function rememberingHasher(hasher: Hasher, places: number): Hasher {
  const memory = createMemory(places)
  const last: Fold = { siblings: [], leafIndex: 0, running: [] }
  // Nobody changes a message that was hashed, so the same array at the same place has the same digest.
  let lastBatch: { readonly messages: readonly Uint8Array[]; readonly digests: Uint8Array[] } = {
    messages: [],
    digests: [],
  }
  let lastLong: { readonly message: Uint8Array; readonly digest: Uint8Array } | null = null

  /** The digest of the first `length` bytes of the memory's message. */
  function locate(length: number): Uint8Array {
    const found = memory.find(length)
    if (found !== undefined) return found
    const digest = hasher.hash(memory.message.subarray(0, length))
    memory.put(length, digest)
    return digest
  }

  function hash(message: Uint8Array): Uint8Array {
    if (message.length <= LONGEST) {
      memory.message.set(message)
      return locate(message.length)
    }
    if (lastLong?.message !== message) lastLong = { message, digest: hasher.hash(message) }
    return lastLong.digest
  }

  function hashPair(left: Uint8Array, right: Uint8Array): Uint8Array {
    memory.message.set(left)
    memory.message.set(right, DIGEST)
    return locate(2 * DIGEST)
  }

  return {
    hash,
    hashBatch(messages) {
      if ((messages[0]?.length ?? 0) > LONGEST) return hasher.hashBatch(messages)
      const digests: Uint8Array[] = []
      // What is not remembered is hashed all at once.
      const unknown: Uint8Array[] = []
      const places: number[] = []
      const { messages: lastMessages, digests: lastDigests } = lastBatch
      for (const message of messages) {
        const index = digests.length
        let digest = lastDigests[index]
        if (digest === undefined || message !== lastMessages[index]) {
          memory.message.set(message)
          digest = memory.find(message.length)
          if (digest === undefined) {
            unknown.push(message)
            places.push(index)
          }
        }
        // A place for those that are hashed below.
        digests.push(digest ?? message)
      }
      if (unknown.length > 0) {
        for (const [index, digest] of hasher.hashBatch(unknown).entries()) {
          const message = unknown[index] ?? digest
          memory.message.set(message)
          memory.put(message.length, digest)
          digests[places[index] ?? 0] = digest
        }
      }
      lastBatch = { messages, digests }
      return digests
    },
    foldPath(leafDigest, siblings, leafIndex) {
      const meeting = meetingLevel(last, siblings, leafIndex)
      const { running } = last
      // Until this fold is done, there is none to go by.
      last.siblings = []
      let digest = leafDigest
      let rest = leafIndex
      for (let level = 0; level < siblings.length; level++) {
        if (level >= meeting && digest === running[level]) {
          // The same digest at the same place, and nothing else above it: the rest of the way is that of the last fold.
          digest = running[siblings.length] ?? digest
          break
        }
        running[level] = digest
        const sibling = siblings[level] ?? digest
        const isRight = rest % 2
        digest = isRight === 1 ? hashPair(sibling, digest) : hashPair(digest, sibling)
        rest = (rest - isRight) / 2
      }
      running[siblings.length] = digest
      last.siblings = siblings
      last.leafIndex = leafIndex
      return digest
    },
  }
}

/** From which level on two paths have the same siblings on the same sides. */
function meetingLevel(last: Fold, siblings: readonly Uint8Array[], leafIndex: number): number {
  let level = siblings.length
  while (level > 0 && last.siblings[level - 1] === siblings[level - 1]) level--
  const placeOf = (index: number) => Math.floor(index / 2 ** level)
  while (placeOf(last.leafIndex) !== placeOf(leafIndex)) level++
  return level
}

/**
 * Digests of messages, in a table that does not grow. Each message has one place, found by a few of its words, and the
 * next message there takes it over; a digest is found only when the whole message is the same.
 */
interface Memory {
  /** To be written first: the other two are about the message of `length` bytes that it begins with. */
  readonly message: Uint8Array
  find(length: number): Uint8Array | undefined
  put(length: number, digest: Uint8Array): void
}

function createMemory(places: number): Memory {
  /** In the platform's byte order: words are only compared and copied. */
  const messages = new Uint32Array(places * STRIDE)
  const lengths = new Uint8Array(places)
  // Filled: the holes of an array show what stands on a polluted prototype.
  const digests = new Array<Uint8Array | undefined>(places).fill(undefined)
  const words = new Uint32Array(STRIDE)
  const placeOf = (length: number) => fingerprint(words, length / 4) & (places - 1)
  return {
    message: new Uint8Array(words.buffer),
    find(length) {
      const place = placeOf(length)
      if (lengths[place] !== length) return undefined
      for (let index = 0; index < length / 4; index++) {
        if (messages[place * STRIDE + index] !== words[index]) return undefined
      }
      return digests[place]
    },
    put(length, digest) {
      const place = placeOf(length)
      lengths[place] = length
      for (let index = 0; index < length / 4; index++) messages[place * STRIDE + index] = words[index] ?? 0
      digests[place] = digest
    },
  }
}

/** The last words of the last two digests, which look random, tell messages apart. Nothing but speed rests on it. */
function fingerprint(words: Uint32Array, length: number): number {
  const mixed = Math.imul(words[length - 1] ?? 0, 0x9e3779b1) ^ Math.imul(words[length - 9] ?? 0, 0x85ebca6b)
  return mixed ^ (mixed >>> 15)
}
