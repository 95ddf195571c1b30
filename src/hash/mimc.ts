import { bytesToBigint } from '../bytes.ts'
import { BLS12377_ORDER, Bls12377 } from '../field/bls12377.ts'
import { roundConstants } from './constants.ts'
import { type Hasher, hasherOf } from './hasher.ts'

const ROUNDS = 62
const EXPONENT = 17n

/** MiMC over the BLS12-377 scalar field, written like its definition. The kernels are compared with it. */
export function mimcReference(): Hasher {
  const constants = roundConstants('seed', BLS12377_ORDER)
  const c = Array.from({ length: ROUNDS }, () => constants.next().value)

  /** The block cipher E_k(m): m <- (m + k + c_i)^17 in every round, and the key once more at the end. */
  function encrypt(k: bigint, m: bigint): bigint {
    const last = c.reduce((state, ci) => Bls12377.pow(Bls12377.add(Bls12377.add(state, k), ci), EXPONENT), m)
    return Bls12377.add(last, k)
  }

  /** Miyaguchi-Preneel: h <- E_h(m) + h + m. */
  function compress(h: bigint, m: bigint): bigint {
    return Bls12377.add(Bls12377.add(encrypt(h, m), h), m)
  }

  return hasherOf(message => {
    let h = 0n
    for (let offset = 0; offset < message.length; offset += 32) {
      h = compress(h, Bls12377.create(bytesToBigint(message.subarray(offset, offset + 32))))
    }
    return Bls12377.toBytes(h)
  })
}
