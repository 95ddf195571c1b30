import { secp256k1 } from '@noble/curves/secp256k1.js'
import { bytesToHex, type Hex } from '../../base/bytes.ts'
import { ProofError, refusal } from '../../base/errors.ts'
import { encodeRlp } from '../anchor/rlp.ts'
import { keccak256 } from '../hash/keccak/index.ts'
import { toRlp } from './fields.ts'

export interface Signature {
  /** Below the order of the curve, not zero. */
  readonly r: bigint
  /** At most half the order of the curve, not zero (EIP-2). */
  readonly s: bigint
  /** 0 or 1: which of two points has r as its x-coordinate. */
  readonly yParity: number
}

/** Recovers who signed. @param digest of what was signed, 32 bytes */
export function recoverSender(digest: Uint8Array, { r, s, yParity }: Signature): Hex {
  const order = secp256k1.Point.Fn.ORDER
  if (r === 0n || r >= order) throw refusal('TRANSACTION_SIGNATURE', 'r from 1 to below the order of the curve', r)
  if (s === 0n || s > order / 2n) throw refusal('TRANSACTION_SIGNATURE', 's from 1 to half the order of the curve', s)
  return addressOf(recoverKey(digest, { r, s, yParity }))
}

/** The key's two coordinates, 64 bytes. */
function recoverKey(digest: Uint8Array, { r, s, yParity }: Signature): Uint8Array {
  try {
    return new secp256k1.Signature(r, s, yParity).recoverPublicKey(digest).toBytes(false).subarray(1)
  } catch {
    // No point of the curve has this r, or the key would be the point at infinity.
    throw new ProofError('TRANSACTION_SENDER', { expected: 'the signature of a public key' })
  }
}

/** The address of the contract that an account creates with the transaction of this nonce. */
export const contractAddressOf = (sender: Hex, nonce: bigint): Hex => addressOf(encodeRlp(toRlp([sender, nonce])))

const addressOf = (preimage: Uint8Array): Hex => bytesToHex(keccak256(preimage).subarray(12))
