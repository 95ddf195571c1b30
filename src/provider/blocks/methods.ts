import { bytesToHex, type Hex } from '../../base/bytes.ts'
import { encodeQuantity } from '../../base/hex.ts'
import type { FetchedBlock } from '../../client/l1/blocks.ts'
import {
  type BlockReceipt,
  contextOf,
  encodeBlock,
  NO_CONTEXT,
  NO_UNCLES,
  openBlockReceipts,
} from '../../verify/blocks/block.ts'
import { listOf } from '../../verify/blocks/fields.ts'
import { type Context, decodeReceipt, encodeReceipt } from '../../verify/blocks/receipts.ts'
import type { CurrentView } from '../current-view.ts'
import { refusedFor } from '../error.ts'
import type { VerifiedOptions } from '../options.ts'
import type { Pace } from '../pace.ts'
import { params } from '../params.ts'
import type { Presence } from '../presence.ts'
import { newestIn } from '../view.ts'
import { createContents } from './contents.ts'
import { blobFeeOf, feeHistory, suggestTip } from './fees.ts'
import { readNumber } from './filter.ts'
import { createFilters } from './filters.ts'
import { type BlockView, type KnownBlocks, knownBlocksOf } from './known-blocks.ts'
import { createLocator, type Locator, openAll } from './locate.ts'
import { getLogs, type LogSearch, searchListed, searchLogs } from './logs.ts'
import { spellBlock, spellReceipt, spellTransaction } from './spell.ts'

const hashIn = (value: unknown): Hex => params.bytes('hash', value, 32)
const isHash = (value: unknown): boolean => typeof value === 'string' && value.length === 66

type Sources = VerifiedOptions
type Current = CurrentView['current']
/** Answers a request. `client` tells who asks. */
type Method = (given: unknown, pace: Pace, client: string) => Promise<unknown>

/**
 * The methods about blocks, receipts, logs and fees. What they answer is proven from the block hashes in the view's state. Null
 * is not proven: it says that endpoints know nothing of a hash, or that a block is newer than those that the view proves.
 *
 * @param seenAt when a client was there
 */
export function createBlockMethods(
  settings: Sources,
  current: Current,
  seenAt: (client: string) => Presence | undefined,
) {
  const blocks = knownBlocksOf(settings)
  const contents = createContents(settings)
  const locator = createLocator(settings, blocks, contents)
  const search: LogSearch = (...asked) =>
    settings.completeLogs ? searchLogs(blocks, contents, ...asked) : searchListed(settings, blocks, contents, ...asked)
  const { timeoutMs, isForWallet } = settings

  return {
    ...ofBlocks(settings, blocks, locator, current),
    ...ofTransactions(locator, current),
    ...ofRanges(settings, blocks, locator, search, current),
    ...createFilters({ blocks, search, current, seenAt, timeoutMs, isForWallet }),
  }
}

