/**
 * Poseidon2 over KoalaBear, width 16, in two forms: one permutation spread over four vectors, for hashes that depend on each
 * other (a path), and four permutations in the four lanes of sixteen vectors, for independent hashes (its siblings).
 *
 * Elements are in Montgomery form, R = 2^32, and reduced to [0, p) unless a comment says otherwise.
 * TypeScript writes the keys once (../poseidon2/kernel.ts), copies messages to `input` and calls the functions at the end of the file.
 */

// p = 2^31 - 2^24 + 1.
const P: u32 = 0x7f000001
/** p^-1 mod 2^32 = 1 - 127 * 2^24, because p = 1 + 127 * 2^24. */
const P_INVERSE: u32 = 0x81000001
/** R^2 mod p. */
const R_SQUARED: u32 = u32((u64(1) << 32) % P * ((u64(1) << 32) % P) % P)

// In memory, because a vector constant in the code takes 18 bytes at each use.
const P_LANES: usize = memory.data<u32>([P, P, P, P])
const P_INVERSE_LANES: usize = memory.data<u32>([P_INVERSE, P_INVERSE, P_INVERSE, P_INVERSE])

// Three full rounds, 21 partial ones, three full ones.
const HALF_FULL: usize = 3
const PARTIAL: usize = 21
const FULL_KEYS: usize = 64
const PARTIAL_KEY: usize = 4

/**
 * Every key minus p, so that an element plus a key lies in [-p, p) and can be multiplied as it is.
 * The 16 keys of a full round are in the order of STATE.
 */
const KEYS: usize = memory.data((6 * 16 + 21) * 4)
const PARTIAL_KEYS: usize = KEYS + HALF_FULL * FULL_KEYS
const LAST_KEYS: usize = PARTIAL_KEYS + PARTIAL * PARTIAL_KEY
/** The internal matrix's diagonal d without its first entry, and floor(d * 2^32 / p); in the same order. */
const DIAGONAL: usize = memory.data(64)
const DIAGONAL_QUOTIENTS: usize = memory.data(64)

/** The chaining value, 8 elements. */
const H: usize = memory.data(32)
const BLOCK: usize = memory.data(32)
const SHORT_BLOCK: usize = memory.data(32)
const RUNNING: usize = memory.data(32)
/** The state of one permutation: vector c holds elements c, 4 + c, 8 + c, 12 + c. */
const STATE: usize = memory.data(64)
/** The state of four permutations: element i of each in vector i. */
const LANES: usize = memory.data(16 * 16)
const LANES_BLOCK: usize = memory.data(8 * 16)
const INPUT: usize = memory.data(32 * 1024)
const OUTPUT: usize = memory.data(16 * 1024)

// ---- arithmetic on four elements

/** [0, 2p) to [0, p): when x - p wraps around it is the larger of the two. */
@inline function reduce(x: v128): v128 {
  return i32x4.min_u(x, i32x4.sub(x, v128.load(P_LANES)))
}

/** (-p, p) to [0, p). */
@inline function lift(x: v128): v128 {
  return i32x4.min_u(x, i32x4.add(x, v128.load(P_LANES)))
}

@inline function add(a: v128, b: v128): v128 {
  return reduce(i32x4.add(a, b))
}

@inline function subtract(a: v128, b: v128): v128 {
  return lift(i32x4.sub(a, b))
}

/** Montgomery's product of signed numbers in [-p, p], in (-p, p): the upper halves of ab and qp; their lower halves are equal. */
@inline function multiply(a: v128, b: v128): v128 {
  const low = i64x2.extmul_low_i32x4_s(a, b)
  const high = i64x2.extmul_high_i32x4_s(a, b)
  const q = i32x4.mul(i32x4.mul(a, b), v128.load(P_INVERSE_LANES))
  const qpLow = i64x2.extmul_low_i32x4_s(q, v128.load(P_LANES))
  const qpHigh = i64x2.extmul_high_i32x4_s(q, v128.load(P_LANES))
  return i32x4.sub(v128.shuffle<i32>(low, high, 1, 3, 5, 7), v128.shuffle<i32>(qpLow, qpHigh, 1, 3, 5, 7))
}

