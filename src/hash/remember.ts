import { type Hasher, hasherOf } from './hasher.ts'

/** In words of 4 bytes: a digest; the two digests of an inner node; the longest message of a proof, an account value. */
const [DIGEST, PAIR, LONGEST] = [8, 16, 80]

/**
 * Digests of messages, in a table that does not grow. Each message has one place, found by a few of its words, and the
 * next message there takes it over; a digest is found only when the whole message is the same.
 *
 * Words are in the platform's byte order: they are only compared and copied.
 */
interface Memory {
  /** The message that is looked for: the same memory, as words and as bytes. */
  readonly words: Uint32Array
  readonly bytes: Uint8Array
  /** Where digests are found: the same memory, as words and as bytes. */
  readonly table: Uint32Array
  readonly tableBytes: Uint8Array
  /** Index of the digest of the first `length` words, or -1. */
  find(length: number): number
  /** Remembers the digest of the first `length` words, 32 bytes, and returns its index. */
  put(length: number, digest: Uint8Array): number
}

/**
 * A hasher that remembers digests in a memory that is bounded. Its answers are those of `hasher`.
 *
 * @param pairPlaces how many inner nodes are remembered: a power of two; 96 bytes each
 * @param longPlaces how many other messages of up to 320 bytes: a power of two; 352 bytes each
 */
export function rememberingHasher(hasher: Hasher, pairPlaces: number, longPlaces: number): Hasher {
  const pairs = createMemory(pairPlaces, PAIR)
  const longs = createMemory(longPlaces, LONGEST)
  /** Where a climb starts, as words and as bytes. */
  const first = new Uint32Array(DIGEST)
  const firstBytes = new Uint8Array(first.buffer)

  /** Index of the digest of the first `length` words in the memory. */
  function locate(memory: Memory, length: number): number {
    const found = memory.find(length)
    return found < 0 ? memory.put(length, hasher.hash(memory.bytes.subarray(0, 4 * length))) : found
  }

  function hash(message: Uint8Array): Uint8Array {
    const length = message.length / 4
    if (length > LONGEST) return hasher.hash(message)
    const memory = length === PAIR ? pairs : longs
    memory.bytes.set(message)
    const digest = 4 * locate(memory, length)
    return memory.tableBytes.slice(digest, digest + 4 * DIGEST)
  }

  return {
    hash,
    hashEach: (messages, length) =>
      length === 4 * PAIR ? hashPairs(hasher, pairs, messages) : hasherOf(hash).hashEach(messages, length),
    climb(digest, siblings, position) {
      const { words, table, tableBytes } = pairs
      // Aligned, so that they can be read as words. Views of them cost nothing, for they are longer than 64 bytes.
      const { buffer, byteOffset } = siblings.byteOffset % 4 === 0 ? siblings : siblings.slice()
      const siblingWords = new Uint32Array(buffer, byteOffset, siblings.length / 4)
      firstBytes.set(digest)
      let [running, start]: [Uint32Array, number] = [first, 0]
      let rest = position
      for (let sibling = 0; sibling < siblingWords.length; sibling += DIGEST) {
        const isRight = rest % 2
        const own = DIGEST * isRight
        for (let index = 0; index < DIGEST; index++) {
          words[own + index] = wordAt(running, start + index)
          words[DIGEST - own + index] = wordAt(siblingWords, sibling + index)
        }
        start = locate(pairs, PAIR)
        running = table
        rest = (rest - isRight) / 2
      }
      return running === first ? digest : tableBytes.slice(4 * start, 4 * (start + DIGEST))
    },
  }
}

/** What is not remembered is hashed all at once. */
function hashPairs(hasher: Hasher, memory: Memory, messages: Uint8Array): Uint8Array {
  const { bytes, tableBytes } = memory
  const digests = new Uint8Array(messages.length / 2)
  const unknown: number[] = []
  for (let start = 0; start < messages.length; start += 4 * PAIR) {
    bytes.set(messages.subarray(start, start + 4 * PAIR))
    const found = 4 * memory.find(PAIR)
    if (found < 0) unknown.push(start)
    else digests.set(tableBytes.subarray(found, found + 4 * DIGEST), start / 2)
  }
  const unknownMessages = new Uint8Array(unknown.length * 4 * PAIR)
  const messageAt = (start: number) => messages.subarray(start, start + 4 * PAIR)
  unknown.forEach((start, index) => {
    unknownMessages.set(messageAt(start), index * 4 * PAIR)
  })
  const unknownDigests = hasher.hashEach(unknownMessages, 4 * PAIR)
  unknown.forEach((start, index) => {
    const digest = unknownDigests.subarray(index * 4 * DIGEST, (index + 1) * 4 * DIGEST)
    digests.set(digest, start / 2)
    bytes.set(messageAt(start))
    memory.put(PAIR, digest)
  })
  return digests
}

function createMemory(places: number, longest: number): Memory {
  const stride = longest + DIGEST
  const table = new Uint32Array(places * stride)
  const tableBytes = new Uint8Array(table.buffer)
  const words = new Uint32Array(longest)
  /** Of the message in each place, and one more: zero where there is none. */
  const lengths = new Uint8Array(places)

  const placeOf = (length: number): number => fingerprint(words, length) & (places - 1)

  return {
    words,
    bytes: new Uint8Array(words.buffer),
    table,
    tableBytes,
    find(length) {
      const place = placeOf(length)
      if (lengths[place] !== length + 1) return -1
      const start = place * stride
      for (let index = 0; index < length; index++) {
        if (table[start + index] !== words[index]) return -1
      }
      return start + longest
    },
    put(length, digest) {
      const place = placeOf(length)
      const start = place * stride
      lengths[place] = length + 1
      for (let index = 0; index < length; index++) table[start + index] = wordAt(words, index)
      tableBytes.set(digest, 4 * (start + longest))
      return start + longest
    },
  }
}

/** Digests look random, so the last words of both halves tell messages apart. Not more than speed rests on it. */
function fingerprint(words: Uint32Array, length: number): number {
  const [end, middle] = [wordAt(words, length - 1), wordAt(words, (length >> 1) - 1)]
  const mixed = Math.imul(end, 0x9e3779b1) ^ Math.imul(middle, 0x85ebca6b)
  return mixed ^ (mixed >>> 15)
}

/** Before the start and past the end, zero. */
const wordAt = (words: Uint32Array, index: number): number => words[index] ?? 0
