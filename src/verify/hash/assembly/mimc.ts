/**
 * MiMC over the scalar field of BLS12-377, nine limbs of 29 bits.
 *
 * r = 1 mod 2^47 makes Montgomery's reduction cheap with R = 2^261: the quotient of a step is the low limb itself, without
 * a multiplication. It is subtracted rather than added, so that the low limb just vanishes; numbers are therefore
 * signed. Limbs 0 to 7 lie in [0, 2^29), limb 8 carries the sign. Between rounds nothing is reduced.
 *
 * TypeScript writes the constants once (../mimc/kernel.ts), copies messages to `input` and calls the functions at the end of the file.
 */

const MASK: i64 = 0x1fffffff

// r, least significant word first, and its limbs. Limb 0 is 1.
const W0: u64 = 0x0a11800000000001
const W1: u64 = 0x59aa76fed0000001
const W2: u64 = 0x60b44d1e5c37b001
const W3: u64 = 0x12ab655e9a2ca556
const R1: i64 = (W0 >> 29) & MASK
const R2: i64 = ((W0 >> 58) | (W1 << 6)) & MASK
const R3: i64 = (W1 >> 23) & MASK
const R4: i64 = ((W1 >> 52) | (W2 << 12)) & MASK
const R5: i64 = (W2 >> 17) & MASK
const R6: i64 = ((W2 >> 46) | (W3 << 18)) & MASK
const R7: i64 = (W3 >> 11) & MASK
const R8: i64 = W3 >> 40

const ROUNDS: usize = 62

// A number in memory is nine 32-bit limbs, 36 bytes.
const NUMBER: usize = 36
/** R^2 mod r, 1, and the round constants in Montgomery form: written by TypeScript. */
const TABLE: usize = memory.data(65 * 36)
/** Multiplying by it brings a number into Montgomery form. */
const R_SQUARED: usize = TABLE
const ONE: usize = TABLE + NUMBER
const CONSTANTS: usize = ONE + NUMBER
/** After the constants: what Miyaguchi-Preneel adds after the last round. */
const LAST: usize = CONSTANTS + ROUNDS * NUMBER
const ZERO: usize = memory.data(36)
/** The chaining value. */
const H: usize = memory.data(36)
/** The block. */
const M: usize = memory.data(36)
const X: usize = memory.data(36)
const INPUT: usize = memory.data(32 * 1024)
const OUTPUT: usize = memory.data(32)

@inline function limb(number: usize, index: usize): i64 {
  return i64(load<i32>(number + 4 * index))
}

@inline function setLimb(number: usize, index: usize, value: i64): void {
  store<i32>(number + 4 * index, i32(value))
}

