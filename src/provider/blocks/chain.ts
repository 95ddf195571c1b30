import type { Hex } from '../../base/bytes.ts'
import { isProofError } from '../../base/errors.ts'
import { readOwn } from '../../base/json/known-fields.ts'
import { type FetchedBlock, fetchBlock } from '../../client/sources/blocks.ts'
import type { Attempt } from '../../client/sources/endpoints.ts'
import { openBlock, walkHeaders } from '../../client/sources/headers.ts'
import { EndpointError, isFailure } from '../../client/transport/error.ts'
import { MAX_WALK } from '../../client/transport/limits.ts'
import { parseQuantity } from '../../client/transport/provider.ts'
import { createFlights } from '../../client/transport/waiting.ts'
import type { BlockTransaction, OpenedBlockTransaction } from '../../verify/blocks/block.ts'
import { type BlockClaim, type BlockHeader, firstInWindow } from '../../verify/blocks/header.ts'
import { createCache } from '../cache.ts'
import { isProviderError, refusedFor } from '../error.ts'
import {
  HASHES_AHEAD,
  MAX_ARRIVED_HEADERS,
  MAX_CACHED_CONTENTS,
  MAX_CACHED_HEADERS,
  MAX_CACHED_PLACES,
} from '../limits.ts'
import type { VerifiedOptions } from '../options.ts'
import type { Pace } from '../pace.ts'
import { readHistory } from '../proven-state.ts'
import { type Held, newestIn } from '../view.ts'

export type BlockView = Pick<Held, 'state' | 'l2BlockNumber' | 'header' | 'head'>

/** The oldest block that is proven: parents lead from those whose hashes the state holds to older ones. */
export const oldestIn = ({ l2BlockNumber }: Pick<Held, 'l2BlockNumber'>): bigint =>
  l2BlockNumber > MAX_WALK ? l2BlockNumber - MAX_WALK : 0n

export function unprovenBlock(view: BlockView, number: bigint, cause?: Error) {
  const from = `The state after block ${view.l2BlockNumber}`
  const window = `proves the blocks ${oldestIn(view)} to ${newestIn(view)}, and not block ${number}`
  const found = cause === undefined ? `${from} ${window}.` : `${from} does not: ${cause.message}`
  return refusedFor('BLOCK_UNPROVEN', { found, cause })
}

const knownOf = new WeakMap<object, KnownBlocks>()

export function knownBlocksOf(settings: VerifiedOptions): KnownBlocks {
  const known = knownOf.get(settings) ?? createKnownBlocks(settings)
  knownOf.set(settings, known)
  return known
}

type KnownBlocks = ReturnType<typeof createKnownBlocks>

/** Hashes and headers of blocks, each proven from the state of a view. Final blocks never change: later views know them, too. */
export function createKnownBlocks({ l2, signal }: Pick<VerifiedOptions, 'l2' | 'signal'>) {
  const headers = createCache<bigint, BlockHeader>(MAX_CACHED_HEADERS)
  const learn = (header: BlockHeader): void => headers.set(header.number, header)
  /** What requests at the same time share, and what arrived for one that ended before it was proven. */
  const arrived = { ...createCache<bigint, Hex>(MAX_ARRIVED_HEADERS), run: createFlights<bigint>(signal).run }
  const hashOf = (number: bigint): Hex | undefined => headers.get(number)?.hash ?? headers.get(number + 1n)?.parentHash

  async function hashAt(view: BlockView, number: bigint, pace: Pace): Promise<Hex> {
    const { state, header, l2BlockNumber: stateBlock } = view
    if (header !== undefined) learn(header)
    const known = hashOf(number)
    if (known !== undefined) return known
    if (number < oldestIn(view) || number >= stateBlock) throw unprovenBlock(view, number)
    await pace.beSlow()
    const first = firstInWindow(stateBlock)
    if (number < first) return (await headerBelow(first, view, number + 1n, pace)).parentHash
    try {
      // Whoever asks for blocks one after another, upwards, will ask for the next ones.
      const count = hashOf(number - 1n) === undefined ? 1 : HASHES_AHEAD
      return await readHistory(state, { number, stateBlock }, count, cause => unprovenBlock(view, number, cause))
    } catch (error) {
      // A chain may do without the contract that keeps hashes. Whoever has a header needs none.
      if (header === undefined || !isProviderError(error) || error.reason !== 'BLOCK_UNPROVEN') throw error
      return (await headerBelow(stateBlock, view, number + 1n, pace)).parentHash
    }
  }

  async function headerBelow(newest: bigint, view: BlockView, number: bigint, pace: Pace): Promise<BlockHeader> {
    for await (const header of walk(view, number, newest, pace)) if (header.number === number) return header
    throw unprovenBlock(view, number)
  }

  /** Proven headers from a block down to an earlier one, newest first. Each is kept as soon as it is proven. */
  async function* walk(view: BlockView, oldest: bigint, newest: bigint, pace: Pace): AsyncGenerator<BlockHeader, void> {
    if (view.header !== undefined) learn(view.header)
    for (let number = newest; number >= oldest; ) {
      const known = headers.get(number)
      if (known !== undefined) {
        yield known
        number--
        continue
      }
      const hash = await hashAt(view, number, pace)
      await pace.beSlow()
      let last = number
      while (last > oldest && headers.get(last - 1n) === undefined) last--
      for await (const { header } of walkHeaders({ l2, signal: pace.signal }, { hash, number }, last, arrived)) {
        learn(header)
        yield header
        number--
      }
    }
  }

  return {
    hashAt,
    walk,
    headerAt: (view: BlockView, number: bigint, pace: Pace) => headerBelow(number, view, number, pace),
    learn,
    /** How many headers are still to be fetched to walk these blocks: older ones than the state holds hashes of take those between. */
    countMissing({ l2BlockNumber }: BlockView, oldest: bigint, newest: bigint): number {
      const first = firstInWindow(l2BlockNumber)
      const last = newest < first && hashOf(newest) === undefined ? first : newest
      let count = 0
      for (let number = oldest; number <= last; number++) if (headers.get(number) === undefined) count++
      return count
    },
  }
}

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
      return findByHash({ l2 }, 'block', hash, pace, async (sent, number) => {
        const { header } = openBlock(sent, { hash, number })
        if (number > newest || (await hashAt(number)) !== hash) return null
        known.learn(header)
        return number
      })
    }

    /** What `use` makes of a transaction and its block; null if no endpoint says in which block of the view it is. */
    async function withTransaction<T>(
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
export async function openAll({ transactions }: FetchedBlock, pace: Pace, attempt: Attempt) {
  const opened: BlockTransaction[] = []
  for (const transaction of transactions) {
    await pace.pause()
    attempt.heard()
    opened.push(transaction.open())
  }
  return opened
}

/** What has a hash: an endpoint hints at its block, which `prove` proves. Null if none can: no proof shows that nothing has it. */
async function findByHash<T>(
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
      const sent = Object(await provider.call(method, isBlock ? [hash, false] : [hash], signal))
      heard()
      // A transaction that no block has yet has no number.
      const stated = readOwn(sent, field) ?? null
      try {
        const found = stated === null ? null : await prove(sent, parseQuantity(stated), signal)
        if (found !== null) return found
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
