import type { Hex } from '../../base/bytes.ts'
import { atPath, isProofError } from '../../base/errors.ts'
import { readOwn } from '../../base/json/known-fields.ts'
import { type FetchedBlock, fetchBlock } from '../../client/l1/blocks.ts'
import type { Attempt } from '../../client/sources/pool.ts'
import { EndpointError, isFailure } from '../../client/transport/error.ts'
import { callProvider, parseQuantity } from '../../client/transport/provider.ts'
import { encodeHeader } from '../../verify/anchor/header.ts'
import type { BlockTransaction, OpenedBlockTransaction } from '../../verify/blocks/block.ts'
import { type BlockClaim, openHeader } from '../../verify/blocks/header.ts'
import { createCache } from '../cache.ts'
import { isProviderError } from '../error.ts'
import { MAX_CACHED_CONTENTS, MAX_CACHED_PLACES } from '../limits.ts'
import type { VerifiedOptions } from '../options.ts'
import type { Pace } from '../pace.ts'
import { newestIn } from '../view.ts'
import { type BlockView, type KnownBlocks, oldestIn } from './known-blocks.ts'

/** What somebody makes of a block, of one endpoint: what it throws may make another endpoint be asked. */
type Use<T> = (block: FetchedBlock, attempt: Attempt) => T | Promise<T>

/** Final blocks never change: what is in them is kept, within bounds. */
function createContents({ l2 }: Pick<VerifiedOptions, 'l2'>, known: KnownBlocks) {
  const blocks = createCache<Hex, FetchedBlock>(MAX_CACHED_CONTENTS)
  const places = createCache<Hex, bigint>(MAX_CACHED_PLACES)
  return {
    placeOf: places.get,
    /** A block with its transactions, and its receipts if they are wanted, which `use` has to verify. */
    async withBlock<T>(claim: BlockClaim, withReceipts: boolean, pace: Pace, use: Use<T>): Promise<T> {
      const { hash, number } = claim
      const kept = blocks.get(hash)
      if (kept !== undefined && !(withReceipts && kept.sentReceipts === undefined)) {
        try {
          return await use(kept, { signal: pace.signal, heard: () => {} })
        } catch (error) {
          // Another field of it is wrong than those that were looked at before.
          if (!isProofError(error)) throw error
          blocks.delete(hash)
        }
      }
      await pace.beSlow()
      return fetchBlock({ l2, signal: pace.signal }, claim, withReceipts, async (block, attempt) => {
        known.learn(block.header)
        const made = await use(block, attempt)
        const { sentReceipts, sentTransactions, transactions } = block
        blocks.set(hash, block, JSON.stringify([sentReceipts, sentTransactions]).length)
        for (const one of [claim, ...transactions]) places.set(one.hash, number, 1)
        return made
      })
    },
  }
}

/** The blocks that a view proves, as a request reads them, at its pace. */
export type Chain = ReturnType<ReturnType<typeof createChain>>