/** (x + key)^3, where p is already subtracted from `key`. */
@inline function sBox(x: v128, key: v128): v128 {
  const keyed = i32x4.add(x, key)
  return lift(multiply(multiply(keyed, keyed), keyed))
}

/** x / 2^k: 2^-24 = -127 mod p accounts for the k bits that are shifted out. */
@inline function divideByPower(x: v128, k: i32): v128 {
  const fallen = v128.and(x, i32x4.splat((1 << k) - 1))
  return lift(i32x4.sub(i32x4.shr_u(x, k), i32x4.mul(fallen, i32x4.splat(127 << (24 - k)))))
}

// ---- bytes

@inline function swapBytes(x: v128): v128 {
  return v128.shuffle<u8>(x, x, 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12)
}

/** Four elements, each 4 bytes big-endian. */
@inline function decodeFour(bytes: usize): v128 {
  return swapBytes(v128.load(bytes))
}

function toMontgomery(x: v128): v128 {
  return lift(multiply(x, i32x4.splat(R_SQUARED)))
}

function fromMontgomery(x: v128): v128 {
  return lift(multiply(x, i32x4.splat(1)))
}

/** Reads a digest, 32 bytes, as 8 elements. */
function decode(bytes: usize, out: usize): void {
  v128.store(out, toMontgomery(decodeFour(bytes)))
  v128.store(out, toMontgomery(decodeFour(bytes + 16)), 16)
}

/** The inverse of {@link decode}. */
function encode(elements: usize, bytes: usize): void {
  v128.store(bytes, swapBytes(fromMontgomery(v128.load(elements))))
  v128.store(bytes, swapBytes(fromMontgomery(v128.load(elements, 16))), 16)
}

// ---- one permutation, in STATE

/** Sets every lane to the sum of all four. */
@inline function sumOfLanes(x: v128): v128 {
  const pairs = add(x, v128.shuffle<i32>(x, x, 2, 3, 0, 1))
  return add(pairs, v128.shuffle<i32>(pairs, pairs, 1, 0, 3, 2))
}

/** The same modulo p, but smaller, by 2^31 = 2^24 - 1: a number in [0, 5p) ends below 1.1p, one in [0, 80p) below 1.7p. */
@inline function fold(x: i64): i64 {
  const upper = x >> 31
  return (x & 0x7fffffff) + (upper << 24) - upper
}

/**
 * x^3 for x in (-1.1p, 1.1p), in the same range. A quotient in [0, R) keeps the square in (-p, 0.7p), one in
 * [-R/2, R/2) keeps the cube centred.
 */
@inline function cube(x: i64): i64 {
  const xx = x * x
  const square = (xx >> 32) - i64((u64(u32(xx) * P_INVERSE) * P) >> 32)
  const xxx = square * x
  return (xxx >> 32) - ((i64(i32(xxx) * i32(P_INVERSE)) * P) >> 32)
}

/** d * x for one vector of the diagonal, by Shoup's method: the precomputed quotient by p is off by at most one. */
@inline function timesDiagonal(x: v128, vector: usize): v128 {
  const quotients = v128.load(DIAGONAL_QUOTIENTS + 16 * vector)
  const low = i64x2.extmul_low_i32x4_u(x, quotients)
  const high = i64x2.extmul_high_i32x4_u(x, quotients)
  const q = v128.shuffle<i32>(low, high, 1, 3, 5, 7)
  const d = v128.load(DIAGONAL + 16 * vector)
  return reduce(i32x4.sub(i32x4.mul(x, d), i32x4.mul(q, v128.load(P_LANES))))
}

/** The sum of 16 elements, as a 64-bit number. */
@inline function sumOfAll(v0: v128, v1: v128, v2: v128, v3: v128): i64 {
  const a = i32x4.add(v0, v1)
  const b = i32x4.add(v2, v3)
  const mask = i64x2.splat(0xffffffff)
  const even = i64x2.add(v128.and(a, mask), v128.and(b, mask))
  const odd = i64x2.add(i64x2.shr_u(a, 32), i64x2.shr_u(b, 32))
  const sums = i64x2.add(even, odd)
  return i64x2.extract_lane(sums, 0) + i64x2.extract_lane(sums, 1)
}

