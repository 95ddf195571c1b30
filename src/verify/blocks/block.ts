import { type Hex, hexLength, hexToBytes } from '../../base/bytes.ts'
import { atPath, own, ProofError, plural, refusal } from '../../base/errors.ts'
import { optional, unread } from '../../base/json/decoders.ts'
import { decodeRlp, EMPTY_TRIE_ROOT, encodeRlp } from '../anchor/trie.ts'
import { mapAt, reader, verifyStated } from './fields.ts'
import type { DecodedFilter } from './filter.ts'
import { bloomTest, selectedBy } from './filter.ts'
import { type BlockClaim, type BlockHeader, decodeBlockClaim, openHeader } from './header.ts'
import type { Context, Log, Receipt } from './receipts.ts'
import { openReceipts } from './receipts.ts'
import { contractAddressOf, openTransactions, type Transaction } from './transactions.ts'

/** Where something is. */
interface BlockPlace {
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

const PARTS = ['header', 'transactions', 'receipts'] as const

/** EIP-4844. */
export const GAS_PER_BLOB = 131_072n

/**
 * Verifies a whole block against its hash: header, transactions and receipts. Every field that JSON-RPC has for them is derived
 * from what was hashed, and what was sent is compared with it, except for `blobGasPrice`, which is left out: it depends on the
 * forks of the chain.
 *
 * @param parts `header`: its RLP in hexadecimal, as `encodeHeader` makes it. `transactions`: those of an `eth_getBlockByNumber`
 * result with full transactions. `receipts`: an `eth_getBlockReceipts` result
 * @param claim the trusted hash, and the number asked for
 * @throws ProofError as {@link verifyBlockHeader}, {@link verifyTransactions} and {@link verifyReceipts};
 * `BLOCK_COUNT_MISMATCH`, `BLOCK_BLOOM`; ArgumentError
 *
 * @example
 * ```ts
 * import { encodeHeader } from 'rollup-state-proof/anchor'
 * import { verifyBlock } from 'rollup-state-proof/blocks'
 * import { createService, demoWorld } from 'rollup-state-proof-devnet'
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
  const field = reader.fieldsOf(parts, PARTS)
  const header = field('header', value => openHeader(value, expected))
  const transactions = field('transactions', list => mapAt(openBlockTransactions(list, header), ({ open }) => open()))
  const sent = field('receipts', unread)
  const receipts = openBlockReceipts(sent, header, transactions, transaction => contextOf(transaction, header))
  return { header, transactions, receipts }
}

function placeOf({ hash, number, timestamp }: BlockHeader): BlockPlace {
  return { blockHash: hash, blockNumber: number, blockTimestamp: timestamp }
}

export type OpenedBlockTransaction = ReturnType<typeof openBlockTransactions>[number]

/** The transactions of {@link verifyBlock}, each of which is opened when it is needed. @param header proven */
export const openBlockTransactions = (list: unknown, header: BlockHeader) =>
  openTransactions(list, hexToBytes(header.transactionsRoot, 32)).map(({ source, open, ...rest }, transactionIndex) => {
    const gasPrice = effectivePrice(rest.signed, header)
    const placed = { ...placeOf(header), gasPrice }
    return {
      ...rest,
      gasPrice,
      /** Compares what was sent, but for the sender, with what is proven. */
      compare: () => void verifyStated(source, { hash: rest.hash, transactionIndex, ...placed }),
      /** Recovers the sender, which takes about a millisecond, and compares what was sent. */
      open: (): BlockTransaction => verifyStated(source, { ...open(), ...placed }),
    }
  })

/** The receipts of {@link verifyBlock}, one for each transaction. @param contextFor what a transaction says about its receipt */
export const openBlockReceipts = <T, C extends Context>(
  list: unknown,
  header: BlockHeader,
  transactions: readonly T[],
  contextFor: (transaction: T) => C,
) => openAll(list, header, transactions.length, index => contextFor(itemAt(transactions, index)))

/** @param least how many receipts there must be */
function openAll<C extends Context>(
  list: unknown,
  header: BlockHeader,
  least: number,
  contextAt: (index: number) => C,
) {
  const receipts = atPath('receipts', () => {
    const opened = openReceipts(list, hexToBytes(header.receiptsRoot, 32), contextAt)
    if (opened.length < least) throw countMismatch(least, opened.length)
    return opened
  })
  // Whoever searches with the filter in the header skips the block if a log is not in it.
  const union = receipts.reduce((all, { logsBloom }) => all | BigInt(logsBloom), 0n)
  if (union === BigInt(header.logsBloom)) return receipts
  throw new ProofError('BLOCK_BLOOM', { path: 'header.logsBloom', expected: 'that of all logs' })
}

/** Hash of the empty list. */
export const NO_UNCLES: Hex = '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347'

/** What follows if the block has no uncles and no withdrawals, as those of rollups. @param rlp that of the header */
export function deriveBody(header: BlockHeader, rlp: Hex, transactions: readonly OpenedBlockTransaction[]) {
  const { sha3Uncles, withdrawalsRoot } = own(header)
  const uncles: [] | undefined = sha3Uncles === NO_UNCLES ? [] : undefined
  const withdrawals: [] | undefined = withdrawalsRoot === EMPTY_TRIE_ROOT ? [] : undefined
  if (uncles === undefined || (withdrawalsRoot && withdrawals === undefined)) return { uncles, withdrawals }
  // A typed transaction is a string in the block, a legacy one a list.
  const listed = transactions.map(({ rlp, signed }) => (signed.type === 0 ? decodeRlp(rlp) : rlp))
  const block = [decodeRlp(hexToBytes(rlp, hexLength(rlp))), listed, uncles, ...(withdrawals ? [withdrawals] : [])]
  return { uncles, withdrawals, size: encodeRlp(block).length }
}

/** A proven log in a proven block, before its transaction is known. */
type PlacedLog = Log & BlockPlace

/** All logs of a block, by receipt. If the transactions are known, what the receipts say about them is compared. */
export function openBlockLogs(list: unknown, header: BlockHeader, transactions?: readonly OpenedBlockTransaction[]) {
  const place = placeOf(header)
  const contextAt = (index: number) => {
    if (transactions === undefined) return { receipt: place, log: place }
    const { hash: transactionHash, gasPrice: effectiveGasPrice, signed } = itemAt(transactions, index)
    const log = { ...place, transactionHash }
    return { log, receipt: { ...log, effectiveGasPrice, type: signed.type, to: signed.to } }
  }
  return openAll(list, header, 0, contextAt).map(({ logs }) => logs)
}

/** Adds the hashes of the transactions. @param transactions all of the block */
export const withTransactions = (logs: readonly PlacedLog[], transactions: readonly { hash: Hex }[]): BlockLog[] =>
  logs.map(log => ({ ...log, transactionHash: itemAt(transactions, log.transactionIndex).hash }))

/** EIP-1559. A block before London has no base fee. */
export function effectivePrice(signed: Partial<Transaction>, header: Pick<BlockHeader, 'baseFeePerGas'>): bigint {
  const { baseFeePerGas = 0n } = own(header)
  const { gasPrice = 0n, maxFeePerGas = gasPrice, maxPriorityFeePerGas = gasPrice } = own(signed)
  const price = baseFeePerGas + maxPriorityFeePerGas
  return price < maxFeePerGas ? price : maxFeePerGas
}

export function contextOf(transaction: BlockTransaction, header: BlockHeader) {
  const place = placeOf(header)
  const { hash: transactionHash, type, from, to, nonce, gasPrice, blobVersionedHashes = [] } = own(transaction)
  const contractAddress = to === null ? contractAddressOf(from, nonce) : null
  const blobGasUsed = GAS_PER_BLOB * BigInt(blobVersionedHashes.length)
  const log = { ...place, transactionHash }
  return { log, receipt: { ...log, type, from, to, contractAddress, effectiveGasPrice: gasPrice, blobGasUsed } }
}

/** For a receipt of which only what is hashed is wanted. */
export const NO_CONTEXT: Context = { receipt: {}, log: {} }

function itemAt<T>(transactions: readonly T[], index: number): T {
  const item = transactions[index]
  if (item === undefined) throw countMismatch(transactions.length, index + 1)
  return item
}

const countMismatch = (transactions: number, receipts: number) =>
  refusal('BLOCK_COUNT_MISMATCH', plural(transactions, 'receipt'), receipts)

/** What one block of a range proves about the logs that are searched for. */
export type SearchedBlock = ReturnType<ReturnType<typeof searchBlocks>['verify']>

/** Searches blocks, newest first. Those after `toBlock`, the last of the range, only lead there. */
export function searchBlocks(filter: DecodedFilter, toBlock: bigint) {
  const [isSelected, mayBeIn] = [selectedBy(filter), bloomTest(filter)]
  const isSearched = ({ number, logsBloom }: BlockHeader) => number <= toBlock && mayBeIn(logsBloom)
  return {
    isSelected,
    /** Whether the receipts of a block are needed, whose header is proven. */
    isSearched,
    /**
     * Verifies a block against the hash and number that the block after it proves. A block consists of what proves its logs, and
     * no more: its header, its receipts unless the bloom filter in the header rules out such logs, and its transactions if there is
     * such a log. If it needs no receipts, their count is null.
     */
    verify(parts: unknown, claim: BlockClaim) {
      const field = reader.fieldsOf(parts, PARTS)
      const header = field('header', value => openHeader(value, claim))
      const sent = field('receipts', onlyIf(isSearched(header)))
      const openAll = (list: unknown) => {
        const all = openBlockTransactions(list, header)
        mapAt(all, one => one.compare())
        return all
      }
      const transactions = sent === undefined ? undefined : field('transactions', optional(openAll))
      const byReceipt = sent === undefined ? undefined : openBlockLogs(sent, header, transactions)
      const logs = byReceipt?.flat().filter(isSelected) ?? []
      field('transactions', onlyIf(logs.length > 0))
      return { header, logs: withTransactions(logs, transactions ?? []), receiptCount: byReceipt?.length ?? null }
    },
  }
}

const onlyIf =
  (isNeeded: boolean) =>
  (list: unknown): unknown => {
    if (isNeeded && list === undefined) throw refusal('LOGS_CONTENT_MISSING', 'those of the block', 'none')
    if (!isNeeded && list !== undefined) throw refusal('LOGS_CONTENT_UNUSED', 'none', 'some')
    return list
  }
