// The model: a second, slow implementation of the specification, and the oracle of the property tests. It shares no code
// with src/. Inside it, a byte string is lower-case hex without 0x: + concatenates, < and === compare.
import { keccak_256 } from '@noble/hashes/sha3.js'

export type SchemeName = 'mimc' | 'poseidon2'

export type Scheme = {
  H: (bytes: string) => string
  /** Whether every element in these bytes is reduced. */
  isCanonical: (bytes: string) => boolean
  word: (x: bigint) => string
  /** The integer in a word. Throws if the bytes are not a word. */
  readWord: (bytes: string) => bigint
  full: (x: string) => string
  address: (a: string) => string
  TAIL: string
  wordLength: number
}

export const ZERO = '00'.repeat(32)

export const hex = (x: bigint, length: number): string => x.toString(16).padStart(2 * length, '0')
export const integer = (bytes: string): bigint => BigInt(`0x${bytes}`)

/** `length` bytes of x, starting at byte `from`. */
export const slice = (x: string, from: number, length: number): string => x.slice(2 * from, 2 * (from + length))

/** Splits the bytes into pieces of `length` bytes. The last piece may be shorter. */
const pieces = (bytes: string, length: number): string[] => bytes.match(new RegExp(`.{1,${2 * length}}`, 'g')) ?? []

// The keccak chain of round constants. The first one is the SECOND digest.
function computeConstants(seed: string, count: number, modulus: bigint): bigint[] {
  let c = keccak_256(Buffer.from(seed, 'ascii'))
  return Array.from({ length: count }, () => {
    c = keccak_256(c)
    return integer(Buffer.from(c).toString('hex')) % modulus
  })
}

// MiMC.
const r = 0x12ab655e9a2ca55660b44d1e5c37b00159aa76fed00000010a11800000000001n
const mimcConstants = computeConstants('seed', 62, r)

function power17(x: bigint): bigint {
  const x2 = (x * x) % r
  const x4 = (x2 * x2) % r
  const x8 = (x4 * x4) % r
  return (((x8 * x8) % r) * x) % r
}

function mimc(bytes: string): string {
  if (bytes.length % 64 !== 0) throw new Error('mimc: not whole elements')
  const E = (k: bigint, m: bigint): bigint => mimcConstants.reduce((x, c) => power17(x + k + c), m) + k
  const digest = pieces(bytes, 32).reduce((h, block) => (E(h, integer(block)) + h + integer(block)) % r, 0n)
  return hex(digest, 32)
}

// Poseidon2.
const p = 0x7f000001n
const half = (p + 1n) / 2n
const diagonal = [-2n, 1n, 2n, half, 3n, 4n, -half, -3n, -4n, half ** 8n, half ** 3n, half ** 24n]
  .concat([-(half ** 8n), -(half ** 3n), -(half ** 4n), -(half ** 24n)])
  .map(x => ((x % p) + p) % p)
const M4 = ['2311', '1231', '1123', '3112'].map(row => [...row].map(BigInt))
const poseidonConstants = computeConstants('Poseidon2-koalabear[t=16,rF=6,rP=21,d=3]', 6 * 16 + 21, p)

const sum = (xs: bigint[]): bigint => xs.reduce((a, b) => a + b, 0n)
const dot = (xs: bigint[], ys: bigint[]): bigint => ys.reduce((total, y, i) => total + y * (xs[i] ?? 0n), 0n)

// circ(2 M4, M4, M4, M4): M4 on each group of four, plus the sum of all groups.
function external(state: bigint[]): bigint[] {
  const mixed = [0, 4, 8, 12].flatMap(group => M4.map(row => dot(state.slice(group, group + 4), row)))
  const sums = [0, 1, 2, 3].map(j => sum(mixed.filter((_, i) => i % 4 === j)))
  return mixed.map((x, i) => (x + (sums[i % 4] ?? 0n)) % p)
}

function internal(state: bigint[]): bigint[] {
  const total = sum(state)
  return diagonal.map((d, i) => (total + d * (state[i] ?? 0n)) % p)
}

// 3 full rounds, 21 partial rounds, 3 full rounds.
function permute(input: bigint[]): bigint[] {
  const keys = poseidonConstants.values()
  const addKeyAndCube = (x: bigint): bigint => (x + (keys.next().value ?? 0n)) ** 3n % p
  let state = external(input)
  for (let round = 0; round < 27; round++) {
    const [first = 0n, ...rest] = state
    const isFull = round < 3 || round >= 24
    state = isFull ? external(state.map(addKeyAndCube)) : internal([addKeyAndCube(first), ...rest])
  }
  return state
}

function poseidon2(bytes: string): string {
  if (bytes.length % 8 !== 0) throw new Error('poseidon2: not whole elements')
  let digest = Array<bigint>(8).fill(0n)
  for (const block of pieces(bytes, 32)) {
    const elements = pieces(block.padStart(64, '0'), 4).map(integer)
    const permuted = permute([...digest, ...elements])
    digest = elements.map((x, i) => (x + (permuted[8 + i] ?? 0n)) % p)
  }
  return digest.map(x => hex(x, 4)).join('')
}

// Checks the input as both schemes require, and caches digests: the model hashes the same nodes repeatedly.
function memoised(hash: (bytes: string) => string, isCanonical: (bytes: string) => boolean): (bytes: string) => string {
  const known = new Map<string, string>()
  return bytes => {
    const seen = known.get(bytes)
    if (seen !== undefined) return seen
    if (!isCanonical(bytes)) throw new Error('an element is not canonical')
    const digest = hash(bytes)
    if (known.size >= 100_000) known.clear()
    known.set(bytes, digest)
    return digest
  }
}

// How each scheme encodes words and bytes.
const widen = (bytes: string): string => bytes.replace(/.{4}/g, '0000$&')
const isCanonicalMimc = (bytes: string): boolean => pieces(bytes, 32).every(x => integer(x) < r)
const isCanonicalPoseidon2 = (bytes: string): boolean => pieces(bytes, 4).every(x => integer(x) < p)

export const schemes: Record<SchemeName, Scheme> = {
  mimc: {
    H: memoised(mimc, isCanonicalMimc),
    isCanonical: isCanonicalMimc,
    word: x => hex(x, 32),
    readWord: integer,
    full: x => '00'.repeat(16) + x.slice(32) + '00'.repeat(16) + x.slice(0, 32),
    address: a => a.padStart(64, '0'),
    TAIL: hex(r - 1n, 32),
    wordLength: 32,
  },
  poseidon2: {
    H: memoised(poseidon2, isCanonicalPoseidon2),
    isCanonical: isCanonicalPoseidon2,
    word: x => widen(hex(x, 32)),
    readWord: bytes => {
      if (!/^(0000.{4})*$/.test(bytes)) throw new Error('stray bytes in a word')
      return integer(bytes.replace(/0000(.{4})/g, '$1'))
    },
    full: widen,
    address: widen,
    TAIL: '7f000000'.repeat(8),
    wordLength: 64,
  },
}
