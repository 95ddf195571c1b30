import { Field } from '@noble/curves/abstract/modular.js'
import { concatBytes } from '../../../../src/base/bytes.ts'
import { KOALABEAR_ORDER } from '../../../../src/verify/field/koalabear.ts'
import { type Hasher, hasherOf } from '../../../../src/verify/hash/hasher.ts'
import { roundConstants } from '../../../tools/round-constants.ts'

const WIDTH = 16
const HALF = WIDTH / 2
const FULL_ROUNDS = 6
const PARTIAL_ROUNDS = 21
const SEED = 'Poseidon2-koalabear[t=16,rF=6,rP=21,d=3]'
const BLOCK_BYTES = 4 * HALF

const M4 = [
  [2n, 3n, 1n, 1n],
  [1n, 2n, 3n, 1n],
  [1n, 1n, 2n, 3n],
  [3n, 1n, 1n, 2n],
] as const

/** Poseidon2 over KoalaBear, width 16, in Merkle-Damgard mode, written like its definition. Oracle of the shipped hashers. */
export function poseidon2Reference(): Hasher {
  const F = Field(BigInt(KOALABEAR_ORDER))
  const half = (power: bigint) => F.inv(F.create(2n ** power))

  /** The internal matrix is the all-ones matrix plus this diagonal. */
  const diagonal = [
    ...[F.neg(2n), 1n, 2n, half(1n), 3n, 4n, F.neg(half(1n)), F.neg(3n)],
    ...[F.neg(4n), half(8n), half(3n), half(24n), F.neg(half(8n)), F.neg(half(3n)), F.neg(half(4n)), F.neg(half(24n))],
  ]

  const constants = roundConstants(SEED, BigInt(KOALABEAR_ORDER))
  const keys = (count: number) => Array.from({ length: count }, () => constants.next().value)
  const rounds = Array.from({ length: FULL_ROUNDS + PARTIAL_ROUNDS }, (_, round) => {
    const isFull = round < FULL_ROUNDS / 2 || round >= FULL_ROUNDS / 2 + PARTIAL_ROUNDS
    return keys(isFull ? WIDTH : 1)
  })

  const sum = (terms: readonly bigint[]) => terms.reduce((total, x) => F.add(total, x), 0n)
  const sBox = (x: bigint) => F.mul(F.mul(x, x), x)

  /** circ(2*M4, M4, M4, M4): every group of four becomes M4 of itself plus M4 of the sum of all groups. */
  function externalMatrix(state: readonly bigint[]): bigint[] {
    const mixed = [0, 4, 8, 12].map(start =>
      M4.map(row => sum(row.map((factor, column) => F.mul(factor, state[start + column] ?? 0n)))),
    )
    const total = [0, 1, 2, 3].map(column => sum(mixed.map(group => group[column] ?? 0n)))
    return mixed.flatMap(group => group.map((x, column) => F.add(x, total[column] ?? 0n)))
  }

  function internalMatrix(state: readonly bigint[]): bigint[] {
    const total = sum(state)
    return state.map((x, index) => F.add(total, F.mul(diagonal[index] ?? 0n, x)))
  }

  /** A full round adds a key to every element and raises it. A partial round does so for the first element only. */
  function permute(input: readonly bigint[]): bigint[] {
    let state = externalMatrix(input)
    for (const roundKeys of rounds) {
      state = state.map((x, index) => {
        const key = roundKeys[index]
        return key === undefined ? x : sBox(F.add(x, key))
      })
      state = roundKeys.length === WIDTH ? externalMatrix(state) : internalMatrix(state)
    }
    return state
  }

  /** s <- block + second half of permutation(s || block). */
  function compress(s: readonly bigint[], block: readonly bigint[]): bigint[] {
    const permuted = permute([...s, ...block])
    return block.map((x, index) => F.add(x, permuted[HALF + index] ?? 0n))
  }

  return hasherOf(message => {
    let s = new Array<bigint>(HALF).fill(0n)
    for (let offset = 0; offset < message.length; offset += BLOCK_BYTES) {
      const piece = message.subarray(offset, offset + BLOCK_BYTES)
      // A short last block is padded with zeros on the left.
      const block = concatBytes(new Uint8Array(BLOCK_BYTES - piece.length), piece)
      s = compress(
        s,
        Array.from({ length: HALF }, (_, index) => F.fromBytes(block.subarray(4 * index, 4 * index + 4))),
      )
    }
    return concatBytes(...s.map(x => F.toBytes(x)))
  })
}