/**
 * M4 of every group of four, plus the sum of that over all groups. Each full round ends with the same: to share it would take a
 * branch in the loop of the rounds, and a verification 2 % more time.
 */
@inline function externalMatrix(): void {
  const v0 = v128.load(STATE)
  const v1 = v128.load(STATE, 16)
  const v2 = v128.load(STATE, 32)
  const v3 = v128.load(STATE, 48)
  const s0 = add(v0, sumOfLanes(v0))
  const s1 = add(v1, sumOfLanes(v1))
  const s2 = add(v2, sumOfLanes(v2))
  const s3 = add(v3, sumOfLanes(v3))
  const s01 = add(s0, s1)
  const s23 = add(s2, s3)
  const all = add(s01, s23)
  v128.store(STATE, add(all, add(s1, s01)))
  v128.store(STATE, add(all, add(s2, add(s1, s2))), 16)
  v128.store(STATE, add(all, add(s3, s23)), 32)
  v128.store(STATE, add(all, add(s0, add(s3, s0))), 48)
}

/** Keeps the state in locals, so that no round waits for the memory. */
function fullRounds(keys: usize): void {
  let v0 = v128.load(STATE)
  let v1 = v128.load(STATE, 16)
  let v2 = v128.load(STATE, 32)
  let v3 = v128.load(STATE, 48)
  for (let end = keys + HALF_FULL * FULL_KEYS; keys < end; keys += FULL_KEYS) {
    v0 = sBox(v0, v128.load(keys))
    v1 = sBox(v1, v128.load(keys, 16))
    v2 = sBox(v2, v128.load(keys, 32))
    v3 = sBox(v3, v128.load(keys, 48))
    const s0 = add(v0, sumOfLanes(v0))
    const s1 = add(v1, sumOfLanes(v1))
    const s2 = add(v2, sumOfLanes(v2))
    const s3 = add(v3, sumOfLanes(v3))
    const s01 = add(s0, s1)
    const s23 = add(s2, s3)
    const all = add(s01, s23)
    v0 = add(all, add(s1, s01))
    v1 = add(all, add(s2, add(s1, s2)))
    v2 = add(all, add(s3, s23))
    v3 = add(all, add(s0, add(s3, s0)))
  }
  v128.store(STATE, v0)
  v128.store(STATE, v1, 16)
  v128.store(STATE, v2, 32)
  v128.store(STATE, v3, 48)
}

/**
 * Element 0 is a scalar here; its lane holds zero or a meaningless value. Only its cubing is on the critical path: what the
 * other 15 add to it is known a round ahead, because their sum follows from the last sum.
 */
function partialRounds(): void {
  let v0 = v128.load(STATE)
  let v1 = v128.load(STATE, 16)
  let v2 = v128.load(STATE, 32)
  let v3 = v128.load(STATE, 48)
  let first: i64 = i32x4.extract_lane(v0, 0)
  let keyed = first + load<i32>(PARTIAL_KEYS)
  let others = fold(sumOfAll(i32x4.replace_lane(v0, 0, 0), v1, v2, v3))

  for (let key = PARTIAL_KEYS + PARTIAL_KEY; key <= LAST_KEYS; key += PARTIAL_KEY) {
    const cubed = cube(keyed)
    // others is in [0, 1.7p), so both are in (0, 5p).
    const sum = others + cubed + 2 * i64(P)
    first = others - cubed + 2 * i64(P)
    // The next element 0 with its key (unused after the last round). In (-2.1p, 1.1p) before the last step.
    keyed = fold(others + load<i32>(key) + i64(P)) - i64(P) - cubed
    keyed += P & (keyed >> 63)

    v0 = timesDiagonal(v0, 0)
    v1 = timesDiagonal(v1, 1)
    v2 = timesDiagonal(v2, 2)
    v3 = timesDiagonal(v3, 3)
    others = fold(15 * sum + sumOfAll(v0, v1, v2, v3))
    const sums = reduce(i32x4.splat(i32(fold(sum))))
    v0 = add(v0, sums)
    v1 = add(v1, sums)
    v2 = add(v2, sums)
    v3 = add(v3, sums)
  }
  v128.store(STATE, reduce(i32x4.replace_lane(v0, 0, i32(fold(first)))))
  v128.store(STATE, v1, 16)
  v128.store(STATE, v2, 32)
  v128.store(STATE, v3, 48)
}

