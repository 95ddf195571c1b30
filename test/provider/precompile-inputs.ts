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

/** A known answer of go-ethereum, `core/vm/testdata/precompiles/pointEvaluation.json`. */
export const POINT_EVALUATION: Hex =
  '0x01e798154708fe7789429634053cbf9f99b619f9f084048927333fce637f549b564c0a11a0f704f4fc3e8acfe0f8245f0ad1347b378fbf96e206da11a5d3630624d25032e67a7e6a4910df5834b8fe70e6bcfeeac0352434196bdf4b2485d5a18f59a8d2a1a625a17f3fea0fe5eb8c896db3764f3185481bc22f91b4aaffcca25f26936857bc3a7c2539ea8ec3a952b7873033e038326e87ed3e1276fd140253fa08e9fc25fb2d9a98527fc22a2c9612fbeafdad446cbc7bcdbdcd780af2c16a'
/** One of revm. */
export const ANOTHER_EVALUATION: Hex = `0x${[
  '01e798154708fe7789429634053cbf9f99b619f9f084048927333fce637f549b',
  '73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000000',
  '1522a4a7f34e1ea350ae07c29c96c7e79655aa926122e95fe69fcbd932ca49e9',
  '8f59a8d2a1a625a17f3fea0fe5eb8c896db3764f3185481bc22f91b4aaffcca25f26936857bc3a7c2539ea8ec3a952b7',
  'a62ad71d14c5719385c0686f1871430475bf3a00f0aa3f7b8dd99a9abc2160744faf0070725e00b60ad9a026a15b1a8c',
].join('')}`
