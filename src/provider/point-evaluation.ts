import { bls12_381 as curve } from '@noble/curves/bls12-381.js'
import type { Hex } from '../base/bytes.ts'
import { bytesOf } from './evm-state.ts'

/** The second point in G2 of Ethereum's trusted setup, `g2_monomial[1]` in the consensus specification: the secret times the generator. */
const SECRET_G2 =
  'b5bfd7dd8cdeb128843bc287230af38926187075cbfbefa81009a2ce615ac53d2914e5870cb452d2afaaab24f3499f72185cbfee53492714734429b7b38608e23926c911cceceac9a36851477ba4c60b087041de621000edc98edada20c1def2'

const { G1, G2, fields } = curve

/**
 * Whether the polynomial behind a commitment has the value `y` at `z`: `verify_kzg_proof` of EIP-4844.
 *
 * @throws Error in the words that the EVM knows, if an argument is no point or no number of the field
 */
export function verifyPointEvaluation(commitment: Hex, z: Hex, y: Hex, proof: Hex): boolean {
  const [at, value] = [decodeNumber(z), decodeNumber(y)]
  const [committed, quotient] = [decodePoint(commitment), decodePoint(proof)]
  const secret = G2.Point.fromHex(SECRET_G2)
  // e(commitment - y, -1) * e(proof, secret - z) = 1
  const pairs = [
    { g1: committed.subtract(G1.Point.BASE.multiplyUnsafe(value)), g2: G2.Point.BASE.negate() },
    { g1: quotient, g2: secret.subtract(G2.Point.BASE.multiplyUnsafe(at)) },
  ]
  const product = curve.pairingBatch(pairs.filter(({ g1, g2 }) => !g1.is0() && !g2.is0()))
  return fields.Fp12.eql(product, fields.Fp12.ONE)
}

const refuse = (): never => {
  throw new Error('C_KZG_BADARGS')
}

function decodeNumber(hex: Hex): bigint {
  const number = BigInt(hex)
  return number < fields.Fr.ORDER ? number : refuse()
}

/** A point of the curve and of its subgroup. The point at infinity is one. */
function decodePoint(hex: Hex) {
  try {
    const point = G1.Point.fromBytes(bytesOf(hex))
    if (!point.is0()) point.assertValidity()
    return point
  } catch {
    return refuse()
  }
}