export function createChain({ l2, isForWallet }: Pick<VerifiedOptions, 'l2' | 'isForWallet'>, known: KnownBlocks) {
  const contents = createContents({ l2 }, known)
  return (view: BlockView, pace: Pace) => {
    const [oldest, newest] = [oldestIn(view), newestIn(view)]
    const hashAt = (number: bigint) => known.hashAt(view, number, pace)
    /** @throws ProviderError `BLOCK_UNPROVEN` */
    const withBlock = async <T>(number: bigint, withReceipts: boolean, use: Use<T>, signal = pace.signal): Promise<T> =>
      contents.withBlock({ hash: await hashAt(number), number }, withReceipts, { ...pace, signal }, use)
    /** Where the view has what was proven before. */
    function placeOf(hash: Hex): bigint | undefined {
      const place = contents.placeOf(hash)
      return place === undefined || place > newest || place < oldest ? undefined : place
    }

    /** The number of the block with a hash; null if the chain of the view has none, as far as endpoints say. */
    async function numberOf(hash: Hex): Promise<bigint | null> {
      const place = placeOf(hash)
      if (place !== undefined && (await hashAt(place)) === hash) return place
      const found = await findByHash({ l2 }, 'block', hash, pace, async (sent, number) => {
        const header = atPath('header', () => openHeader(encodeHeader(sent), { hash, number }))
        if (number > newest || (await hashAt(number)) !== hash) return null
        known.learn(header)
        return { number }
      })
      return found?.number ?? null
    }

    /** What `use` makes of a transaction and its block; null if no endpoint says in which block of the view it is. */
    async function withTransaction<T extends object | string>(
      hash: Hex,
      withReceipts: boolean,
      use: (block: FetchedBlock, transaction: OpenedBlockTransaction, index: number) => T,
    ): Promise<T | null> {
      const pick: Use<T | null> = block => {
        const index = block.transactions.findIndex(transaction => transaction.hash === hash)
        const transaction = block.transactions[index]
        return transaction === undefined ? null : use(block, transaction, index)
      }
      const place = placeOf(hash)
      const kept = place === undefined ? null : await withBlock(place, withReceipts, pick)
      if (kept !== null) return kept
      return findByHash({ l2 }, 'transaction', hash, pace, async (_, number, signal) => {
        const found = number > newest ? null : await withBlock(number, withReceipts, pick, signal)
        if (number > newest || found !== null) return found
        throw new EndpointError('ANSWER_MALFORMED', { found: `a transaction that block ${number} does not have` })
      })
    }

    return {
      view,
      pace,
      isForWallet,
      oldest,
      newest,
      hashAt,
      headerAt: (number: bigint) => known.headerAt(view, number, pace),
      walk: (first: bigint, last: bigint) => known.walk(view, first, last, pace),
      countMissing: (first: bigint, last: bigint) => known.countMissing(view, first, last),
      withBlock,
      numberOf,
      withTransaction,
    }
  }
}

/** Recovers the sender of each transaction, which takes about a millisecond. */
export async function openAll(
  { transactions }: FetchedBlock,
  pace: Pace,
  attempt: Attempt,
): Promise<BlockTransaction[]> {
  const opened: BlockTransaction[] = []
  for (const transaction of transactions) {
    await pace.pause()
    attempt.heard()
    opened.push(transaction.open())
  }
  return opened
}

/**
 * What has a hash: the number of its block is an endpoint's hint, from which `prove` starts. Null if no endpoint has what can be
 * proven: no proof shows that a hash is of nothing.
 */
async function findByHash<T extends object | string>(
  { l2 }: Pick<VerifiedOptions, 'l2'>,
  kind: 'block' | 'transaction',
  hash: Hex,
  pace: Pace,
  prove: (sent: object, number: bigint, signal: AbortSignal) => Promise<T | null>,
): Promise<T | null> {
  const isBlock = kind === 'block'
  const [method, field] = isBlock ? ['eth_getBlockByHash', 'number'] : ['eth_getTransactionByHash', 'blockNumber']
  await pace.beSlow()
  let [isUnknown, unproven]: [boolean, unknown] = [false, undefined]
  try {
    return await l2.run(async (provider, { signal, heard }) => {
      const sent = Object(await callProvider(provider, method, isBlock ? [hash, false] : [hash], signal))
      heard()
      // A transaction that no block has yet has no number.
      const stated = readOwn(sent, field) ?? null
      try {
        const found = stated === null ? null : await prove(sent, parseQuantity(stated), signal)
        if (found) return found
      } catch (error) {
        // Another endpoint may say that it is in a block that is proven.
        if (!isProviderError(error) || error.reason !== 'BLOCK_UNPROVEN') throw error
        unproven = error
      }
      isUnknown = true
      throw new EndpointError('BLOCK_MISSING', { found: `no ${kind} ${hash}`, layer: 'L2' })
    }, pace.signal)
  } catch (error) {
    if (unproven !== undefined) throw unproven
    if (isUnknown && isFailure(error)) return null
    throw error
  }
}
