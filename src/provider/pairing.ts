import { bls12_381 } from '@noble/curves/bls12-381.js'
import { bn254 } from '@noble/curves/bn254.js'
import { PAIRS_A_SLICE } from './limits.ts'
import type { Pace } from './pace.ts'

/** How a precompile encodes points, and in which order the two parts of a coordinate in G2. */
const encodings = {
  bls12_381: { curve: bls12_381, size: 64, imaginaryFirst: false },
  bn254: { curve: bn254, size: 32, imaginaryFirst: true },
} as const

/**
 * The pairing precompiles of EIP-197 and EIP-2537, with pauses: whether the product of all pairings is one.
 *
 * @throws Error if a point is none; what `pace` throws
 */
export async function checkPairings(name: keyof typeof encodings, input: Uint8Array, pace: Pace): Promise<boolean> {
  const { curve, size, imaginaryFirst } = encodings[name]
  const { G1, G2, fields } = curve
  const numberAt = (at: number) => numberOf(input.subarray(at, at + size))
  const partsAt = (at: number) => {
    const [first, second] = [numberAt(at), numberAt(at + size)]
    // `fromAffine` refuses numbers outside the field.
    return imaginaryFirst ? { c0: second, c1: first } : { c0: first, c1: second }
  }
  const isZero = (at: number, count: number) => input.subarray(at, at + count * size).every(byte => byte === 0)
  const readPair = (at: number) => ({
    g1: isZero(at, 2) ? G1.Point.ZERO : G1.Point.fromAffine({ x: numberAt(at), y: numberAt(at + size) }),
    g2: isZero(at + 2 * size, 4)
      ? G2.Point.ZERO
      : G2.Point.fromAffine({ x: partsAt(at + 2 * size), y: partsAt(at + 4 * size) }),
  })

  let product = fields.Fp12.ONE
  for (let at = 0; at < input.length; at += 6 * size * PAIRS_A_SLICE) {
    await pace.pause()
    const pairs = Array.from({ length: PAIRS_A_SLICE }, (_, index) => at + 6 * size * index)
      .filter(start => start < input.length)
      .map(readPair)
    for (const { g1, g2 } of pairs) {
      for (const point of [g1, g2]) if (!point.is0()) point.assertValidity()
    }
    const finite = pairs.filter(({ g1, g2 }) => !g1.is0() && !g2.is0())
    product = fields.Fp12.mul(product, curve.pairingBatch(finite, false))
  }
  await pace.pause()
  return fields.Fp12.eql(fields.Fp12.finalExponentiate(product), fields.Fp12.ONE)
}

const numberOf = (bytes: Uint8Array): bigint => bytes.reduce((number, byte) => (number << 8n) | BigInt(byte), 0n)
