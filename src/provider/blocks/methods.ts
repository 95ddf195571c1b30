import { bytesToHex, type Hex } from '../../base/bytes.ts'
import { encodeQuantity } from '../../base/hex.ts'
import type { FetchedBlock } from '../../client/l1/blocks.ts'
import { type BlockReceipt, contextOf, NO_CONTEXT, NO_UNCLES, openBlockReceipts } from '../../verify/blocks/block.ts'
import { listOf } from '../../verify/blocks/fields.ts'
import { type Context, decodeReceipt, encodeReceipt } from '../../verify/blocks/receipts.ts'
import type { CurrentView } from '../current-view.ts'
import { refusedFor } from '../error.ts'
import type { BlockMethod, Method } from '../method-table.ts'
import type { VerifiedOptions } from '../options.ts'
import type { Pace } from '../pace.ts'
import { params } from '../params.ts'
import { type Chain, createChain, openAll } from './chain.ts'
import { blobFeeOf, feeHistory, suggestTip } from './fees.ts'
import { createFilters } from './filters.ts'
import { knownBlocksOf } from './known-blocks.ts'
import { createLogSearch, getLogs, type LogSearch, readNumber } from './logs.ts'
import { spellBlock, spellReceipt, spellTransaction } from './spell.ts'

const hashIn = (value: unknown): Hex => params.bytes('hash', value, 32)
const isHash = (value: unknown): boolean => typeof value === 'string' && value.length === 66

/** The blocks that a request at this pace is answered from. */
type ChainNow = (pace: Pace) => Promise<Chain>

/**
 * The methods about blocks, receipts, logs and fees. What they answer is proven from the block hashes in the view's state. Null
 * is not proven: it says that endpoints know nothing of a hash, or that a block is newer than those that the view proves.
 */
export function createBlockMethods(
  settings: VerifiedOptions,
  current: CurrentView['current'],
): Readonly<Record<BlockMethod, Method>> {
  const chainAt = createChain(settings, knownBlocksOf(settings))
  const chainNow: ChainNow = async pace => chainAt(await current(), pace)
  const search = createLogSearch(settings)
  return {
    ...ofBlocks(chainNow),
    ...ofTransactions(chainNow),
    ...ofRanges(search, chainNow),
    ...createFilters({ search, chainNow, timeoutMs: settings.timeoutMs }),
  }
}

/** The number of the block that a client names; null if it is none that is proven. */
type Find = (chain: Chain, value: unknown) => Promise<bigint | null>
type Answer = (chain: Chain, number: bigint, more: unknown) => Promise<unknown>

function ofBlocks(chainNow: ChainNow) {
  const byNumber: Find = async (chain, value) => {
    const number = readNumber(value, chain)
    return number > chain.newest ? null : number
  }
  const byHash: Find = ({ numberOf }, value) => numberOf(hashIn(value))
  const byEither: Find = (chain, value) => (isHash(value) ? byHash : byNumber)(chain, value)

  /** Null if nothing is proven of the block that the first parameter names. */
  const about =
    (find: Find, answer: Answer): Method =>
    async ([block, more], pace) => {
      const chain = await chainNow(pace)
      const number = await find(chain, block)
      return number === null ? null : answer(chain, number, more)
    }

  return {
    eth_getBlockByNumber: about(byNumber, getBlock),
    eth_getBlockByHash: about(byHash, getBlock),
    eth_getBlockTransactionCountByNumber: about(byNumber, countTransactions),
    eth_getBlockTransactionCountByHash: about(byHash, countTransactions),
    eth_getUncleCountByBlockNumber: about(byNumber, countUncles),
    eth_getUncleCountByBlockHash: about(byHash, countUncles),
    eth_getUncleByBlockNumberAndIndex: about(byNumber, getUncle),
    eth_getUncleByBlockHashAndIndex: about(byHash, getUncle),
    eth_getTransactionByBlockNumberAndIndex: about(byNumber, getTransaction),
    eth_getTransactionByBlockHashAndIndex: about(byHash, getTransaction),
    eth_getRawTransactionByBlockNumberAndIndex: about(byNumber, getRawTransaction),
    eth_getRawTransactionByBlockHashAndIndex: about(byHash, getRawTransaction),
    eth_getBlockReceipts: about(byEither, getReceipts),
    debug_getRawReceipts: about(byEither, getRawReceipts),
    debug_getRawHeader: about(byEither, ({ withBlock }, number) => withBlock(number, false, ({ rlp }) => rlp)),
  }
}