/** out <- x^(2^squarings) * factor + k + c, in Montgomery form. Column by column, one accumulator `t`. */
function power(x: usize, squarings: i32, factor: usize, k: usize, c: usize, out: usize): void {
  let a0 = limb(x, 0)
  let a1 = limb(x, 1)
  let a2 = limb(x, 2)
  let a3 = limb(x, 3)
  let a4 = limb(x, 4)
  let a5 = limb(x, 5)
  let a6 = limb(x, 6)
  let a7 = limb(x, 7)
  let a8 = limb(x, 8)

  let t: i64
  // Within a column, the order matters for speed: the oldest values come first, the newest quotient last.
  for (; squarings > 0; squarings--) {
    t = a0 * a0
    const q0 = t & MASK
    t = ((a0 * a1) << 1) + (t >> 29) - q0 * R1
    const q1 = t & MASK
    t = ((a0 * a2) << 1) + a1 * a1 - q0 * R2 + (t >> 29) - q1 * R1
    const q2 = t & MASK
    t = ((a0 * a3 + a1 * a2) << 1) - q0 * R3 - q1 * R2 + (t >> 29) - q2 * R1
    const q3 = t & MASK
    t = ((a0 * a4 + a1 * a3) << 1) + a2 * a2 - q0 * R4 - q1 * R3 - q2 * R2 + (t >> 29) - q3 * R1
    const q4 = t & MASK
    t = ((a0 * a5 + a1 * a4 + a2 * a3) << 1) - q0 * R5 - q1 * R4 - q2 * R3 - q3 * R2 + (t >> 29) - q4 * R1
    const q5 = t & MASK
    t = ((a0 * a6 + a1 * a5 + a2 * a4) << 1) + a3 * a3 - q0 * R6 - q1 * R5 - q2 * R4 - q3 * R3 - q4 * R2 + (t >> 29) - q5 * R1
    const q6 = t & MASK
    t = ((a0 * a7 + a1 * a6 + a2 * a5 + a3 * a4) << 1) - q0 * R7 - q1 * R6 - q2 * R5 - q3 * R4 - q4 * R3 - q5 * R2 + (t >> 29) - q6 * R1
    const q7 = t & MASK
    t = ((a0 * a8 + a1 * a7 + a2 * a6 + a3 * a5) << 1) + a4 * a4 - q0 * R8 - q1 * R7 - q2 * R6 - q3 * R5 - q4 * R4 - q5 * R3 - q6 * R2 + (t >> 29) - q7 * R1
    const q8 = t & MASK
    t = ((a1 * a8 + a2 * a7 + a3 * a6 + a4 * a5) << 1) - q1 * R8 - q2 * R7 - q3 * R6 - q4 * R5 - q5 * R4 - q6 * R3 - q7 * R2 + (t >> 29) - q8 * R1
    a0 = t & MASK
    t = ((a2 * a8 + a3 * a7 + a4 * a6) << 1) + a5 * a5 - q2 * R8 - q3 * R7 - q4 * R6 - q5 * R5 - q6 * R4 - q7 * R3 - q8 * R2 + (t >> 29)
    a1 = t & MASK
    t = ((a3 * a8 + a4 * a7 + a5 * a6) << 1) - q3 * R8 - q4 * R7 - q5 * R6 - q6 * R5 - q7 * R4 - q8 * R3 + (t >> 29)
    a2 = t & MASK
    t = ((a4 * a8 + a5 * a7) << 1) + a6 * a6 - q4 * R8 - q5 * R7 - q6 * R6 - q7 * R5 - q8 * R4 + (t >> 29)
    a3 = t & MASK
    t = ((a5 * a8 + a6 * a7) << 1) - q5 * R8 - q6 * R7 - q7 * R6 - q8 * R5 + (t >> 29)
    a4 = t & MASK
    t = ((a6 * a8) << 1) + a7 * a7 - q6 * R8 - q7 * R7 - q8 * R6 + (t >> 29)
    a5 = t & MASK
    t = ((a7 * a8) << 1) - q7 * R8 - q8 * R7 + (t >> 29)
    a6 = t & MASK
    t = a8 * a8 - q8 * R8 + (t >> 29)
    a7 = t & MASK
    a8 = t >> 29
  }

  const b0 = limb(factor, 0)
  const b1 = limb(factor, 1)
  const b2 = limb(factor, 2)
  const b3 = limb(factor, 3)
  const b4 = limb(factor, 4)
  const b5 = limb(factor, 5)
  const b6 = limb(factor, 6)
  const b7 = limb(factor, 7)
  const b8 = limb(factor, 8)
  t = a0 * b0
  const q0 = t & MASK
  t = a0 * b1 + a1 * b0 + (t >> 29) - q0 * R1
  const q1 = t & MASK
  t = a0 * b2 + a1 * b1 + a2 * b0 - q0 * R2 + (t >> 29) - q1 * R1
  const q2 = t & MASK
  t = a0 * b3 + a1 * b2 + a2 * b1 + a3 * b0 - q0 * R3 - q1 * R2 + (t >> 29) - q2 * R1
  const q3 = t & MASK
  t = a0 * b4 + a1 * b3 + a2 * b2 + a3 * b1 + a4 * b0 - q0 * R4 - q1 * R3 - q2 * R2 + (t >> 29) - q3 * R1
  const q4 = t & MASK
  t = a0 * b5 + a1 * b4 + a2 * b3 + a3 * b2 + a4 * b1 + a5 * b0 - q0 * R5 - q1 * R4 - q2 * R3 - q3 * R2 + (t >> 29) - q4 * R1
  const q5 = t & MASK
  t = a0 * b6 + a1 * b5 + a2 * b4 + a3 * b3 + a4 * b2 + a5 * b1 + a6 * b0 - q0 * R6 - q1 * R5 - q2 * R4 - q3 * R3 - q4 * R2 + (t >> 29) - q5 * R1
  const q6 = t & MASK
  t = a0 * b7 + a1 * b6 + a2 * b5 + a3 * b4 + a4 * b3 + a5 * b2 + a6 * b1 + a7 * b0 - q0 * R7 - q1 * R6 - q2 * R5 - q3 * R4 - q4 * R3 - q5 * R2 + (t >> 29) - q6 * R1
  const q7 = t & MASK
  t = a0 * b8 + a1 * b7 + a2 * b6 + a3 * b5 + a4 * b4 + a5 * b3 + a6 * b2 + a7 * b1 + a8 * b0 - q0 * R8 - q1 * R7 - q2 * R6 - q3 * R5 - q4 * R4 - q5 * R3 - q6 * R2 + (t >> 29) - q7 * R1
  const q8 = t & MASK
  t = limb(k, 0) + limb(c, 0) + a1 * b8 + a2 * b7 + a3 * b6 + a4 * b5 + a5 * b4 + a6 * b3 + a7 * b2 + a8 * b1 - q1 * R8 - q2 * R7 - q3 * R6 - q4 * R5 - q5 * R4 - q6 * R3 - q7 * R2 + (t >> 29) - q8 * R1
  setLimb(out, 0, t & MASK)
  t = limb(k, 1) + limb(c, 1) + a2 * b8 + a3 * b7 + a4 * b6 + a5 * b5 + a6 * b4 + a7 * b3 + a8 * b2 - q2 * R8 - q3 * R7 - q4 * R6 - q5 * R5 - q6 * R4 - q7 * R3 - q8 * R2 + (t >> 29)
  setLimb(out, 1, t & MASK)
  t = limb(k, 2) + limb(c, 2) + a3 * b8 + a4 * b7 + a5 * b6 + a6 * b5 + a7 * b4 + a8 * b3 - q3 * R8 - q4 * R7 - q5 * R6 - q6 * R5 - q7 * R4 - q8 * R3 + (t >> 29)
  setLimb(out, 2, t & MASK)
  t = limb(k, 3) + limb(c, 3) + a4 * b8 + a5 * b7 + a6 * b6 + a7 * b5 + a8 * b4 - q4 * R8 - q5 * R7 - q6 * R6 - q7 * R5 - q8 * R4 + (t >> 29)
  setLimb(out, 3, t & MASK)
  t = limb(k, 4) + limb(c, 4) + a5 * b8 + a6 * b7 + a7 * b6 + a8 * b5 - q5 * R8 - q6 * R7 - q7 * R6 - q8 * R5 + (t >> 29)
  setLimb(out, 4, t & MASK)
  t = limb(k, 5) + limb(c, 5) + a6 * b8 + a7 * b7 + a8 * b6 - q6 * R8 - q7 * R7 - q8 * R6 + (t >> 29)
  setLimb(out, 5, t & MASK)
  t = limb(k, 6) + limb(c, 6) + a7 * b8 + a8 * b7 - q7 * R8 - q8 * R7 + (t >> 29)
  setLimb(out, 6, t & MASK)
  t = limb(k, 7) + limb(c, 7) + a8 * b8 - q8 * R8 + (t >> 29)
  setLimb(out, 7, t & MASK)
  setLimb(out, 8, limb(k, 8) + limb(c, 8) + (t >> 29))
}

