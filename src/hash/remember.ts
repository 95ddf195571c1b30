import type { Hasher } from './hasher.ts'

/** Inner nodes have 64 bytes; the longest message of a proof, an account value, has 320. */
const [SHORT, LONG] = [64, 320]

/**
 * A hasher that remembers digests. Each message has one place, found by a few of its bytes, and the next message there
 * takes it over; a digest is used only when the whole message is the same. So the memory is bounded, and the answers are
 * those of `hasher`.
 *
 * @param shortPlaces how many messages of up to 64 bytes are remembered: a power of two; 96 bytes each
 * @param longPlaces how many of up to 320 bytes: a power of two; 352 bytes each
 */
export function rememberingHasher(hasher: Hasher, shortPlaces: number, longPlaces: number): Hasher {
  const short = rememberIn(shortPlaces, SHORT, hasher)
  const long = rememberIn(longPlaces, LONG, hasher)
  const hash = (message: Uint8Array) => (message.length <= SHORT ? short(message) : long(message))
  return {
    hash,
    hashEach: hasher.hashEach,
    climb(digest, siblings, position) {
      const children = new Uint8Array(SHORT)
      let running = digest
      let rest = position
      for (let offset = 0; offset < siblings.length; offset += 32) {
        const isRight = rest % 2
        for (let index = 0; index < 32; index++) {
          children[32 * isRight + index] = running[index] ?? 0
          children[32 - 32 * isRight + index] = siblings[offset + index] ?? 0
        }
        running = short(children)
        rest = (rest - isRight) / 2
      }
      return running
    },
  }
}

/** `hasher.hash` with a table of `places` messages of up to `maxLength` bytes. Made once, it allocates digests alone. */
function rememberIn(places: number, maxLength: number, hasher: Hasher): Hasher['hash'] {
  const stride = maxLength + 32
  const table = new Uint8Array(places * stride)
  /** Of the message in each place; zero where there is none, for the empty message is not remembered. */
  const lengths = new Uint16Array(places)

  function isAt(start: number, message: Uint8Array): boolean {
    for (let index = 0; index < message.length; index++) {
      if (table[start + index] !== message[index]) return false
    }
    return true
  }

  return message => {
    if (message.length > maxLength || message.length === 0) return hasher.hash(message)
    const place = fingerprint(message) & (places - 1)
    const start = place * stride
    const digestStart = start + maxLength
    if (lengths[place] === message.length && isAt(start, message)) return table.slice(digestStart, digestStart + 32)
    const digest = hasher.hash(message)
    table.set(message, start)
    table.set(digest, digestStart)
    lengths[place] = message.length
    return digest
  }
}

/** Digests look random, so a few bytes near the ends of both halves tell messages apart. Not more than speed rests on it. */
function fingerprint(message: Uint8Array): number {
  const [end, middle] = [message.length, message.length >> 1]
  const tail = ((message[end - 1] ?? 0) << 16) | ((message[end - 2] ?? 0) << 8) | (message[end - 3] ?? 0)
  const centre = ((message[middle - 1] ?? 0) << 16) | ((message[middle - 2] ?? 0) << 8) | (message[middle - 3] ?? 0)
  return tail ^ (tail >> 14) ^ Math.imul(centre, 0x9e3779b1) ^ (Math.imul(centre, 0x9e3779b1) >>> 16)
}
