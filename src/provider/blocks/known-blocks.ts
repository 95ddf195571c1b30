import type { Hex } from '../../base/bytes.ts'
import { isProofError } from '../../base/errors.ts'
import { walkHeaders } from '../../client/l1/blocks.ts'
import { MAX_WALK } from '../../client/transport/limits.ts'
import { createFlights } from '../../client/transport/waiting.ts'
import type { BlockHeader } from '../../verify/blocks/header.ts'
import { firstInWindow, historyContract, historySlot, readBlockHash } from '../../verify/blocks/history.ts'
import { createCache } from '../cache.ts'
import { isProviderError, refusedFor } from '../error.ts'
import { HASHES_AHEAD, MAX_ARRIVED_HEADERS, MAX_CACHED_HEADERS } from '../limits.ts'
import type { VerifiedOptions } from '../options.ts'
import type { Pace } from '../pace.ts'
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

export type KnownBlocks = ReturnType<typeof createKnownBlocks>

/**
 * Hashes and headers of blocks, each proven from the state of a view. Final blocks never change, so what one view has proven stays
 * known in later ones.
 */
export function createKnownBlocks({ l2, signal }: Pick<VerifiedOptions, 'l2' | 'signal'>) {
  const headers = createCache<bigint, BlockHeader>(MAX_CACHED_HEADERS)
  const learn = (header: BlockHeader): void => headers.set(header.number, header)
  /** What requests at the same time share, and what arrived for one that ended before it was proven. */
  const arrived = { ...createCache<bigint, Hex>(MAX_ARRIVED_HEADERS), run: createFlights<bigint>(signal).run }
  const hashOf = (number: bigint): Hex | undefined => headers.get(number)?.hash ?? headers.get(number + 1n)?.parentHash

  async function hashAt(view: BlockView, number: bigint, pace: Pace): Promise<Hex> {
    const { header, l2BlockNumber: end } = view
    if (header !== undefined) learn(header)
    const known = hashOf(number)
    if (known !== undefined) return known
    if (number < oldestIn(view) || number >= end) throw unprovenBlock(view, number)
    await pace.beSlow()
    const first = firstInWindow(end)
    if (number < first) return parentHashAt(view, number, first, pace)
    try {
      // Whoever asks for blocks one after another, upwards, will ask for the next ones.
      return await readHash(view, number, hashOf(number - 1n) === undefined ? 1 : HASHES_AHEAD)
    } catch (error) {
      // A chain may do without the contract that keeps hashes. Whoever has a header needs none.
      if (header === undefined || !isProviderError(error) || error.reason !== 'BLOCK_UNPROVEN') throw error
      return parentHashAt(view, number, end, pace)
    }
  }

  async function parentHashAt(view: BlockView, number: bigint, newest: bigint, pace: Pace): Promise<Hex> {
    for await (const { parentHash, number: child } of walk(view, number + 1n, newest, pace)) {
      if (child === number + 1n) return parentHash
    }
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
    async headerAt(view: BlockView, number: bigint, pace: Pace): Promise<BlockHeader> {
      for await (const header of walk(view, number, number, pace)) return header
      throw unprovenBlock(view, number)
    },
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

/** Reads the hash of a block from the state, and those of the next ones into its memory. */
async function readHash(view: BlockView, number: bigint, count: number): Promise<Hex> {
  const { state, l2BlockNumber: stateBlock } = view
  const numbers = Array.from({ length: count }, (_, index) => number + BigInt(index)).filter(one => one < stateBlock)
  const keys = numbers.map(historySlot)
  const [account, ...storage] = await Promise.all([
    state.getAccount(historyContract),
    ...keys.map(async key => ({ key, value: await state.getStorage(historyContract, key) })),
  ])
  try {
    return readBlockHash({ account, storage }, { number, stateBlock })
  } catch (error) {
    throw isProofError(error) ? unprovenBlock(view, number, error) : error
  }
}
