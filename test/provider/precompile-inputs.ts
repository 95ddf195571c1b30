import { bls12_381 } from '@noble/curves/bls12-381.js'
import { bn254 } from '@noble/curves/bn254.js'
import type { Hex } from '../../src/entry/index.ts'

/** Inputs of precompiles, as hexadecimal without a prefix where they are parts. */

export const digits = (value: bigint | number, bytes: number): string => value.toString(16).padStart(2 * bytes, '0')
export const precompile = (number: number): Hex => `0x${digits(number, 20)}`

/** Multiples of the generators of BLS12-381. */
export function g1(factor: bigint): string {
  const { x, y } = bls12_381.G1.Point.BASE.multiply(factor).toAffine()
  return digits(x, 64) + digits(y, 64)
}
export function g2(factor: bigint): string {
  const { x, y } = bls12_381.G2.Point.BASE.multiply(factor).toAffine()
  return [x.c0, x.c1, y.c0, y.c1].map(part => digits(part, 64)).join('')
}

/** Multiples of the generators of BN254. */
export function bn1(factor: bigint): string {
  const { x, y } = bn254.G1.Point.BASE.multiply(factor).toAffine()
  return digits(x, 32) + digits(y, 32)
}
export function bn2(factor: bigint): string {
  const { x, y } = bn254.G2.Point.BASE.multiply(factor).toAffine()
  return [x.c1, x.c0, y.c1, y.c0].map(part => digits(part, 32)).join('')
}

export const BN254_ORDER = bn254.fields.Fr.ORDER
export const BLS_ORDER = bls12_381.fields.Fr.ORDER