function ofBlocks({ isForWallet }: Sources, blocks: KnownBlocks, { withBlock, numberOf }: Locator, current: Current) {
  /** The number of a block that is named by its number or a tag; null if it is newer than what is proven. */
  const byNumber: Find = async (view, value) => {
    const number = readNumber(value, newestIn(view), isForWallet)
    return number > newestIn(view) ? null : number
  }
  const byHash: Find = (view, value, pace) => numberOf(view, hashIn(value), pace)
  const byEither: Find = (view, value, pace) => (isHash(value) ? byHash : byNumber)(view, value, pace)

  /** A method whose first parameter is a block. Null if nothing is proven of that. @param least and most: how many parameters */
  const about =
    (find: Find, answer: Answer, least = 1, most = least): Method =>
    async (given, pace) => {
      const [block, ...more] = params.take(given, least, most)
      const view = await current()
      const number = await find(view, block, pace)
      return number === null ? null : answer(view, number, pace, more)
    }
  const { getBlock, count, getTransaction, getRaw, countUncles, getUncle } = readsOfBlocks(blocks, withBlock)
  const { getReceipts, getRawReceipts, getRawHeader, getRawBlock } = wholeReads(withBlock)

  return {
    eth_getBlockByNumber: about(byNumber, getBlock, 1, 2),
    eth_getBlockByHash: about(byHash, getBlock, 1, 2),
    eth_getBlockTransactionCountByNumber: about(byNumber, count),
    eth_getBlockTransactionCountByHash: about(byHash, count),
    eth_getUncleCountByBlockNumber: about(byNumber, countUncles),
    eth_getUncleCountByBlockHash: about(byHash, countUncles),
    eth_getUncleByBlockNumberAndIndex: about(byNumber, getUncle, 2),
    eth_getUncleByBlockHashAndIndex: about(byHash, getUncle, 2),
    eth_getTransactionByBlockNumberAndIndex: about(byNumber, getTransaction, 2),
    eth_getTransactionByBlockHashAndIndex: about(byHash, getTransaction, 2),
    eth_getRawTransactionByBlockNumberAndIndex: about(byNumber, getRaw, 2),
    eth_getRawTransactionByBlockHashAndIndex: about(byHash, getRaw, 2),
    eth_getBlockReceipts: about(byEither, getReceipts),
    debug_getRawReceipts: about(byEither, getRawReceipts),
    debug_getRawHeader: about(byEither, getRawHeader),
    debug_getRawBlock: about(byEither, getRawBlock),
  }
}

/** What is read of a block and its transactions. */
function readsOfBlocks(blocks: KnownBlocks, withBlock: Locator['withBlock']) {
  /** The header says that there are none. */
  async function verifyNoUncles(view: BlockView, number: bigint, pace: Pace): Promise<void> {
    const { sha3Uncles } = await blocks.headerAt(view, number, pace)
    if (sha3Uncles !== NO_UNCLES) throw refusedFor('BLOCK_UNPROVEN', { found: `Block ${number} has uncles.` })
  }
  const at =
    (spell: (transaction: FetchedBlock['transactions'][number]) => unknown): Answer =>
    (view, number, pace, [index]) => {
      const wanted = params.quantity('index', index, 64)
      return withBlock(view, number, false, pace, ({ transactions }) => {
        const found = wanted < transactions.length ? transactions[Number(wanted)] : undefined
        return found === undefined ? null : spell(found)
      })
    }
  const getBlock: Answer = (view, number, pace, [isFull]) =>
    withBlock(view, number, false, pace, async (block, attempt) =>
      spellBlock(block, isFull === true ? await openAll(block, pace, attempt) : undefined),
    )
  const count: Answer = (view, number, pace) =>
    withBlock(view, number, false, pace, ({ transactions }) => encodeQuantity(BigInt(transactions.length)))
  const countUncles: Answer = async (view, number, pace) => {
    await verifyNoUncles(view, number, pace)
    return '0x0'
  }
  const getUncle: Answer = async (view, number, pace, [index]) => {
    params.quantity('index', index, 64)
    await verifyNoUncles(view, number, pace)
    return null
  }
  const [getTransaction, getRaw] = [at(found => spellTransaction(found.open())), at(({ rlp }) => bytesToHex(rlp))]
  return { getBlock, count, getTransaction, getRaw, countUncles, getUncle }
}

/** What is read of a block as a whole. */
function wholeReads(withBlock: Locator['withBlock']) {
  const getReceipts: Answer = (view, number, pace) =>
    withBlock(view, number, true, pace, async (found, attempt) => {
      const transactions = await openAll(found, pace, attempt)
      return openBlockReceipts(found.sentReceipts, found.header, transactions, one => contextOf(one, found.header)).map(
        spellReceipt,
      )
    })
  const getRawReceipts: Answer = (view, number, pace) =>
    withBlock(view, number, true, pace, ({ sentReceipts, header, transactions }) => {
      openBlockReceipts(sentReceipts, header, transactions, () => NO_CONTEXT)
      return listOf(decodeReceipt)(sentReceipts).map(receipt => bytesToHex(encodeReceipt(receipt)))
    })
  const getRawHeader: Answer = (view, number, pace) => withBlock(view, number, false, pace, ({ rlp }) => rlp)
  const getRawBlock: Answer = (view, number, pace) =>
    withBlock(view, number, false, pace, ({ rlp, header, transactions }) => {
      const encoded = encodeBlock(rlp, header, transactions)
      if (encoded !== null) return bytesToHex(encoded)
      throw refusedFor('BLOCK_UNPROVEN', { found: `Block ${number} has uncles or withdrawals.` })
    })
  return { getReceipts, getRawReceipts, getRawHeader, getRawBlock }
}

