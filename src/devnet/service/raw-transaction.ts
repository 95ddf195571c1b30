import { byteAt, bytesToHex, type Hex } from '../../base/bytes.ts'
import { refusal } from '../../base/errors.ts'
import { encodeQuantity } from '../../base/hex.ts'
import { decodeInteger, decodeRlp, type RlpItem } from '../../verify/anchor/rlp.ts'
import { decodeType } from '../../verify/blocks/fields.ts'
import { LAYOUTS } from '../../verify/blocks/transactions.ts'

export interface RawTransaction {
  readonly type: Hex
  /** Type 3. */
  readonly blobVersionedHashes?: readonly Hex[]
}

/** A signed transaction as JSON-RPC has it, from its encoding (EIP-2718). What depends on the signature or the block is missing. */
export function readRaw(raw: Uint8Array): RawTransaction {
  const isTyped = byteAt(raw, 0) < 0xc0
  const type = decodeType(isTyped && raw.length > 0 ? encodeQuantity(BigInt(byteAt(raw, 0))) : undefined)
  const names = [...LAYOUTS[type], 'v', 'r', 's']
  const items = listOf(decodeRlp(isTyped ? raw.subarray(1) : raw), names.length)
  const fields = names.map((name, index) => [name, (READERS[name] ?? quantityOf)(items[index])])
  return { type: encodeQuantity(BigInt(type)), ...Object.fromEntries(fields) }
}

type Item = RlpItem | undefined

const bytesOf = (item: Item): Hex => {
  if (item instanceof Uint8Array) return bytesToHex(item)
  throw refusal('BLOCK_MALFORMED', 'bytes', 'a list')
}

/** @param count of items. Default: any */
function listOf(item: Item, count?: number): readonly RlpItem[] {
  if (!Array.isArray(item)) throw refusal('BLOCK_MALFORMED', 'a list', 'bytes')
  if (count === undefined || item.length === count) return item
  throw refusal('BLOCK_MALFORMED', `a list of ${count}`, `a list of ${item.length}`)
}

function quantityOf(item: Item): Hex {
  const number = decodeInteger(item, 32)
  if (number === null) throw refusal('BLOCK_QUANTITY', 'an integer of at most 32 bytes', 'another item')
  return encodeQuantity(number)
}

/** How fields are read that are no numbers. */
const READERS: Readonly<Record<string, (item: Item) => unknown>> = {
  to: item => (item?.length === 0 ? null : bytesOf(item)),
  input: bytesOf,
  accessList: item =>
    listOf(item).map(entry => {
      const [address, keys] = listOf(entry, 2)
      return { address: bytesOf(address), storageKeys: listOf(keys).map(bytesOf) }
    }),
  blobVersionedHashes: item => listOf(item).map(bytesOf),
  authorizationList: item =>
    listOf(item).map(entry => {
      const [chainId, address, ...numbers] = listOf(entry, 6)
      const [nonce, yParity, r, s] = numbers.map(quantityOf)
      return { chainId: quantityOf(chainId), address: bytesOf(address), nonce, yParity, r, s }
    }),
}