/** h <- block + second half of permutation(h || block). */
function compress(block: usize): void {
  const h0 = v128.load(H)
  const h1 = v128.load(H, 16)
  const m0 = v128.load(block)
  const m1 = v128.load(block, 16)

  // Transpose, so that each row of M4 works on whole vectors.
  const h01 = v128.shuffle<i32>(h0, h1, 0, 4, 1, 5)
  const h23 = v128.shuffle<i32>(h0, h1, 2, 6, 3, 7)
  const m01 = v128.shuffle<i32>(m0, m1, 0, 4, 1, 5)
  const m23 = v128.shuffle<i32>(m0, m1, 2, 6, 3, 7)
  v128.store(STATE, v128.shuffle<i64>(h01, m01, 0, 2))
  v128.store(STATE, v128.shuffle<i64>(h01, m01, 1, 3), 16)
  v128.store(STATE, v128.shuffle<i64>(h23, m23, 0, 2), 32)
  v128.store(STATE, v128.shuffle<i64>(h23, m23, 1, 3), 48)

  externalMatrix()
  fullRounds(KEYS)
  partialRounds()
  fullRounds(LAST_KEYS)

  const p01 = v128.shuffle<i32>(v128.load(STATE), v128.load(STATE, 16), 2, 6, 3, 7)
  const p23 = v128.shuffle<i32>(v128.load(STATE, 32), v128.load(STATE, 48), 2, 6, 3, 7)
  v128.store(H, add(m0, v128.shuffle<i64>(p01, p23, 0, 2)))
  v128.store(H, add(m1, v128.shuffle<i64>(p01, p23, 1, 3)), 16)
}

// ---- four permutations: vector i of LANES holds element i of each

@inline function lane(index: usize): v128 {
  return v128.load(LANES + 16 * index)
}

@inline function setLane(index: usize, x: v128): void {
  v128.store(LANES + 16 * index, x)
}

function externalMatrixOfLanes(): void {
  let t0 = i32x4.splat(0)
  let t1 = t0
  let t2 = t0
  let t3 = t0
  for (let group: usize = 0; group < 16; group += 4) {
    const s0 = lane(group)
    const s1 = lane(group + 1)
    const s2 = lane(group + 2)
    const s3 = lane(group + 3)
    const s01 = add(s0, s1)
    const s23 = add(s2, s3)
    const all = add(s01, s23)
    const m0 = add(add(all, s1), s01)
    const m1 = add(add(all, s2), add(s1, s2))
    const m2 = add(add(all, s3), s23)
    const m3 = add(add(all, s0), add(s3, s0))
    setLane(group, m0)
    setLane(group + 1, m1)
    setLane(group + 2, m2)
    setLane(group + 3, m3)
    t0 = add(t0, m0)
    t1 = add(t1, m1)
    t2 = add(t2, m2)
    t3 = add(t3, m3)
  }
  for (let group: usize = 0; group < 16; group += 4) {
    setLane(group, add(lane(group), t0))
    setLane(group + 1, add(lane(group + 1), t1))
    setLane(group + 2, add(lane(group + 2), t2))
    setLane(group + 3, add(lane(group + 3), t3))
  }
}

function fullRoundsOfLanes(keys: usize): void {
  for (let end = keys + HALF_FULL * FULL_KEYS; keys < end; keys += FULL_KEYS) {
    for (let index: usize = 0; index < 16; index++) {
      const key = keys + 16 * (index & 3) + 4 * (index >> 2)
      setLane(index, sBox(lane(index), v128.load32_splat(key)))
    }
    externalMatrixOfLanes()
  }
}

