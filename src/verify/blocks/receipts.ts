import { decodeArgument } from '../../base/arguments.ts'
import { byteAt, bytesToHex, type Hex } from '../../base/bytes.ts'
import { atPath, ProofError, refusal } from '../../base/errors.ts'
import { readOptions } from '../../base/options.ts'
import { keccak256 } from '../hash/keccak/index.ts'
import { encodeTyped, listOf, mapAt, reader, scalar, type TransactionType, toRlp, verifyStated } from './fields.ts'
import { MAX_TOPICS, MAX_TRANSACTIONS } from './limits.ts'
import { verifyListRoot } from './ordered-trie.ts'

// Each check of this file is a rule of test/soundness/Receipts.v.

/** A log that is proven to be in a block. */
export interface Log {
  /** The contract that wrote it, 20 bytes. */
  address: Hex
  /** At most 4, of 32 bytes each. */
  topics: Hex[]
  /** Any length. */
  data: Hex
  /** Its place among all logs of the block, from 0. */
  logIndex: number
  /** The place of its transaction in the block, from 0. */
  transactionIndex: number
  /** The block is proven, so its logs are not removed. */
  removed: false
}

/** A receipt that is proven to be in a block. */
export interface Receipt {
  /** That of the transaction. */
  type: TransactionType
  /** The place of its transaction in the block, from 0. */
  transactionIndex: number
  /** 1 if the transaction succeeded, 0 if it reverted. */
  status: bigint
  /** Gas of the block's transactions up to this one. */
  cumulativeGasUsed: bigint
  /** Gas of this transaction: the difference. */
  gasUsed: bigint
  /** The bloom filter of its logs, 256 bytes: recomputed. */
  logsBloom: Hex
  /** All its logs, in order. */
  logs: Log[]
}

type DecodedLog = ReturnType<typeof decodeLog>

export function decodeLog(source: unknown) {
  const field = reader.fieldsOf(source, ['address', 'topics', 'data'])
  const [address, topics] = [field('address', scalar.address), field('topics', listOf(scalar.hash, MAX_TOPICS))]
  return { source, fields: { address, topics, data: field('data', scalar.data) } }
}

/** Since Byzantium, a receipt has a status in place of a state root. */
function decodeStatus(value: unknown): bigint {
  const status = scalar.uint64(value)
  if (status > 1n) throw refusal('RECEIPT_STATUS', '0 or 1', status)
  return status
}

export function decodeReceipt(source: unknown) {
  const field = reader.fieldsOf(source, ['type', 'status', 'cumulativeGasUsed', 'logsBloom', 'logs'])
  return {
    source,
    type: field('type', scalar.type),
    status: field('status', decodeStatus),
    cumulativeGasUsed: field('cumulativeGasUsed', scalar.uint64),
    logsBloom: field('logsBloom', value => bytesToHex(reader.bytesOf(BLOOM_LENGTH)(value))),
    logs: field('logs', listOf(decodeLog)),
  }
}

type DecodedReceipt = ReturnType<typeof decodeReceipt>

export const encodeReceipt = ({ type, status, cumulativeGasUsed, logsBloom, logs }: DecodedReceipt): Uint8Array =>
  encodeTyped(type, [status, cumulativeGasUsed, logsBloom, logs.map(({ fields }) => fields)].map(toRlp))

const BLOOM_LENGTH = 256

/** The bits of a bloom filter that an address or a topic sets: three, numbered from the last one. */
export function bloomBits(value: Hex): number[] {
  const hash = keccak256(decodeArgument('', value))
  return [0, 2, 4].map(index => ((byteAt(hash, index) << 8) | byteAt(hash, index + 1)) % (8 * BLOOM_LENGTH))
}

