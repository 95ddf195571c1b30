import type { Hasher } from '../hash/hasher.ts'
import { hashUnknown } from './hash-unknown.ts'
import { meetingLevel } from './shared-nodes.ts'

/** In bytes: a digest, and the longest message that the table holds, a leaf opening of poseidon2. */
const [DIGEST, LONGEST] = [32, 192]
/** The same in words of 4 bytes. */
const [DIGEST_WORDS, LONGEST_WORDS] = [DIGEST / 4, LONGEST / 4]
/** The longest path whose running digests are kept. */
const MAX_LEVELS = 40

/** The path that was folded last. */
interface Fold {
  siblings: readonly Uint8Array[]
  leafIndex: number
  /** The running digest at each level, then the top. */
  readonly running: Uint32Array
}

/**
 * Wraps `hasher` with a memory of the digests of inner nodes and leaves. The results are the same.
 *
 * The memory is one table of fixed size. Digests leave it as copies: an array per digest would live long enough to reach the
 * engine's old generation, whose garbage is collected late.
 *
 * @param places how many digests fit: a power of two; 225 bytes each
 */
export function rememberingHasher(hasher: Hasher, places: number): Hasher {
  const memory = createMemory(places)
  const { message, digest } = memory
  // Nobody modifies a message, or an array of messages or siblings, once it was passed here: the same array has the same digests.
  let lastBatch: { readonly messages: readonly Uint8Array[]; readonly digests: Uint8Array[] } = {
    messages: [],
    digests: [],
  }
  let lastLong: { readonly message: Uint8Array; readonly digest: Uint8Array } | null = null

  /** Makes `digest` that of the first `length` bytes of `message`. */
  function locate(length: number): void {
    if (memory.find(length)) return
    digest.bytes.set(hasher.hash(message.bytes.subarray(0, length)))
    memory.put(length)
  }

  const fold = rememberingFold(memory, locate)

  function hash(bytes: Uint8Array): Uint8Array {
    if (bytes.length <= LONGEST) {
      message.bytes.set(bytes)
      locate(bytes.length)
      return digest.bytes.slice()
    }
    if (lastLong?.message !== bytes) lastLong = { message: bytes, digest: hasher.hash(bytes) }
    return lastLong.digest
  }

  return {
    hash,
    hashBatch(messages) {
      if ((messages[0]?.length ?? 0) > LONGEST) return hasher.hashBatch(messages)
      const { messages: lastMessages, digests: lastDigests } = lastBatch
      const recall = (bytes: Uint8Array, index: number) => {
        if (bytes === lastMessages[index]) return lastDigests[index]
        message.bytes.set(bytes)
        return memory.find(bytes.length) ? digest.bytes.slice() : undefined
      }
      const digests = hashUnknown(messages, recall, unknown => {
        const computed = hasher.hashBatch(unknown)
        for (const [index, one] of computed.entries()) {
          const bytes = unknown[index] ?? one
          message.bytes.set(bytes)
          digest.bytes.set(one)
          memory.put(bytes.length)
        }
        return computed
      })
      lastBatch = { messages, digests }
      return digests
    },
    foldPath(leafDigest, siblings, leafIndex) {
      const isLong = siblings.length > MAX_LEVELS
      return isLong ? hasher.foldPath(leafDigest, siblings, leafIndex) : fold(leafDigest, siblings, leafIndex)
    },
  }
}

/**
 * Folds paths of at most {@link MAX_LEVELS} levels, each no further than to where it meets the last one.
 *
 * @param locate makes `digest` of the memory that of the first `length` bytes of `message`
 */
