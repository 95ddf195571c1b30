import { KOALABEAR_ORDER as P } from '../field/koalabear.ts'
import { type Hasher, hasherOf } from './hasher.ts'
import { poseidon2Constants } from './poseidon2.generated.ts'

const WIDTH = 16
const HALF_FULL_ROUNDS = 3
const PARTIAL_ROUNDS = 21
const HALF = WIDTH / 2
const BLOCK_BYTES = 4 * HALF
/** 1/p, rounded up: so `reduce` is never fooled by a multiple of p. */
const INVERSE = (1 / P) * (1 + 2 ** -52)

/** x mod p, for an integer 0 <= x < 2^40. */
export function reduce(x: number): number {
  return x - Math.floor(x * INVERSE) * P
}

/** ab mod p, for a, b in [0, p). The quotient is estimated in doubles; it can be off by one when ab mod p is close to 0 or p. */
export function multiply(a: number, b: number): number {
  const quotient = (a * b * INVERSE) | 0
  const rest = (Math.imul(a, b) - Math.imul(quotient, P)) | 0
  return rest < 0 ? rest + P : rest < P ? rest : rest - P
}

function sBox(x: number, key: number): number {
  const sum = x + key
  const keyed = sum < P ? sum : sum - P
  return multiply(multiply(keyed, keyed), keyed)
}

/** x / 2^power + p, not reduced: 2^-24 = -127 takes care of the bits that fall off. */
function divide(x: number, power: number): number {
  return (x >> power) - (x & ((1 << power) - 1)) * (127 << (24 - power)) + P
}

/** Poseidon2 in plain numbers, for engines without WebAssembly. */
export function poseidon2Numbers(): Hasher {
  const keys = Int32Array.from(poseidon2Constants)
  const s = new Int32Array(WIDTH)
  const at = (array: Int32Array, index: number): number => array[index] ?? 0

  function externalMatrix(): void {
    let total0 = 0
    let total1 = 0
    let total2 = 0
    let total3 = 0
    for (let group = 0; group < WIDTH; group += 4) {
      total0 += at(s, group)
      total1 += at(s, group + 1)
      total2 += at(s, group + 2)
      total3 += at(s, group + 3)
    }
    for (let group = 0; group < WIDTH; group += 4) {
      const a = at(s, group) + total0
      const b = at(s, group + 1) + total1
      const c = at(s, group + 2) + total2
      const d = at(s, group + 3) + total3
      const all = a + b + c + d
      s[group] = reduce(all + a + 2 * b)
      s[group + 1] = reduce(all + b + 2 * c)
      s[group + 2] = reduce(all + c + 2 * d)
      s[group + 3] = reduce(all + d + 2 * a)
    }
  }

  function fullRounds(firstKey: number): void {
    for (let round = 0; round < HALF_FULL_ROUNDS; round++) {
      for (let index = 0; index < WIDTH; index++) {
        s[index] = sBox(at(s, index), at(keys, firstKey + round * WIDTH + index))
      }
      externalMatrix()
    }
  }

  function partialRound(key: number): void {
    const first = sBox(at(s, 0), key)
    let others = 0
    for (let index = 1; index < WIDTH; index++) others += at(s, index)
    // 4p more, so that no difference below is negative.
    const sum = others + first + 4 * P
    s[0] = reduce(sum - 2 * first)
    s[1] = reduce(sum + at(s, 1))
    s[2] = reduce(sum + 2 * at(s, 2))
    s[3] = reduce(sum + divide(at(s, 3), 1))
    s[4] = reduce(sum + 3 * at(s, 4))
    s[5] = reduce(sum + 4 * at(s, 5))
    s[6] = reduce(sum - divide(at(s, 6), 1))
    s[7] = reduce(sum - 3 * at(s, 7))
    s[8] = reduce(sum - 4 * at(s, 8))
    s[9] = reduce(sum + divide(at(s, 9), 8))
    s[10] = reduce(sum + divide(at(s, 10), 3))
    s[11] = reduce(sum + divide(at(s, 11), 24))
    s[12] = reduce(sum - divide(at(s, 12), 8))
    s[13] = reduce(sum - divide(at(s, 13), 3))
    s[14] = reduce(sum - divide(at(s, 14), 4))
    s[15] = reduce(sum - divide(at(s, 15), 24))
  }

  function permute(): void {
    const firstPartial = HALF_FULL_ROUNDS * WIDTH
    externalMatrix()
    fullRounds(0)
    for (let round = 0; round < PARTIAL_ROUNDS; round++) partialRound(at(keys, firstPartial + round))
    fullRounds(firstPartial + PARTIAL_ROUNDS)
  }

  return hasherOf(message => {
    const digest = new Uint8Array(BLOCK_BYTES)
    const h = new DataView(digest.buffer)
    const m = new DataView(message.buffer, message.byteOffset, message.byteLength)
    for (let start = 0; start < message.length; start += BLOCK_BYTES) {
      // A short last block is padded with zeros on the left: its elements sit at the end.
      const padding = Math.max(0, start + BLOCK_BYTES - message.length)
      const element = (index: number) => (4 * index < padding ? 0 : m.getUint32(start + 4 * index - padding))
      for (let index = 0; index < HALF; index++) {
        s[index] = h.getUint32(4 * index)
        s[HALF + index] = element(index)
      }
      permute()
      for (let index = 0; index < HALF; index++) h.setUint32(4 * index, reduce(element(index) + at(s, HALF + index)))
    }
    return digest
  })
}
