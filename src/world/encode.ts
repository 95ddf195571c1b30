import { bigintToBytes, concatBytes } from '../bytes.ts'
import type { HashScheme } from '../scheme/scheme.ts'
import { HEAD_INDEX, type Leaf, TAIL_INDEX, zeroDigest } from '../tree/leaf.ts'

/** The first index a new key takes. */
export const FIRST_FREE_NODE = 2

/** HEAD and TAIL of an empty tree. They point at themselves and at each other. */
export function initialSentinels(scheme: HashScheme): readonly [head: Leaf, tail: Leaf] {
  const hVal = zeroDigest()
  return [
    { prev: HEAD_INDEX, next: TAIL_INDEX, hKey: zeroDigest(), hVal },
    { prev: HEAD_INDEX, next: TAIL_INDEX, hKey: scheme.tailKey(), hVal },
  ]
}

/** `word(index)` for an index of at most 2^40. */
export const indexWord = (scheme: HashScheme, index: number): Uint8Array =>
  scheme.encodeWord(bigintToBytes(BigInt(index), 32))

/** Tree format, "The messages": `word(prev) || word(next) || hKey || hVal`, the preimage of a leaf's digest. */
export const encodeOpening = (scheme: HashScheme, leaf: Leaf): Uint8Array =>
  concatBytes(indexWord(scheme, leaf.prev), indexWord(scheme, leaf.next), leaf.hKey, leaf.hVal)

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