function partialRoundsOfLanes(): void {
  for (let key = PARTIAL_KEYS; key < LAST_KEYS; key += PARTIAL_KEY) {
    const x0 = sBox(lane(0), v128.load32_splat(key))
    const a = add(add(add(lane(1), lane(2)), add(lane(3), lane(4))), add(add(lane(5), lane(6)), add(lane(7), lane(8))))
    const b = add(add(add(lane(9), lane(10)), add(lane(11), lane(12))), add(add(lane(13), lane(14)), lane(15)))
    const others = add(a, b)
    const sum = add(others, x0)
    setLane(0, subtract(others, x0))
    setLane(1, add(sum, lane(1)))
    setLane(2, add(sum, add(lane(2), lane(2))))
    setLane(3, add(sum, divideByPower(lane(3), 1)))
    setLane(4, add(sum, add(add(lane(4), lane(4)), lane(4))))
    setLane(5, add(sum, quadruple(lane(5))))
    setLane(6, subtract(sum, divideByPower(lane(6), 1)))
    setLane(7, subtract(sum, add(add(lane(7), lane(7)), lane(7))))
    setLane(8, subtract(sum, quadruple(lane(8))))
    setLane(9, add(sum, divideByPower(lane(9), 8)))
    setLane(10, add(sum, divideByPower(lane(10), 3)))
    setLane(11, add(sum, divideByPower(lane(11), 24)))
    setLane(12, subtract(sum, divideByPower(lane(12), 8)))
    setLane(13, subtract(sum, divideByPower(lane(13), 3)))
    setLane(14, subtract(sum, divideByPower(lane(14), 4)))
    setLane(15, subtract(sum, divideByPower(lane(15), 24)))
  }
}

@inline function quadruple(x: v128): v128 {
  const twice = add(x, x)
  return add(twice, twice)
}

/** Four times h <- block + second half of permutation(h || block): blocks `stride` bytes apart, h in the first half of LANES. */
function compressLanes(block: usize, stride: usize): void {
  loadLanes(block, stride, LANES_BLOCK)
  loadLanes(block + 16, stride, LANES_BLOCK + 64)
  for (let index: usize = 0; index < 8; index++) setLane(8 + index, v128.load(LANES_BLOCK + 16 * index))
  externalMatrixOfLanes()
  fullRoundsOfLanes(KEYS)
  partialRoundsOfLanes()
  fullRoundsOfLanes(LAST_KEYS)
  for (let index: usize = 0; index < 8; index++) setLane(index, add(v128.load(LANES_BLOCK + 16 * index), lane(8 + index)))
}

/** Element i of four elements in each of four messages goes to vector i. */
function loadLanes(bytes: usize, stride: usize, out: usize): void {
  const a = decodeFour(bytes)
  const b = decodeFour(bytes + stride)
  const c = decodeFour(bytes + 2 * stride)
  const d = decodeFour(bytes + 3 * stride)
  const ab01 = v128.shuffle<i32>(a, b, 0, 4, 1, 5)
  const ab23 = v128.shuffle<i32>(a, b, 2, 6, 3, 7)
  const cd01 = v128.shuffle<i32>(c, d, 0, 4, 1, 5)
  const cd23 = v128.shuffle<i32>(c, d, 2, 6, 3, 7)
  v128.store(out, toMontgomery(v128.shuffle<i64>(ab01, cd01, 0, 2)))
  v128.store(out, toMontgomery(v128.shuffle<i64>(ab01, cd01, 1, 3)), 16)
  v128.store(out, toMontgomery(v128.shuffle<i64>(ab23, cd23, 0, 2)), 32)
  v128.store(out, toMontgomery(v128.shuffle<i64>(ab23, cd23, 1, 3)), 48)
}