/** The number of the block that a client names; null if it is none that is proven. */
type Find = (view: BlockView, value: unknown, pace: Pace) => Promise<bigint | null>
/** What is asked about a block. `more` are the parameters after it. */
type Answer = (view: BlockView, number: bigint, pace: Pace, more: readonly unknown[]) => Promise<unknown>

function ofTransactions({ withTransaction }: Locator, current: Current) {
  const getRaw: Method = async (given, pace) => {
    const hash = hashIn(params.take(given, 1, 1)[0])
    const found = await withTransaction(await current(), hash, false, pace, (_, { rlp }) => ({ raw: bytesToHex(rlp) }))
    return found?.raw ?? null
  }
  return {
    eth_getRawTransactionByHash: getRaw,
    debug_getRawTransaction: getRaw,
    async eth_getTransactionByHash(given: unknown, pace: Pace) {
      const hash = hashIn(params.take(given, 1, 1)[0])
      const view = await current()
      return withTransaction(view, hash, false, pace, (_, transaction) => spellTransaction(transaction.open()))
    },
    async eth_getTransactionReceipt(given: unknown, pace: Pace) {
      const hash = hashIn(params.take(given, 1, 1)[0])
      const view = await current()
      return withTransaction(view, hash, true, pace, ({ header, transactions, sentReceipts }, transaction, index) => {
        // Only the sender of this one is recovered.
        const wanted: Context<object, object> = contextOf(transaction.open(), header)
        const contextFor = (one: object) => (one === transaction ? wanted : NO_CONTEXT)
        const receipts = openBlockReceipts(sentReceipts, header, transactions, contextFor)
        // It has its context, and there are as many as transactions.
        return spellReceipt(receipts[index] as BlockReceipt)
      })
    },
  }
}

function ofRanges(settings: Sources, blocks: KnownBlocks, locator: Locator, search: LogSearch, current: Current) {
  const newestHeader = (view: BlockView, pace: Pace) => blocks.headerAt(view, newestIn(view), pace)
  async function tipIn(given: unknown, pace: Pace) {
    params.take(given, 0, 0)
    const view = await current()
    return { view, tip: await suggestTip(settings, blocks, view, pace) }
  }

  return {
    async eth_getLogs(given: unknown, pace: Pace) {
      return getLogs(search, locator, await current(), given, pace, settings.isForWallet)
    },
    async eth_feeHistory(given: unknown, pace: Pace) {
      return feeHistory(settings, blocks, await current(), given, pace)
    },
    async eth_blobBaseFee(given: unknown, pace: Pace) {
      params.take(given, 0, 0)
      const fee = blobFeeOf(await newestHeader(await current(), pace), settings.hardfork)
      if (fee !== null) return encodeQuantity(fee)
      throw refusedFor('BLOCK_UNPROVEN', { found: 'The fee for blobs depends on a fork whose numbers are not known.' })
    },
    async eth_maxPriorityFeePerGas(given: unknown, pace: Pace) {
      return encodeQuantity((await tipIn(given, pace)).tip)
    },
    async eth_gasPrice(given: unknown, pace: Pace) {
      const { view, tip } = await tipIn(given, pace)
      const { baseFeePerGas = 0n } = await newestHeader(view, pace)
      return encodeQuantity(baseFeePerGas + tip)
    },
  }
}
