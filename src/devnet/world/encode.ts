import { bigintToBytes, concatBytes } from '../../base/bytes.ts'
import type { HashScheme } from '../../verify/scheme/scheme.ts'
import { HEAD_INDEX, type Leaf, TAIL_INDEX, zeroDigest } from '../../verify/tree/leaf.ts'

/** HEAD and TAIL of an empty tree. They point at themselves and at each other. */
export function initialSentinels(scheme: HashScheme): readonly [head: Leaf, tail: Leaf] {
  const hVal = zeroDigest()
  return [
    { prev: HEAD_INDEX, next: TAIL_INDEX, hKey: zeroDigest(), hVal },
    { prev: HEAD_INDEX, next: TAIL_INDEX, hKey: scheme.tailKey(), hVal },
  ]
}

/** The fields of an account value. Hashes are 32 bytes. */
export interface AccountValue {
  readonly nonce: bigint
  readonly balance: bigint
  readonly storageRoot: Uint8Array
  readonly snarkCodeHash: Uint8Array
  readonly keccakCodeHash: Uint8Array
  readonly codeSize: bigint
}

/** Encodes an account value, 192 bytes. The caller makes sure that the numbers fit their words. */
export function encodeAccountValue(account: AccountValue): Uint8Array {
  const { nonce, balance, storageRoot, snarkCodeHash, keccakCodeHash, codeSize } = account
  const word = (x: bigint) => bigintToBytes(x, 32)
  return concatBytes(word(nonce), word(balance), storageRoot, snarkCodeHash, keccakCodeHash, word(codeSize))
}
