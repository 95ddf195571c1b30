import { BLS12377_ORDER } from '../field/bls12377.ts'
import { type Hasher, hasherOf } from './hasher.ts'
import { mimcConstants } from './mimc.generated.ts'

const SQUARINGS = 4

// Numbers are 11 limbs of 24 bits in doubles, each limb in [-2^23, 2^23]: 22 products and some carries stay below 2^53.
const LIMBS = 11
const BASE = 2 ** 24
const UNBASE = 2 ** -24
/** Montgomery's R. */
const R = 2n ** 264n
/** Adding and subtracting it rounds a double to the nearest multiple of 2^24. */
const ROUNDER = 1.5 * 2 ** 76

type Limbs = Float64Array

function toLimbs(value: bigint): Limbs {
  let rest = value
  return Float64Array.from({ length: LIMBS }, () => {
    const limb = BigInt.asIntN(24, rest)
    rest = (rest - limb) >> 24n
    return Number(limb)
  })
}

const at = (x: Limbs, index: number): number => x[index] ?? 0

/** MiMC in plain numbers, for engines without WebAssembly. */
export function mimcNumbers(): Hasher {
  const [firstConstant = new Float64Array(LIMBS), ...laterConstants] = mimcConstants.map(constant =>
    toLimbs((constant * R) % BLS12377_ORDER),
  )
  const order = toLimbs(BLS12377_ORDER)
  const rSquared = toLimbs((R * R) % BLS12377_ORDER)
  const zero = toLimbs(0n)
  const one = toLimbs(1n)
  const x = new Float64Array(LIMBS)
  const power = new Float64Array(LIMBS)
  const last = new Float64Array(LIMBS)
  // Behind the last round Miyaguchi-Preneel's h + m stand in for a constant.
  const added = [...laterConstants, last]

  const r1 = at(order, 1)
  const r2 = at(order, 2)
  const r3 = at(order, 3)
  const r4 = at(order, 4)
  const r5 = at(order, 5)
  const r6 = at(order, 6)
  const r7 = at(order, 7)
  const r8 = at(order, 8)
  const r9 = at(order, 9)
  const r10 = at(order, 10)

  /** A product, not reduced: what belongs to the i-th power of 2^24 is in `columns[i]`. */
  const columns = new Float64Array(2 * LIMBS - 1)

  /** columns <- a * a: the two products of different limbs are one, doubled. */
  function square(a: Limbs): void {
    const a0 = at(a, 0)
    const a1 = at(a, 1)
    const a2 = at(a, 2)
    const a3 = at(a, 3)
    const a4 = at(a, 4)
    const a5 = at(a, 5)
    const a6 = at(a, 6)
    const a7 = at(a, 7)
    const a8 = at(a, 8)
    const a9 = at(a, 9)
    const a10 = at(a, 10)
    const d1 = 2 * a1
    const d2 = 2 * a2
    const d3 = 2 * a3
    const d4 = 2 * a4
    const d5 = 2 * a5
    const d6 = 2 * a6
    const d7 = 2 * a7
    const d8 = 2 * a8
    const d9 = 2 * a9
    const d10 = 2 * a10
    columns[0] = a0 * a0
    columns[1] = a0 * d1
    columns[2] = a0 * d2 + a1 * a1
    columns[3] = a0 * d3 + a1 * d2
    columns[4] = a0 * d4 + a1 * d3 + a2 * a2
    columns[5] = a0 * d5 + a1 * d4 + a2 * d3
    columns[6] = a0 * d6 + a1 * d5 + a2 * d4 + a3 * a3
    columns[7] = a0 * d7 + a1 * d6 + a2 * d5 + a3 * d4
    columns[8] = a0 * d8 + a1 * d7 + a2 * d6 + a3 * d5 + a4 * a4
    columns[9] = a0 * d9 + a1 * d8 + a2 * d7 + a3 * d6 + a4 * d5
    columns[10] = a0 * d10 + a1 * d9 + a2 * d8 + a3 * d7 + a4 * d6 + a5 * a5
    columns[11] = a1 * d10 + a2 * d9 + a3 * d8 + a4 * d7 + a5 * d6
    columns[12] = a2 * d10 + a3 * d9 + a4 * d8 + a5 * d7 + a6 * a6
    columns[13] = a3 * d10 + a4 * d9 + a5 * d8 + a6 * d7
    columns[14] = a4 * d10 + a5 * d9 + a6 * d8 + a7 * a7
    columns[15] = a5 * d10 + a6 * d9 + a7 * d8
    columns[16] = a6 * d10 + a7 * d9 + a8 * a8
    columns[17] = a7 * d10 + a8 * d9
    columns[18] = a8 * d10 + a9 * a9
    columns[19] = a9 * d10
    columns[20] = a10 * a10
  }

  /** columns <- a * b: a limb of a at a time, so that t0 holds the column that no later limb adds to. */
  function multiply(a: Limbs, b: Limbs): void {
    const b0 = at(b, 0)
    const b1 = at(b, 1)
    const b2 = at(b, 2)
    const b3 = at(b, 3)
    const b4 = at(b, 4)
    const b5 = at(b, 5)
    const b6 = at(b, 6)
    const b7 = at(b, 7)
    const b8 = at(b, 8)
    const b9 = at(b, 9)
    const b10 = at(b, 10)
    let t0 = 0
    let t1 = 0
    let t2 = 0
    let t3 = 0
    let t4 = 0
    let t5 = 0
    let t6 = 0
    let t7 = 0
    let t8 = 0
    let t9 = 0
    for (let index = 0; index < LIMBS; index++) {
      const limb = at(a, index)
      columns[index] = t0 + limb * b0
      t0 = t1 + limb * b1
      t1 = t2 + limb * b2
      t2 = t3 + limb * b3
      t3 = t4 + limb * b4
      t4 = t5 + limb * b5
      t5 = t6 + limb * b6
      t6 = t7 + limb * b7
      t7 = t8 + limb * b8
      t8 = t9 + limb * b9
      t9 = limb * b10
    }
    columns[11] = t0
    columns[12] = t1
    columns[13] = t2
    columns[14] = t3
    columns[15] = t4
    columns[16] = t5
    columns[17] = t6
    columns[18] = t7
    columns[19] = t8
    columns[20] = t9
  }

  /**
   * out <- columns / R + k + c. r = 1 mod 2^24, so the quotient of a Montgomery step is the low limb itself, and subtracting
   * quotient * r leaves of that limb only its carry.
   */
  function reduceAdd(out: Limbs, k: Limbs, c: Limbs): void {
    let t0 = at(columns, 0)
    let t1 = at(columns, 1)
    let t2 = at(columns, 2)
    let t3 = at(columns, 3)
    let t4 = at(columns, 4)
    let t5 = at(columns, 5)
    let t6 = at(columns, 6)
    let t7 = at(columns, 7)
    let t8 = at(columns, 8)
    let t9 = at(columns, 9)
    for (let index = LIMBS - 1; index < 2 * LIMBS - 1; index++) {
      const high = t0 + ROUNDER - ROUNDER
      const q = t0 - high
      // In this order, because each round waits for the quotient of the one before.
      t0 = t1 + high * UNBASE - q * r1
      t1 = t2 - q * r2
      t2 = t3 - q * r3
      t3 = t4 - q * r4
      t4 = t5 - q * r5
      t5 = t6 - q * r6
      t6 = t7 - q * r7
      t7 = t8 - q * r8
      t8 = t9 - q * r9
      t9 = at(columns, index) - q * r10
    }
    let carried = putLimb(out, 0, t0 + (at(k, 0) + at(c, 0)))
    carried = putLimb(out, 1, t1 + (at(k, 1) + at(c, 1)) + carried)
    carried = putLimb(out, 2, t2 + (at(k, 2) + at(c, 2)) + carried)
    carried = putLimb(out, 3, t3 + (at(k, 3) + at(c, 3)) + carried)
    carried = putLimb(out, 4, t4 + (at(k, 4) + at(c, 4)) + carried)
    carried = putLimb(out, 5, t5 + (at(k, 5) + at(c, 5)) + carried)
    carried = putLimb(out, 6, t6 + (at(k, 6) + at(c, 6)) + carried)
    carried = putLimb(out, 7, t7 + (at(k, 7) + at(c, 7)) + carried)
    carried = putLimb(out, 8, t8 + (at(k, 8) + at(c, 8)) + carried)
    carried = putLimb(out, 9, t9 + (at(k, 9) + at(c, 9)) + carried)
    out[10] = at(k, 10) + at(c, 10) + carried
  }

  /** out <- E_h(m) + h + m, less a multiple of r. */
  function compress(out: Limbs, h: Limbs, m: Limbs): void {
    for (let index = 0; index < LIMBS; index++) {
      last[index] = at(h, index) + at(m, index)
      x[index] = at(last, index) + at(firstConstant, index)
    }
    carry(x)
    for (const constant of added) {
      square(x)
      reduceAdd(power, zero, zero)
      for (let squaring = 1; squaring < SQUARINGS; squaring++) {
        square(power)
        reduceAdd(power, zero, zero)
      }
      multiply(power, x)
      reduceAdd(x, h, constant)
    }
    // x now holds 2h too: without taking multiples of r away h would double with every block.
    const multiple = Math.round(at(x, LIMBS - 1) / at(order, LIMBS - 1))
    for (let index = 0; index < LIMBS; index++) out[index] = at(x, index) - multiple * at(order, index)
    carry(out)
  }

  return hasherOf(message => {
    const h = new Float64Array(LIMBS)
    const m = new Float64Array(LIMBS)
    for (let offset = 0; offset < message.length; offset += 32) {
      readBytes(message, offset, m)
      multiply(m, rSquared)
      reduceAdd(m, zero, zero)
      compress(h, h, m)
    }
    multiply(h, one)
    reduceAdd(h, zero, zero)
    return toBytes(h, order)
  })
}

