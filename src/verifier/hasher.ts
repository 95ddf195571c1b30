import type { Hasher } from '../hash/hasher.ts'

/** In bytes: a digest, and the longest message that the table holds, a leaf opening of poseidon2. */
const [DIGEST, LONGEST] = [32, 192]
/** The size of a message in the table, in words of 4 bytes. */
const STRIDE = LONGEST / 4

/** The path that was folded last. */
interface Fold {
  siblings: readonly Uint8Array[]
  leafIndex: number
  /** The running digest at each level, then the top. */
  readonly running: Uint8Array[]
}

/**
 * Wraps `hasher` with a bounded memory of the digests of inner nodes and leaves. The results are the same.
 *
 * @param places how many digests fit: a power of two; about 400 bytes each
 */
export function rememberingHasher(hasher: Hasher, places: number): Hasher {
  const memory = createMemory(places)
  const last: Fold = { siblings: [], leafIndex: 0, running: [] }
  // Nobody modifies a message once it is hashed, so the same array has the same digest.
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
      // Messages that are not in the memory are hashed in one batch.
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
        // Where the digest is not known yet, the message holds its place.
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
      // `running` is overwritten below: if this fold fails, the next one must not reuse it.
      last.siblings = []
      let digest = leafDigest
      let rest = leafIndex
      for (let level = 0; level < siblings.length; level++) {
        if (level >= meeting && digest === running[level]) {
          // From here up, the digest, the siblings and the sides are those of the last fold, and so is the top.
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

/** The level from which both paths have the same siblings on the same sides. */
function meetingLevel(last: Fold, siblings: readonly Uint8Array[], leafIndex: number): number {
  let level = siblings.length
  while (level > 0 && last.siblings[level - 1] === siblings[level - 1]) level--
  const placeOf = (index: number) => Math.floor(index / 2 ** level)
  while (placeOf(last.leafIndex) !== placeOf(leafIndex)) level++
  return level
}

/**
 * A table of digests, of fixed size. A fingerprint of a message selects its place, and a later message with the same place
 * replaces it. A digest is found only if the whole message is equal.
 */
interface Memory {
  /** A buffer for one message. Write the message here first: `find` and `put` use the first `length` bytes. */
  readonly message: Uint8Array
  find(length: number): Uint8Array | undefined
  put(length: number, digest: Uint8Array): void
}

function createMemory(places: number): Memory {
  /** Words are in the platform's byte order, which is enough to compare and copy them. */
  const messages = new Uint32Array(places * STRIDE)
  const lengths = new Uint8Array(places)
  // Filled, because reading a hole consults Array.prototype, which may be polluted.
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

/** Mixes the last words of the last two digests, which look random. A collision costs only time. */
function fingerprint(words: Uint32Array, length: number): number {
  const mixed = Math.imul(words[length - 1] ?? 0, 0x9e3779b1) ^ Math.imul(words[length - 9] ?? 0, 0x85ebca6b)
  return mixed ^ (mixed >>> 15)
}
