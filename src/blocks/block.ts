import type { Hex } from '../bytes.ts'
import { hexToBytes } from '../bytes.ts'
import { refusal } from '../errors.ts'
import { mapAt, reader, verifyStated } from './fields.ts'
import { type BlockClaim, type BlockHeader, decodeBlockClaim, openHeader } from './header.ts'
import { type Log, openReceipts, type Receipt } from './receipts.ts'
import { contractAddressOf } from './sender.ts'
import { openTransactions, type Transaction } from './transactions.ts'

/** Where something is. */
export interface BlockPlace {
  /** 32 bytes. */
  blockHash: Hex
  /** The block number. */
  blockNumber: bigint
  /** Seconds since 1970. */
  blockTimestamp: bigint
}

/** A proven transaction in a proven block. */
export interface BlockTransaction extends Transaction, BlockPlace {
  /** What was paid for a unit of gas, in wei, whatever the type. */
  gasPrice: bigint
}

/** A proven log in a proven block. */
export interface BlockLog extends Log, BlockPlace {
  /** 32 bytes. */
  transactionHash: Hex
}

/** A proven receipt in a proven block. */
export interface BlockReceipt extends Omit<Receipt, 'logs'>, BlockPlace {
  /** 32 bytes. */
  transactionHash: Hex
  /** The sender, 20 bytes. */
  from: Hex
  /** The recipient, 20 bytes; null if a contract is created. */
  to: Hex | null
  /** Where the transaction creates a contract, if it succeeds, 20 bytes; null if it creates none. */
  contractAddress: Hex | null
  /** What was paid for a unit of gas, in wei. */
  effectiveGasPrice: bigint
  /** In gas; zero for a transaction without blobs. */
  blobGasUsed: bigint
  /** All its logs, in order. */
  logs: BlockLog[]
}

/** A block in which everything is proven. */
export interface VerifiedBlock {
  /** All fields. */
  header: BlockHeader
  /** All transactions, in order. */
  transactions: BlockTransaction[]
  /** One per transaction, in order. */
  receipts: BlockReceipt[]
}

/** EIP-4844. */
const GAS_PER_BLOB = 131_072n

/**
 * Verifies a whole block against its hash: header, transactions and receipts. Every field that JSON-RPC has for them is derived
 * from what was hashed, and what was sent is compared with it, except for `blobGasPrice`, which is left out: it depends on the
 * forks of the chain.
 *
 * @param parts `header`: its RLP in hexadecimal, as `encodeHeader` makes it. `transactions`: those of an `eth_getBlockByNumber`
 * result with full transactions. `receipts`: an `eth_getBlockReceipts` result
 * @param claim the trusted hash, and the number asked for
 * @throws ProofError as {@link verifyBlockHeader}, {@link verifyTransactions} and {@link verifyReceipts};
 * `BLOCK_COUNT_MISMATCH`; ArgumentError
 *
 * @example
 * ```ts
 * import { encodeHeader, verifyBlock } from 'rollup-state-proof/blocks'
 * import { createService } from 'rollup-state-proof/service'
 * import { demoWorld } from 'rollup-state-proof/service/demo'
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 *
 * // A block without transactions.
 * const rollup = { address: '0x00000000000000000000000000000000000011ff' } as const
 * const { chain } = createService({ genesis: demoWorld(poseidon2), rollup })
 * const block = Object(chain.l1.getBlock(0n))
 * const parts = { header: encodeHeader(block), transactions: [], receipts: [] }
 * console.log(verifyBlock(parts, { hash: block.hash, number: 0n }).receipts.length) // 0
 * ```
 */
export function verifyBlock(parts: unknown, claim: BlockClaim): VerifiedBlock {
  const expected = decodeBlockClaim(claim)
  const field = reader.fieldsOf(parts, ['header', 'transactions', 'receipts'])
  const header = field('header', value => openHeader(value, expected))
  const { hash, number, timestamp, transactionsRoot, receiptsRoot } = header
  const place: BlockPlace = { blockHash: hash, blockNumber: number, blockTimestamp: timestamp }
  const transactions = field('transactions', list =>
    mapAt(openTransactions(list, hexToBytes(transactionsRoot, 32)), ({ source, transaction }): BlockTransaction => {
      const gasPrice = effectivePrice(transaction, header)
      return verifyStated(source, { ...transaction, ...place, gasPrice })
    }),
  )
  const receipts = field('receipts', list =>
    openReceipts(list, hexToBytes(receiptsRoot, 32), index => contextOf(transactions, index, place)),
  )
  if (receipts.length < transactions.length) throw countMismatch(transactions.length, receipts.length)
  return { header, transactions, receipts }
}

/** EIP-1559. A block before London has no base fee. */
const effectivePrice = (transaction: Transaction, { baseFeePerGas = 0n }: BlockHeader): bigint => {
  const { gasPrice = 0n, maxFeePerGas = gasPrice, maxPriorityFeePerGas = gasPrice } = transaction
  const price = baseFeePerGas + maxPriorityFeePerGas
  return price < maxFeePerGas ? price : maxFeePerGas
}

/** What the transaction and the block say about a receipt. */
function contextOf(transactions: readonly BlockTransaction[], index: number, place: BlockPlace) {
  const transaction = transactions[index]
  if (transaction === undefined) throw countMismatch(transactions.length, index + 1)
  const { hash: transactionHash, type, from, to, nonce, gasPrice, blobVersionedHashes = [] } = transaction
  const contractAddress = to === null ? contractAddressOf(from, nonce) : null
  const blobGasUsed = GAS_PER_BLOB * BigInt(blobVersionedHashes.length)
  const sent = { type, from, to, contractAddress, effectiveGasPrice: gasPrice, blobGasUsed }
  return { receipt: { ...place, transactionHash, ...sent }, log: { ...place, transactionHash } }
}

const countMismatch = (transactions: number, receipts: number) =>
  refusal('BLOCK_COUNT_MISMATCH', `${transactions} receipts`, receipts)
