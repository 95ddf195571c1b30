import { bigintToBytes, bytesToBigint } from '../../../base/bytes.ts'
import { BLS12377_ORDER } from '../../field/bls12377.ts'
import { type Hasher, hasherOf } from '../hasher.ts'
import { mimcConstants } from './constants.ts'

const squared = (x: bigint): bigint => (x * x) % BLS12377_ORDER

/** x^17: four squarings and one multiplication. */
const power17 = (x: bigint): bigint => (squared(squared(squared(squared(x)))) * x) % BLS12377_ORDER

/** The block cipher E_k(m): m <- (m + k + c_i)^17 in each of the 62 rounds, and the key once more at the end. */
const encrypt = (k: bigint, m: bigint): bigint => mimcConstants.reduce((state, c) => power17(state + k + c), m) + k

/** MiMC in BigInt, as the tree format defines it in "The hash functions": for engines without WebAssembly. */
export const mimcPlain = (): Hasher =>
  hasherOf(message => {
    let h = 0n
    for (let offset = 0; offset < message.length; offset += 32) {
      const m = bytesToBigint(message.subarray(offset, offset + 32))
      // Miyaguchi-Preneel.
      h = (encrypt(h, m) + h + m) % BLS12377_ORDER
    }
    return bigintToBytes(h, 32)
  })