function rememberingFold({ message, digest }: Memory, locate: (length: number) => void): Hasher['foldPath'] {
  const last: Fold = { siblings: [], leafIndex: 0, running: new Uint32Array((MAX_LEVELS + 1) * DIGEST_WORDS) }
  return (leafDigest, siblings, leafIndex) => {
    const levels = siblings.length
    const meeting = meetingLevel(last, siblings, leafIndex)
    const { running } = last
    // `running` is overwritten below: if this fold fails, the next one must not reuse it.
    last.siblings = []
    digest.bytes.set(leafDigest)
    let rest = leafIndex
    for (let level = 0; level < levels; level++) {
      const kept = level * DIGEST_WORDS
      if (level >= meeting && equalWords(digest.words, 0, running, kept, DIGEST_WORDS)) {
        // From here up, the digest, the siblings and the sides are those of the last fold, and so is the top.
        copyWords(running, levels * DIGEST_WORDS, digest.words, 0, DIGEST_WORDS)
        break
      }
      copyWords(digest.words, 0, running, kept, DIGEST_WORDS)
      const isRight = rest % 2
      copyWords(digest.words, 0, message.words, isRight * DIGEST_WORDS, DIGEST_WORDS)
      message.bytes.set(siblings[level] ?? [], (1 - isRight) * DIGEST)
      locate(2 * DIGEST)
      rest = (rest - isRight) / 2
    }
    copyWords(digest.words, 0, running, levels * DIGEST_WORDS, DIGEST_WORDS)
    last.siblings = siblings
    last.leafIndex = leafIndex
    return digest.bytes.slice()
  }
}

/** Words are in the platform's byte order, which is enough to compare and copy them. */
interface Buffered {
  readonly words: Uint32Array
  /** The same memory. */
  readonly bytes: Uint8Array
}

function createBuffered(words: number): Buffered {
  const buffer = new ArrayBuffer(words * 4)
  return { words: new Uint32Array(buffer), bytes: new Uint8Array(buffer) }
}

/**
 * A table of digests, of fixed size. A fingerprint of a message selects its place, and a later message with the same place
 * replaces it. A digest is found only if the whole message is equal.
 */
interface Memory {
  /** One message. Write it here first: `find` and `put` use the first `length` bytes. */
  readonly message: Buffered
  /** Its digest. */
  readonly digest: Buffered
  /** Reads the digest from the table, or returns false. */
  find(length: number): boolean
  /** Writes the message and the digest to the table. */
  put(length: number): void
}

function createMemory(places: number): Memory {
  const [message, digest] = [createBuffered(LONGEST_WORDS), createBuffered(DIGEST_WORDS)]
  // No message has the length 255.
  const lengths = new Uint8Array(places).fill(255)
  /** At each place, a message and its digest. */
  const table = new Uint32Array(places * (LONGEST_WORDS + DIGEST_WORDS))
  const placeOf = (length: number) => fingerprint(message.words, length / 4) & (places - 1)
  return {
    message,
    digest,
    find(length) {
      const place = placeOf(length)
      const start = place * (LONGEST_WORDS + DIGEST_WORDS)
      if (lengths[place] !== length || !equalWords(message.words, 0, table, start, length / 4)) return false
      copyWords(table, start + LONGEST_WORDS, digest.words, 0, DIGEST_WORDS)
      return true
    },
    put(length) {
      const place = placeOf(length)
      const start = place * (LONGEST_WORDS + DIGEST_WORDS)
      lengths[place] = length
      copyWords(message.words, 0, table, start, length / 4)
      copyWords(digest.words, 0, table, start + LONGEST_WORDS, DIGEST_WORDS)
    },
  }
}

function equalWords(one: Uint32Array, start: number, other: Uint32Array, otherStart: number, count: number): boolean {
  for (let index = 0; index < count; index++) {
    if (one[start + index] !== other[otherStart + index]) return false
  }
  return true
}

function copyWords(from: Uint32Array, start: number, to: Uint32Array, toStart: number, count: number): void {
  for (let index = 0; index < count; index++) to[toStart + index] = from[start + index] ?? 0
}

/** Mixes the last words of the last two digests, which look random. A collision costs only time. */
function fingerprint(words: Uint32Array, length: number): number {
  const mixed = Math.imul(words[length - 1] ?? 0, 0x9e3779b1) ^ Math.imul(words[length - 9] ?? 0, 0x85ebca6b)
  return mixed ^ (mixed >>> 15)
}