/** out <- a + b - times * r, limbs carried. */
function combine(a: usize, b: usize, times: i64, out: usize): void {
  let t = limb(a, 0) + limb(b, 0) - times
  setLimb(out, 0, t & MASK)
  t = limb(a, 1) + limb(b, 1) - times * R1 + (t >> 29)
  setLimb(out, 1, t & MASK)
  t = limb(a, 2) + limb(b, 2) - times * R2 + (t >> 29)
  setLimb(out, 2, t & MASK)
  t = limb(a, 3) + limb(b, 3) - times * R3 + (t >> 29)
  setLimb(out, 3, t & MASK)
  t = limb(a, 4) + limb(b, 4) - times * R4 + (t >> 29)
  setLimb(out, 4, t & MASK)
  t = limb(a, 5) + limb(b, 5) - times * R5 + (t >> 29)
  setLimb(out, 5, t & MASK)
  t = limb(a, 6) + limb(b, 6) - times * R6 + (t >> 29)
  setLimb(out, 6, t & MASK)
  t = limb(a, 7) + limb(b, 7) - times * R7 + (t >> 29)
  setLimb(out, 7, t & MASK)
  setLimb(out, 8, limb(a, 8) + limb(b, 8) - times * R8 + (t >> 29))
}

/** Miyaguchi-Preneel: h <- E_h(m) + h + m, where E_h(m) ends with adding h once more. */
function compress(): void {
  combine(H, M, 0, LAST)
  combine(LAST, CONSTANTS, 0, X)
  for (let round: usize = 1; round <= ROUNDS; round++) {
    power(X, 4, X, H, CONSTANTS + round * NUMBER, X)
  }
  // X now includes 2h: unless multiples of r are subtracted, h doubles with every block.
  combine(X, ZERO, limb(X, 8) / R8, H)
}

