import { bytesToHex, type Hex } from '../../base/bytes.ts'
import { encodeQuantity } from '../../base/hex.ts'
import type { FetchedBlock } from '../../client/l1/blocks.ts'
import type { Attempt } from '../../client/sources/pool.ts'
import { type BlockReceipt, contextOf, NO_CONTEXT, NO_UNCLES, openBlockReceipts } from '../../verify/blocks/block.ts'
import { listOf } from '../../verify/blocks/fields.ts'
import { type Context, decodeReceipt, encodeReceipt } from '../../verify/blocks/receipts.ts'
import type { CurrentView } from '../current-view.ts'
import { refusedFor } from '../error.ts'
import type { Register } from '../filter-register.ts'
import type { VerifiedOptions } from '../options.ts'
import type { Pace } from '../pace.ts'
import { params } from '../params.ts'
import { newestIn } from '../view.ts'
import { createContents } from './contents.ts'
import { blobFeeOf, feeHistory, suggestTip } from './fees.ts'
import { createFilters, type Query } from './filters.ts'
import { type BlockView, type KnownBlocks, knownBlocksOf } from './known-blocks.ts'
import { createLocator, type Locator, openAll } from './locate.ts'
import { getLogs, type LogSearch, readNumber, searchListed, searchLogs } from './logs.ts'
import { spellBlock, spellReceipt, spellTransaction } from './spell.ts'

const hashIn = (value: unknown): Hex => params.bytes('hash', value, 32)
const isHash = (value: unknown): boolean => typeof value === 'string' && value.length === 66

type Sources = VerifiedOptions
type Current = CurrentView['current']
type Method = (given: unknown, pace: Pace, client: string) => Promise<unknown>

/**
 * The methods about blocks, receipts, logs and fees. What they answer is proven from the block hashes in the view's state. Null
 * is not proven: it says that endpoints know nothing of a hash, or that a block is newer than those that the view proves.
 */
export function createBlockMethods(settings: Sources, current: Current, register: Register<Query>) {
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
    ...createFilters({ blocks, search, current, register, timeoutMs, isForWallet }),
  }
}

function ofBlocks({ isForWallet }: Sources, blocks: KnownBlocks, { withBlock, numberOf }: Locator, current: Current) {
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
  const { getBlock, count, getTransaction, getRaw, countUncles, getUncle, ...whole } = readsOfBlocks(blocks, withBlock)

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
    eth_getBlockReceipts: about(byEither, whole.getReceipts),
    debug_getRawReceipts: about(byEither, whole.getRawReceipts),
    debug_getRawHeader: about(byEither, whole.getRawHeader),
  }
}

function readsOfBlocks(blocks: KnownBlocks, withBlock: Locator['withBlock']) {
  type Read = (block: FetchedBlock, pace: Pace, attempt: Attempt, more: readonly unknown[]) => unknown
  const of =
    (withReceipts: boolean, read: Read): Answer =>
    (view, number, pace, more) =>
      withBlock(view, number, withReceipts, pace, (block, attempt) => read(block, pace, attempt, more))
  const at =
    (spell: (transaction: FetchedBlock['transactions'][number]) => unknown): Answer =>
    (view, number, pace, more) => {
      const wanted = params.quantity('index', more[0], 64)
      const pick = of(false, ({ transactions }) => {
        const found = wanted < transactions.length ? transactions[Number(wanted)] : undefined
        return found === undefined ? null : spell(found)
      })
      return pick(view, number, pace, more)
    }
  /** The header says that there are none. */
  const ofUncles =
    (answer: '0x0' | null): Answer =>
    async (view, number, pace, more) => {
      if (answer === null) params.quantity('index', more[0], 64)
      const { sha3Uncles } = await blocks.headerAt(view, number, pace)
      if (sha3Uncles === NO_UNCLES) return answer
      throw refusedFor('BLOCK_UNPROVEN', { found: `Block ${number} has uncles.` })
    }
  return {
    getBlock: of(false, async (block, pace, attempt, [isFull]) =>
      spellBlock(block, isFull === true ? await openAll(block, pace, attempt) : undefined),
    ),
    count: of(false, ({ transactions }) => encodeQuantity(BigInt(transactions.length))),
    getTransaction: at(found => spellTransaction(found.open())),
    getRaw: at(({ rlp }) => bytesToHex(rlp)),
    countUncles: ofUncles('0x0'),
    getUncle: ofUncles(null),
    getReceipts: of(true, async (found, pace, attempt) => {
      const transactions = await openAll(found, pace, attempt)
      return openBlockReceipts(found.sentReceipts, found.header, transactions, one => contextOf(one, found.header)).map(
        spellReceipt,
      )
    }),
    getRawReceipts: of(true, ({ sentReceipts, header, transactions }) => {
      openBlockReceipts(sentReceipts, header, transactions, () => NO_CONTEXT)
      return listOf(decodeReceipt)(sentReceipts).map(receipt => bytesToHex(encodeReceipt(receipt)))
    }),
    getRawHeader: of(false, ({ rlp }) => rlp),
  }
}

/** The number of the block that a client names; null if it is none that is proven. */
type Find = (view: BlockView, value: unknown, pace: Pace) => Promise<bigint | null>
type Answer = (view: BlockView, number: bigint, pace: Pace, more: readonly unknown[]) => Promise<unknown>

function ofTransactions({ withTransaction }: Locator, current: Current) {
  const byHash =
    <T extends object>(withReceipts: boolean, read: Parameters<typeof withTransaction<T>>[4]) =>
    async (given: unknown, pace: Pace) => {
      const hash = hashIn(params.take(given, 1, 1)[0])
      return withTransaction(await current(), hash, withReceipts, pace, read)
    }
  const getBytes = byHash(false, (_, { rlp }) => rlp)
  const getRaw: Method = async (given, pace) => {
    const rlp = await getBytes(given, pace)
    return rlp && bytesToHex(rlp)
  }
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
      const fee = blobFeeOf(await newestHeader(await current(), pace))
      if (fee !== null) return encodeQuantity(fee)
      throw refusedFor('BLOCK_UNPROVEN', { found: 'The block has blobs, whose fee depends on its fork.' })
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