/** Puts what fits a limb in its place, and returns what is to be added to the next. */
function putLimb(x: Limbs, index: number, limb: number): number {
  const high = limb + ROUNDER - ROUNDER
  x[index] = limb - high
  return high * UNBASE
}

/** Brings limbs back to at most 2^23. The last takes what is left. */
function carry(x: Limbs): void {
  let carried = 0
  for (let index = 0; index < LIMBS - 1; index++) carried = putLimb(x, index, at(x, index) + carried)
  x[LIMBS - 1] = at(x, LIMBS - 1) + carried
}

/** 32 bytes at `offset`, big-endian: three bytes a limb, the last takes two. */
function readBytes(bytes: Uint8Array, offset: number, out: Limbs): void {
  for (let index = 0; index < LIMBS; index++) {
    const end = offset + 32 - 3 * index
    const high = index === LIMBS - 1 ? 0 : (bytes[end - 3] ?? 0)
    out[index] = (high << 16) | ((bytes[end - 2] ?? 0) << 8) | (bytes[end - 1] ?? 0)
  }
}

/** The canonical 32 bytes, big-endian, of a number in (-r, r). */
function toBytes(x: Limbs, order: Limbs): Uint8Array {
  const bytes = new Uint8Array(32)
  if (writeBytes(x, bytes) < 0)
    writeBytes(
      x.map((limb, index) => limb + at(order, index)),
      bytes,
    )
  return bytes
}

/** Carries the limbs all the way, into bytes, and returns what is left above: -1 when the number is negative, else 0. */
function writeBytes(x: Limbs, bytes: Uint8Array): number {
  let carried = 0
  for (let index = 0; index < LIMBS; index++) {
    const limb = at(x, index) + carried
    carried = Math.floor(limb * UNBASE)
    const digit = limb - carried * BASE
    const end = 32 - 3 * index
    bytes[end - 1] = digit
    bytes[end - 2] = digit >> 8
    if (end > 2) bytes[end - 3] = digit >> 16
  }
  return carried
}
