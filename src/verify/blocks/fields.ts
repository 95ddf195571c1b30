import { concatBytes, type Hex, hexToBytes } from '../../base/bytes.ts'
import { atPath, excerpt, kindOf, ProofError, refusal } from '../../base/errors.ts'
import { decodeQuantity, encodeQuantity, lowerCase } from '../../base/hex.ts'
import { atMost, bytesUpTo, hexOf } from '../../base/json/decoders.ts'
import { readerOf } from '../../base/json/reader.ts'
import { encodeInteger, encodeRlp, type RlpItem } from '../anchor/trie.ts'
import { MAX_DATA_LENGTH, MAX_LISTED } from './limits.ts'

/** The fields of transactions, receipts and logs: read from JSON-RPC, written in RLP, compared with what is proven. */

export const reader = /* @__PURE__ */ readerOf('BLOCK_MALFORMED')

/** A quantity of at most `bits` bits: in RLP, an integer without leading zeros. */
const uint =
  (bits: number) =>
  (value: unknown): bigint => {
    const text = reader.string(value)
    const number = decodeQuantity(text, bits)
    if (number === null) throw refusal('BLOCK_QUANTITY', `a quantity of at most ${bits / 8} bytes`, excerpt(text))
    return number
  }

/** In lower case. The text is not spelled again, because that would take many times its memory. */
function decodeData(value: unknown): Hex {
  const text = reader.string(value)
  bytesUpTo(reader, MAX_DATA_LENGTH, 'BLOCK_TOO_LARGE')(text)
  return lowerCase(text)
}

export const listOf =
  <T>(decode: (item: unknown) => T, limit = MAX_LISTED) =>
  (value: unknown): T[] =>
    reader.items(value, atMost('BLOCK_TOO_LARGE', limit), decode)

/** EIP-2718: 0 legacy, 1 access list, 2 dynamic fee, 3 blobs, 4 authorizations. */
export type TransactionType = 0 | 1 | 2 | 3 | 4

/** Old endpoints leave out the type of a legacy transaction. Other chains have types of their own. */
export function decodeType(value: unknown): TransactionType {
  const type = value === undefined ? 0n : uint(64)(value)
  if (type > 4n) throw refusal('BLOCK_TYPE_UNKNOWN', 'a type of Ethereum, 0 to 4', encodeQuantity(type))
  // In range: it was just compared.
  return Number(type) as TransactionType
}

/** Decoders of what is no list. */
export const scalar = {
  type: decodeType,
  uint,
  uint64: /* @__PURE__ */ uint(64),
  uint256: /* @__PURE__ */ uint(256),
  hash: /* @__PURE__ */ hexOf(reader, 32),
  address: /* @__PURE__ */ hexOf(reader, 20),
  data: decodeData,
}

/** RLP of an integer, of bytes, of no address, or of a list; of an object, its fields in their order. */
export function toRlp(value: bigint | string | object | null): RlpItem {
  if (typeof value === 'bigint') return encodeInteger(value)
  if (typeof value === 'string') return hexToBytes(value, value.length / 2 - 1)
  return value === null ? new Uint8Array(0) : Object.values(value).map(toRlp)
}

/** EIP-2718: a byte for the type, which legacy transactions and their receipts do not have, and the RLP of the fields. */
export const encodeTyped = (type: TransactionType, items: RlpItem[]): Uint8Array =>
  type === 0 ? encodeRlp(items) : concatBytes(Uint8Array.of(type), encodeRlp(items))

/** Maps a list. An error has the index in its path. */
export const mapAt = <T, U>(list: readonly T[], map: (item: T, index: number) => U): U[] =>
  list.map((item, index) => {
    const place = () => `[${index}]`
    return atPath(place, () => map(item, index))
  })

/**
 * Compares what was sent with what is proven, field by field. What was sent is never passed on. A missing field, or null,
 * says nothing. Lists are not compared here: each that is proven is part of what was hashed.
 */
export function verifyStated<T extends object>(sent: unknown, proven: T): T {
  const fields = reader.fields(sent, Object.keys(proven))
  for (const [name, value] of Object.entries(proven)) {
    const stated = fields[name]
    if (stated === undefined || Array.isArray(value)) continue
    const expected = typeof value === 'bigint' || typeof value === 'number' ? encodeQuantity(BigInt(value)) : value
    const found = typeof stated === 'string' ? stated.toLowerCase() : stated
    if (found === expected) continue
    const shown = typeof found === 'string' ? excerpt(found) : kindOf(found)
    throw new ProofError('BLOCK_FIELD_MISMATCH', { path: name, expected: `${expected ?? 'nothing'}`, found: shown })
  }
  return proven
}
