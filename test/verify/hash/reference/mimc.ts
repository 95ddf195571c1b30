import { Field } from '@noble/curves/abstract/modular.js'
import { bytesToBigint } from '../../../../src/base/bytes.ts'
import { BLS12377_ORDER } from '../../../../src/verify/field/bls12377.ts'
import { type Hasher, hasherOf } from '../../../../src/verify/hash/hasher.ts'
import { roundConstants } from '../../../tools/round-constants.ts'

const ROUNDS = 62
const EXPONENT = 17n

/** MiMC over the BLS12-377 scalar field, written like its definition. The oracle of the shipped hashers. */
export function mimcReference(): Hasher {
  const F = Field(BLS12377_ORDER)
  const constants = roundConstants('seed', BLS12377_ORDER)
  const c = Array.from({ length: ROUNDS }, () => constants.next().value)

  /** The block cipher E_k(m): m <- (m + k + c_i)^17 in every round, plus the key at the end. */
  function encrypt(k: bigint, m: bigint): bigint {
    const last = c.reduce((state, ci) => F.pow(F.add(F.add(state, k), ci), EXPONENT), m)
    return F.add(last, k)
  }

  /** Miyaguchi-Preneel: h <- E_h(m) + h + m. */
  function compress(h: bigint, m: bigint): bigint {
    return F.add(F.add(encrypt(h, m), h), m)
  }

  return hasherOf(message => {
    let h = 0n
    for (let offset = 0; offset < message.length; offset += 32) {
      h = compress(h, F.create(bytesToBigint(message.subarray(offset, offset + 32))))
    }
    return F.toBytes(h)
  })
}