/** out <- the 32 bytes at `bytes`, big-endian, in Montgomery form. */
function decode(bytes: usize, out: usize): void {
  const w3 = bswap<u64>(load<u64>(bytes))
  const w2 = bswap<u64>(load<u64>(bytes, 8))
  const w1 = bswap<u64>(load<u64>(bytes, 16))
  const w0 = bswap<u64>(load<u64>(bytes, 24))
  setLimb(out, 0, w0 & MASK)
  setLimb(out, 1, (w0 >> 29) & MASK)
  setLimb(out, 2, ((w0 >> 58) | (w1 << 6)) & MASK)
  setLimb(out, 3, (w1 >> 23) & MASK)
  setLimb(out, 4, ((w1 >> 52) | (w2 << 12)) & MASK)
  setLimb(out, 5, (w2 >> 17) & MASK)
  setLimb(out, 6, ((w2 >> 46) | (w3 << 18)) & MASK)
  setLimb(out, 7, (w3 >> 11) & MASK)
  setLimb(out, 8, w3 >> 40)
  power(out, 0, R_SQUARED, ZERO, ZERO, out)
}

/** Writes `number`, taken out of Montgomery form and fully reduced, as 32 bytes, big-endian. */
function encode(number: usize, bytes: usize): void {
  // A product with 1 lies in [-r, 0], whatever the number was.
  power(number, 0, ONE, ZERO, ZERO, X)
  if (limb(X, 8) < 0) combine(X, ZERO, -1, X)
  const w0 = limb(X, 0) | (limb(X, 1) << 29) | (limb(X, 2) << 58)
  const w1 = (limb(X, 2) >> 6) | (limb(X, 3) << 23) | (limb(X, 4) << 52)
  const w2 = (limb(X, 4) >> 12) | (limb(X, 5) << 17) | (limb(X, 6) << 46)
  const w3 = (limb(X, 6) >> 18) | (limb(X, 7) << 11) | (limb(X, 8) << 40)
  store<u64>(bytes, bswap<u64>(w3))
  store<u64>(bytes, bswap<u64>(w2), 8)
  store<u64>(bytes, bswap<u64>(w1), 16)
  store<u64>(bytes, bswap<u64>(w0), 24)
}

export const table: usize = TABLE
export const input: usize = INPUT
export const inputLength: usize = 32 * 1024
export const output: usize = OUTPUT

/** Starts a message. */
export function begin(): void {
  combine(ZERO, ZERO, 0, H)
}

/** Takes the next `length` bytes of the message from `input`: a multiple of 32. */
export function absorb(length: usize): void {
  for (let block = INPUT; block < INPUT + length; block += 32) {
    decode(block, M)
    compress()
  }
}

/** Writes the message's digest to `output`. */
export function finish(): void {
  encode(H, OUTPUT)
}
