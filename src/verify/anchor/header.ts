import { decodeArgument } from '../../base/arguments.ts'
import { bytesToHex, equalBytes, type Hex } from '../../base/bytes.ts'
import { atPath, excerpt, ProofError, plural, refusal } from '../../base/errors.ts'
import { decodeQuantity } from '../../base/hex.ts'
import { bytesUpTo } from '../../base/json/decoders.ts'
import { readerOf } from '../../base/json/reader.ts'
import { keccak256 } from '../hash/keccak/index.ts'
import { mismatch } from '../tree/path.ts'
import { MAX_EXTRA_LENGTH, MAX_HEADER_LENGTH } from './limits.ts'
import { decodeInteger, decodeRlp, encodeInteger, encodeRlp, type RlpItem } from './trie.ts'

/** The fields of a proven L1 block header. */
export interface L1Block {
  /** The block number. */
  number: bigint
  /** Seconds since 1970. */
  timestamp: bigint
  /** keccak256 of the header's RLP, 32 bytes. */
  hash: Hex
  /** Root of the L1 state, 32 bytes: `eth_getProof` answers lead to it. */
  stateRoot: Hex
}

/** What a field is, with its length in bytes: bytes of this length, or an integer of at most this length. */
type FieldType = readonly ['bytes', number] | readonly ['integer', number]

const reader = readerOf('HEADER_MALFORMED')

const HASH = ['bytes', 32] as const
const UINT64 = ['integer', 8] as const
const UINT256 = ['integer', 32] as const

/** The header's fields in the protocol's order, by their names in JSON-RPC. */
export const FIELDS = [
  ['parentHash', HASH],
  ['sha3Uncles', HASH],
  ['miner', ['bytes', 20]],
  ['stateRoot', HASH],
  ['transactionsRoot', HASH],
  ['receiptsRoot', HASH],
  ['logsBloom', ['bytes', 256]],
  ['difficulty', UINT256],
  ['number', UINT64],
  ['gasLimit', UINT64],
  ['gasUsed', UINT64],
  ['timestamp', UINT64],
  ['extraData', ['bytes', Number.POSITIVE_INFINITY]], // of any length
  ['mixHash', HASH],
  ['nonce', ['bytes', 8]],
  // Added by forks. A header with one of these has all those before it.
  ['baseFeePerGas', UINT256], // London, EIP-1559
  ['withdrawalsRoot', HASH], // Shanghai, EIP-4895
  ['blobGasUsed', UINT64], // Cancun, EIP-4844
  ['excessBlobGas', UINT64], // Cancun, EIP-4844
  ['parentBeaconBlockRoot', HASH], // Cancun, EIP-4788
  ['requestsHash', HASH], // Prague, EIP-7685; Osaka adds none
  ['blockAccessListHash', HASH], // Amsterdam, EIP-7928
  ['slotNumber', UINT64], // Amsterdam, EIP-7843
] as const satisfies readonly (readonly [string, FieldType])[]

type FieldName = (typeof FIELDS)[number][0]

const NAMES: readonly FieldName[] = FIELDS.map(([name]) => name)
const FRONTIER_COUNT = NAMES.indexOf('nonce') + 1

/**
 * The RLP of an L1 block header, from an `eth_getBlockByNumber` or `eth_getBlockByHash` result of any fork. The block's
 * own `hash` field is not read: {@link verifyHeader} compares what was encoded with the hash that you trust.
 *
 * @param block what the endpoint sent as the result, parsed from JSON
 * @returns some 600 bytes
 * @throws ProofError `HEADER_MALFORMED`, `HEADER_FIELD_ORDER`, `HEADER_QUANTITY`, `BAD_HEX`, `WRONG_LENGTH`
 *
 * @example
 * ```ts
 * import { encodeHeader } from 'rollup-state-proof/anchor'
 * import { createService, demoWorld } from 'rollup-state-proof-devnet'
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 *
 * const rollup = { address: '0x00000000000000000000000000000000000011ff' } as const
 * const { chain } = createService({ genesis: demoWorld(poseidon2), rollup })
 * const header = encodeHeader(chain.l1.getBlock(0n))
 * console.log(header.startsWith('0xf9')) // true
 * ```
 */
export function encodeHeader(block: unknown): Hex {
  const fields = reader.fields(block, NAMES)
  const count = NAMES.findLastIndex(name => fields[name] !== undefined) + 1
  const items = FIELDS.slice(0, Math.max(count, FRONTIER_COUNT)).map(([name, type], index) =>
    atPath(name, () => {
      const value = fields[name]
      if (value === undefined && index >= FRONTIER_COUNT) {
        throw refusal('HEADER_FIELD_ORDER', `${name} before ${NAMES[count - 1]}`, 'none')
      }
      return encodeField(type, value)
    }),
  )
  return bytesToHex(encodeRlp(items))
}

