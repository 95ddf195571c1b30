import { uint32At } from '../../../base/bytes.ts'
import { KOALABEAR_ORDER as P } from '../../field/koalabear.ts'
import { type Hasher, hasherOf } from '../hasher.ts'
import { poseidon2Constants } from './constants.ts'
import { diagonal } from './diagonal.ts'

const WIDTH = 16
const HALF = WIDTH / 2
const BLOCK_BYTES = 4 * HALF
/** The number of keys in three full rounds. The partial rounds follow, with one key each. */
const HALF_FULL_KEYS = 3 * WIDTH
const PARTIAL_ROUNDS = 21
/** 1/p, rounded up, so that `reduce` is exact for multiples of p. */
const INVERSE = (1 / P) * (1 + 2 ** -52)

/** x mod p, for an integer 0 <= x < 2^40. */
export const reduce = (x: number): number => x - Math.floor(x * INVERSE) * P

/** ab mod p, for a, b in [0, p). The quotient is estimated in doubles; it can be off by one when ab mod p is close to 0 or p. */
export function multiply(a: number, b: number): number {
  const quotient = (a * b * INVERSE) | 0
  const rest = (Math.imul(a, b) - Math.imul(quotient, P)) | 0
  return rest < 0 ? rest + P : rest < P ? rest : rest - P
}

const at = (elements: ArrayLike<number>, index: number): number => elements[index] ?? 0
const sBox = (x: number): number => multiply(multiply(x, x), x)

/** Poseidon2 in numbers, as the tree format defines it in "The hash functions": for engines without WebAssembly. */
export function poseidon2Plain(): Hasher {
  const keys = Int32Array.from(poseidon2Constants)
  const factors = Int32Array.from(diagonal())
  const s = new Int32Array(WIDTH)
  const mixed = new Float64Array(WIDTH)

  /** circ(2*M4, M4, M4, M4): every group of four gets M4 of itself plus M4 of the sum of all groups. */
  function externalMatrix(): void {
    for (let group = 0; group < WIDTH; group += 4) {
      const sum = at(s, group) + at(s, group + 1) + at(s, group + 2) + at(s, group + 3)
      // The rows of M4 are (2 3 1 1) and its rotations: all ones, one more here and two more on the next element.
      for (let i = 0; i < 4; i++) mixed[group + i] = sum + at(s, group + i) + 2 * at(s, group + ((i + 1) & 3))
    }
    for (let i = 0; i < 4; i++) {
      const total = at(mixed, i) + at(mixed, i + 4) + at(mixed, i + 8) + at(mixed, i + 12)
      for (let group = 0; group < WIDTH; group += 4) s[group + i] = reduce(at(mixed, group + i) + total)
    }
  }

  function fullRound(firstKey: number): void {
    for (let i = 0; i < WIDTH; i++) s[i] = sBox(reduce(at(s, i) + at(keys, firstKey + i)))
    externalMatrix()
  }

  /** Adds a key only to the first element, and applies the S-box only to it. */
  function partialRound(key: number): void {
    s[0] = sBox(reduce(at(s, 0) + at(keys, key)))
    let sum = 0
    for (let i = 0; i < WIDTH; i++) sum += at(s, i)
    for (let i = 0; i < WIDTH; i++) s[i] = reduce(sum + multiply(at(factors, i), at(s, i)))
  }

  function permute(): void {
    let key = 0
    externalMatrix()
    for (; key < HALF_FULL_KEYS; key += WIDTH) fullRound(key)
    for (; key < HALF_FULL_KEYS + PARTIAL_ROUNDS; key++) partialRound(key)
    for (; key < keys.length; key += WIDTH) fullRound(key)
  }

  return hasherOf(message => {
    const digest = new Uint8Array(BLOCK_BYTES)
    const running = new DataView(digest.buffer)
    for (let offset = 0; offset < message.length; offset += BLOCK_BYTES) {
      // A short last block is padded with zeros on the left.
      const padding = Math.max(0, offset + BLOCK_BYTES - message.length)
      const block = (i: number): number => (4 * i < padding ? 0 : uint32At(message, offset + 4 * i - padding))
      for (let i = 0; i < HALF; i++) {
        s[i] = running.getUint32(4 * i)
        s[HALF + i] = block(i)
      }
      permute()
      for (let i = 0; i < HALF; i++) running.setUint32(4 * i, reduce(block(i) + at(s, HALF + i)))
    }
    return digest
  })
}
