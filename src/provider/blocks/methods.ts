import { type BlockReceipt, contextOf, NO_CONTEXT, openBlockReceipts } from '../../blocks/block.ts'
import type { Context } from '../../blocks/receipts.ts'
import type { Hex } from '../../bytes.ts'
import { encodeQuantity } from '../../hex.ts'
import type { CurrentView } from '../current-view.ts'
import type { VerifiedOptions } from '../options.ts'
import type { Pace } from '../pace.ts'
import { params } from '../params.ts'
import { newestIn } from '../view.ts'
import { feeHistory, suggestTip } from './fees.ts'
import { readNumber } from './filter.ts'
import { type BlockView, type KnownBlocks, knownBlocksOf } from './known-blocks.ts'
import { createLocator, type Locator, openAll } from './locate.ts'
import { getLogs } from './logs.ts'
import { spellBlock, spellReceipt, spellTransaction } from './spell.ts'

const hashIn = (value: unknown): Hex => params.bytes('hash', value, 32)
const isHash = (value: unknown): boolean => typeof value === 'string' && value.length === 66

type Sources = Pick<VerifiedOptions, 'l2'>
type Current = CurrentView['current']

export type BlockMethod = keyof ReturnType<typeof createBlockMethods>

/**
 * The methods about blocks, receipts, logs and fees. What they answer is proven from the block hashes in the view's state. Null
 * is not proven: it says that endpoints know nothing of a hash, or that a block is newer than those that the view proves.
 */
export function createBlockMethods(settings: VerifiedOptions, current: Current) {
  const { l2 } = settings
  const blocks = knownBlocksOf(settings)
  const locator = createLocator({ l2 }, blocks)

  return {
    ...ofBlocks(locator, current),
    ...ofTransactions(locator, current),
    ...ofRanges({ l2 }, blocks, locator, current),
  }
}

function ofBlocks({ withBlock, numberOf }: Locator, current: Current) {
  /** The number of the block; null if it is newer than what is proven. */
  const numberIn = (view: BlockView, value: unknown): bigint | null => {
    const number = readNumber(value, newestIn(view))
    return number > newestIn(view) ? null : number
  }

  const blockAt = (view: BlockView, number: bigint | null, isFull: unknown, pace: Pace): Promise<unknown> | null =>
    number === null
      ? null
      : withBlock(view, number, false, pace, async (block, attempt) =>
          spellBlock(block, isFull === true ? await openAll(block, pace, attempt) : undefined),
        )

  return {
    async eth_getBlockByNumber(given: unknown, pace: Pace) {
      const [block, isFull] = params.take(given, 1, 2)
      const view = await current()
      return blockAt(view, numberIn(view, block), isFull, pace)
    },
    async eth_getBlockByHash(given: unknown, pace: Pace) {
      const [hash, isFull] = params.take(given, 1, 2)
      const wanted = hashIn(hash)
      const view = await current()
      return blockAt(view, await numberOf(view, wanted, pace), isFull, pace)
    },
    async eth_getBlockReceipts(given: unknown, pace: Pace) {
      const [block] = params.take(given, 1, 1)
      const view = await current()
      const number = isHash(block) ? await numberOf(view, hashIn(block), pace) : numberIn(view, block)
      if (number === null) return null
      return withBlock(view, number, true, pace, async (found, attempt) => {
        const transactions = await openAll(found, pace, attempt)
        return openBlockReceipts(found.sentReceipts, found.header, transactions, one =>
          contextOf(one, found.header),
        ).map(spellReceipt)
      })
    },
  }
}

function ofTransactions({ withTransaction }: Locator, current: Current) {
  return {
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

function ofRanges({ l2 }: Sources, blocks: KnownBlocks, locator: Locator, current: Current) {
  async function tipIn(given: unknown, pace: Pace) {
    params.take(given, 0, 0)
    const view = await current()
    return { view, tip: await suggestTip({ l2 }, blocks, view, pace) }
  }

  return {
    async eth_getLogs(given: unknown, pace: Pace) {
      return getLogs({ l2 }, blocks, locator, await current(), given, pace)
    },
    async eth_feeHistory(given: unknown, pace: Pace) {
      return feeHistory({ l2 }, blocks, await current(), given, pace)
    },
    async eth_maxPriorityFeePerGas(given: unknown, pace: Pace) {
      return encodeQuantity((await tipIn(given, pace)).tip)
    },
    async eth_gasPrice(given: unknown, pace: Pace) {
      const { view, tip } = await tipIn(given, pace)
      const { baseFeePerGas = 0n } = await blocks.headerAt(view, newestIn(view), pace)
      return encodeQuantity(baseFeePerGas + tip)
    },
  }
}