function encodeField([kind, length]: FieldType, value: unknown): Uint8Array {
  if (kind === 'bytes') {
    return (length === Number.POSITIVE_INFINITY ? bytesUpTo(reader, MAX_EXTRA_LENGTH) : reader.bytesOf(length))(value)
  }
  const quantity = reader.string(value)
  const number = decodeQuantity(quantity, 8 * length)
  if (number !== null) return encodeInteger(number)
  // Other spellings of a number: `0x00`, `0x01`, `1`.
  const expected = `a quantity of at most ${length} bytes without leading zeros`
  throw refusal('HEADER_QUANTITY', expected, excerpt(quantity))
}

/**
 * Verifies an L1 block header against a block hash that you trust.
 *
 * @param header the header's RLP in hexadecimal, as {@link encodeHeader} returns it
 * @param trustedHash 32 bytes
 * @throws ProofError `HEADER_HASH_MISMATCH` if it is another header; `RLP_NON_CANONICAL`, `HEADER_MALFORMED` or
 * `HEADER_QUANTITY` if what was hashed is not a header; `BAD_HEX`, `WRONG_LENGTH`; ArgumentError
 *
 * @example
 * ```ts
 * import { encodeHeader, verifyHeader } from 'rollup-state-proof/anchor'
 * import { createService, demoWorld } from 'rollup-state-proof-devnet'
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 *
 * const rollup = { address: '0x00000000000000000000000000000000000011ff' } as const
 * const block = Object(createService({ genesis: demoWorld(poseidon2), rollup }).chain.l1.getBlock(0n))
 * const trustedHash = block.hash // in production: from a source that you trust
 * console.log(verifyHeader(encodeHeader(block), trustedHash).number) // 0n
 * ```
 */
export function verifyHeader(header: unknown, trustedHash: Hex): L1Block {
  const { hash, items } = openHeader(header, trustedHash)
  const itemAt = (wanted: FieldName) => items[NAMES.indexOf(wanted)]
  return {
    number: decodeNumber(itemAt('number'), 8),
    timestamp: decodeNumber(itemAt('timestamp'), 8),
    stateRoot: bytesToHex(decodeData(itemAt('stateRoot'), 32)),
    hash,
  }
}

/** {@link verifyHeader}, for all fields: verified, in the order of {@link FIELDS}. */
export function openHeader(header: unknown, trustedHash: Hex): { hash: Hex; items: Uint8Array[] } {
  const expected = decodeArgument('trustedHash', trustedHash, 32)
  const rlp = bytesUpTo(reader, MAX_HEADER_LENGTH)(header)
  const found = keccak256(rlp)
  // Before parsing: only bytes that the trusted hash commits to are parsed.
  if (!equalBytes(found, expected)) throw mismatch('HEADER_HASH_MISMATCH', expected, found)
  const items = decodeRlp(rlp)
  if (items instanceof Uint8Array || items.length < FRONTIER_COUNT || items.length > FIELDS.length) {
    const list = items instanceof Uint8Array ? 'a string' : `a list of ${items.length}`
    throw refusal('HEADER_MALFORMED', `a list of ${FRONTIER_COUNT} to ${FIELDS.length} fields`, list)
  }
  for (const [index, [name, [kind, length]]] of FIELDS.slice(0, items.length).entries()) {
    atPath(name, () => (kind === 'integer' ? decodeNumber(items[index], length) : decodeData(items[index], length)))
  }
  // Each field is a byte string: that was just verified.
  return { hash: bytesToHex(found), items: items as Uint8Array[] }
}

function decodeData(item: RlpItem | undefined, length = Number.POSITIVE_INFINITY): Uint8Array {
  if (!(item instanceof Uint8Array)) throw refusal('HEADER_MALFORMED', 'a string', 'a list')
  if (length !== Number.POSITIVE_INFINITY && item.length !== length) {
    throw refusal('HEADER_MALFORMED', `${length} bytes`, plural(item.length, 'byte'))
  }
  return item
}

function decodeNumber(item: RlpItem | undefined, maxLength: number): bigint {
  const value = decodeInteger(decodeData(item), maxLength)
  if (value !== null) return value
  const expected = `an integer of at most ${maxLength} bytes without leading zeros`
  throw new ProofError('HEADER_QUANTITY', { expected })
}
