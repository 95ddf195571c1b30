import { RLP } from '@ethereumjs/rlp'
import { bigintToBytes, bytesToBigint, equalBytes } from '../../base/bytes.ts'
import { ProofError } from '../../base/errors.ts'

// Each check of this file is a rule of test/soundness/Trie.v.

/** What RLP can encode: a byte string, or a list of items. */
export type RlpItem = Uint8Array | RlpItem[]

export const encodeRlp = (item: RlpItem): Uint8Array => RLP.encode(item)

/** Decodes exactly one item, as {@link encodeRlp} writes it. The caller bounds the length of `bytes`, and so the depth of the lists. */
export function decodeRlp(bytes: Uint8Array): RlpItem {
  try {
    const item = RLP.decode(bytes)
    // The library refuses most non-canonical encodings. Encoding the item again catches the rest.
    if (equalBytes(encodeRlp(item), bytes)) return item
  } catch {
    // Reported below.
  }
  throw new ProofError('RLP_NON_CANONICAL', { expected: 'one canonical RLP item' })
}

/** The bytes of an integer in RLP: big-endian without leading zeros, so none for zero. */
export const encodeInteger = (value: bigint): Uint8Array =>
  value === 0n ? new Uint8Array(0) : bigintToBytes(value, Math.ceil(value.toString(16).length / 2))

/** An integer as RLP encodes it: big-endian, at most `maxLength` bytes, no leading zero; null if it is not one. */
export function decodeInteger(item: RlpItem | undefined, maxLength: number): bigint | null {
  if (!(item instanceof Uint8Array) || item.length > maxLength || item[0] === 0) return null
  return bytesToBigint(item)
}