const getBlock: Answer = ({ withBlock, pace }, number, isFull) =>
  withBlock(number, false, async (block, attempt) =>
    spellBlock(block, isFull === true ? await openAll(block, pace, attempt) : undefined),
  )

const countTransactions: Answer = ({ withBlock }, number) =>
  withBlock(number, false, ({ transactions }) => encodeQuantity(BigInt(transactions.length)))

const countUncles: Answer = async ({ headerAt }, number) => {
  const { sha3Uncles } = await headerAt(number)
  if (sha3Uncles === NO_UNCLES) return '0x0'
  throw refusedFor('BLOCK_UNPROVEN', { found: `Block ${number} has uncles.` })
}

/** The header says that there are none. */
const getUncle: Answer = async (chain, number, more) => {
  params.quantity('index', more, 64)
  await countUncles(chain, number, undefined)
  return null
}

const transactionAt =
  (spell: (transaction: FetchedBlock['transactions'][number]) => unknown): Answer =>
  ({ withBlock }, number, more) => {
    const index = Number(params.quantity('index', more, 64))
    return withBlock(number, false, ({ transactions }) => {
      const found = transactions[index]
      return found === undefined ? null : spell(found)
    })
  }
const getTransaction = transactionAt(found => spellTransaction(found.open()))
const getRawTransaction = transactionAt(({ rlp }) => bytesToHex(rlp))

const getReceipts: Answer = ({ withBlock, pace }, number) =>
  withBlock(number, true, async (block, attempt) => {
    const { header, sentReceipts } = block
    const transactions = await openAll(block, pace, attempt)
    return openBlockReceipts(sentReceipts, header, transactions, one => contextOf(one, header)).map(spellReceipt)
  })

const getRawReceipts: Answer = ({ withBlock }, number) =>
  withBlock(number, true, ({ sentReceipts, header, transactions }) => {
    openBlockReceipts(sentReceipts, header, transactions, () => NO_CONTEXT)
    return listOf(decodeReceipt)(sentReceipts).map(receipt => bytesToHex(encodeReceipt(receipt)))
  })

function ofTransactions(chainNow: ChainNow) {
  const byHash =
    (withReceipts: boolean, use: Parameters<Chain['withTransaction']>[2]): Method =>
    async ([given], pace) => {
      const hash = hashIn(given)
      return (await chainNow(pace)).withTransaction(hash, withReceipts, use)
    }
  const getRaw = byHash(false, (_, { rlp }) => bytesToHex(rlp))
  return {
    eth_getRawTransactionByHash: getRaw,
    debug_getRawTransaction: getRaw,
    eth_getTransactionByHash: byHash(false, (_, transaction) => spellTransaction(transaction.open())),
    eth_getTransactionReceipt: byHash(true, ({ header, transactions, sentReceipts }, transaction, index) => {
      // Only the sender of this one is recovered.
      const wanted: Context<object, object> = contextOf(transaction.open(), header)
      const contextFor = (one: object) => (one === transaction ? wanted : NO_CONTEXT)
      const receipts = openBlockReceipts(sentReceipts, header, transactions, contextFor)
      // It has its context, and there are as many as transactions.
      return spellReceipt(receipts[index] as BlockReceipt)
    }),
  }
}

function ofRanges(search: LogSearch, chainNow: ChainNow) {
  return {
    eth_getLogs: async ([query], pace) => getLogs(search, await chainNow(pace), query),
    eth_feeHistory: async (given, pace) => feeHistory(await chainNow(pace), given),
    async eth_blobBaseFee(_, pace) {
      const { headerAt, newest } = await chainNow(pace)
      const header = await headerAt(newest)
      if ((header.excessBlobGas ?? 0n) === 0n) return blobFeeOf(header)
      throw refusedFor('BLOCK_UNPROVEN', { found: 'The block has blobs, whose fee depends on its fork.' })
    },
    eth_maxPriorityFeePerGas: async (_, pace) => encodeQuantity(await suggestTip(await chainNow(pace))),
    async eth_gasPrice(_, pace) {
      const chain = await chainNow(pace)
      const tip = await suggestTip(chain)
      const { baseFeePerGas = 0n } = await chain.headerAt(chain.newest)
      return encodeQuantity(baseFeePerGas + tip)
    },
  } satisfies Partial<Record<BlockMethod, Method>>
}