/** The bloom filter of logs. @param known bits that were computed before: most logs of a block share an address or topics */
export function bloomOf(logs: readonly DecodedLog[], known = new Map<Hex, readonly number[]>()): Uint8Array {
  const bloom = new Uint8Array(BLOOM_LENGTH)
  for (const { fields } of logs) {
    for (const value of [fields.address, ...fields.topics]) {
      const bits = known.get(value) ?? bloomBits(value)
      known.set(value, bits)
      for (const bit of bits) {
        const place = BLOOM_LENGTH - 1 - (bit >> 3)
        bloom[place] = byteAt(bloom, place) | (1 << (bit & 7))
      }
    }
  }
  return bloom
}

/** What is known of a receipt and of its logs from elsewhere: from the header, and from the transaction. */
export interface Context {
  readonly receipt: object
  readonly log: object
}

/** {@link verifyReceipts}. @param contextOf what else is proven about the receipt at an index */
export function openReceipts<C extends Context>(list: unknown, root: Uint8Array, contextOf: (index: number) => C) {
  const decoded = listOf(decodeReceipt, MAX_TRANSACTIONS)(list)
  verifyListRoot('RECEIPTS_ROOT_MISMATCH', decoded.map(encodeReceipt), root)
  const known = new Map<Hex, readonly number[]>()
  let [gasBefore, logIndex] = [0n, 0]
  return mapAt(decoded, ({ source, logs: sent, ...fields }, transactionIndex) => {
    const { cumulativeGasUsed, logsBloom } = fields
    const gasUsed = cumulativeGasUsed - gasBefore
    gasBefore = cumulativeGasUsed
    if (gasUsed < 0n) throw refusal('RECEIPT_GAS', `at least ${cumulativeGasUsed - gasUsed}`, cumulativeGasUsed)
    const bloom = bytesToHex(bloomOf(sent, known))
    if (logsBloom !== bloom) throw new ProofError('RECEIPT_BLOOM', { path: 'logsBloom', expected: 'that of its logs' })
    const context: { readonly receipt: C['receipt']; readonly log: C['log'] } = contextOf(transactionIndex)
    const logs = atPath('logs', () =>
      mapAt(sent, ({ source, fields }) => {
        const derived = { logIndex: logIndex++, transactionIndex, removed: false } as const
        return verifyStated(source, { ...fields, ...derived, ...context.log })
      }),
    )
    return verifyStated(source, { ...fields, transactionIndex, gasUsed, ...context.receipt, logs })
  })
}

/**
 * Verifies that these are all receipts of a block, in order, so that none of its logs is missing. Each is encoded again from what
 * was sent. Whatever else was sent is compared with what is proven, or left out: the transaction’s hash, sender and price are
 * in no receipt, so {@link verifyBlock} is needed for them.
 *
 * @param receipts an `eth_getBlockReceipts` result, parsed from JSON
 * @param claim the root in the proven header, 32 bytes
 * @returns one per transaction, in order
 * @throws ProofError `RECEIPTS_ROOT_MISMATCH`, `RECEIPT_*`, `BLOCK_*`, `BAD_HEX`, `WRONG_LENGTH`; ArgumentError
 *
 * @example
 * ```ts
 * import { verifyReceipts } from 'rollup-state-proof/blocks'
 *
 * // One receipt without logs.
 * const receipt = { type: '0x2', status: '0x1', cumulativeGasUsed: '0x5208', logsBloom: `0x${'00'.repeat(256)}`, logs: [] }
 * const receiptsRoot = '0xf78dfb743fbd92ade140711c8bbc542b5e307f0ab7984eff35d751969fe57efa'
 * console.log(verifyReceipts([receipt], { receiptsRoot })[0]?.gasUsed) // 21000n
 * ```
 */
export function verifyReceipts(receipts: unknown, claim: { receiptsRoot: Hex }): Receipt[] {
  const { receiptsRoot } = readOptions('', claim, ['receiptsRoot'])
  return openReceipts(receipts, decodeArgument('receiptsRoot', receiptsRoot, 32), () => ({ receipt: {}, log: {} }))
}