/** The inverse of {@link loadLanes}. */
function storeLanes(elements: usize, bytes: usize, stride: usize): void {
  const a = swapBytes(fromMontgomery(v128.load(elements)))
  const b = swapBytes(fromMontgomery(v128.load(elements, 16)))
  const c = swapBytes(fromMontgomery(v128.load(elements, 32)))
  const d = swapBytes(fromMontgomery(v128.load(elements, 48)))
  const ab01 = v128.shuffle<i32>(a, b, 0, 4, 1, 5)
  const ab23 = v128.shuffle<i32>(a, b, 2, 6, 3, 7)
  const cd01 = v128.shuffle<i32>(c, d, 0, 4, 1, 5)
  const cd23 = v128.shuffle<i32>(c, d, 2, 6, 3, 7)
  v128.store(bytes, v128.shuffle<i64>(ab01, cd01, 0, 2))
  v128.store(bytes + stride, v128.shuffle<i64>(ab01, cd01, 1, 3))
  v128.store(bytes + 2 * stride, v128.shuffle<i64>(ab23, cd23, 0, 2))
  v128.store(bytes + 3 * stride, v128.shuffle<i64>(ab23, cd23, 1, 3))
}

// ---- called from TypeScript

export const keys: usize = KEYS
export const diagonal: usize = DIAGONAL
export const diagonalQuotients: usize = DIAGONAL_QUOTIENTS
export const input: usize = INPUT
export const inputLength: usize = 32 * 1024
export const output: usize = OUTPUT
export const outputLength: usize = 16 * 1024

/** Starts a message. */
export function begin(): void {
  v128.store(H, i32x4.splat(0))
  v128.store(H, i32x4.splat(0), 16)
}

/** Takes the next `length` bytes of the message from `input`: a multiple of 4, and of 32 unless they are the last. */
export function absorb(length: usize): void {
  absorbFrom(INPUT, length)
}

function absorbFrom(start: usize, length: usize): void {
  const short = length & 31
  const end = start + length - short
  for (let block = start; block < end; block += 32) {
    decode(block, BLOCK)
    compress(BLOCK)
  }
  if (short == 0) return
  // A short last block is padded with zeros on the left.
  v128.store(SHORT_BLOCK, i32x4.splat(0))
  v128.store(SHORT_BLOCK, i32x4.splat(0), 16)
  for (let offset: usize = 0; offset < short; offset += 4) {
    store<u32>(SHORT_BLOCK + 32 - short + offset, load<u32>(end + offset))
  }
  decode(SHORT_BLOCK, BLOCK)
  compress(BLOCK)
}

/** Writes the message's digest to `output`. */
export function finish(): void {
  encode(H, OUTPUT)
}

/** Writes the digests of `count` messages of `length` bytes each, side by side in `input`, to `output`. */
export function hashEach(count: usize, length: usize): void {
  let index: usize = 0
  if (length % 32 == 0) {
    for (; index + 4 <= count; index += 4) hashFour(INPUT + index * length, length, OUTPUT + 32 * index)
  }
  for (; index < count; index++) {
    begin()
    absorbFrom(INPUT + index * length, length)
    encode(H, OUTPUT + 32 * index)
  }
}

function hashFour(messages: usize, length: usize, digests: usize): void {
  for (let index: usize = 0; index < 8; index++) setLane(index, i32x4.splat(0))
  for (let offset: usize = 0; offset < length; offset += 32) compressLanes(messages + offset, length)
  storeLanes(LANES, digests, 32)
  storeLanes(LANES + 64, digests + 16, 32)
}

/**
 * Folds the digest in `output` with the siblings in `input`, up `levels` levels. If bit i of `position` is 1, the running
 * digest is the right child at sibling i, else the left.
 */
export function climb(levels: usize, position: f64): void {
  let bits = u64(position)
  decode(OUTPUT, RUNNING)
  for (let level: usize = 0; level < levels; level++) {
    decode(INPUT + level * 32, BLOCK)
    const isRight = bool(bits & 1)
    begin()
    compress(isRight ? BLOCK : RUNNING)
    compress(isRight ? RUNNING : BLOCK)
    v128.store(RUNNING, v128.load(H))
    v128.store(RUNNING, v128.load(H, 16), 16)
    bits >>= 1
  }
  encode(RUNNING, OUTPUT)
}
