import type { Hex } from '../../base/bytes.ts'
import { isProofError } from '../../base/errors.ts'
import { type FetchedBlock, fetchBlock } from '../../client/l1/blocks.ts'
import type { Attempt } from '../../client/sources/pool.ts'
import { MAX_STRAGGLERS } from '../../client/transport/limits.ts'
import { createFlights } from '../../client/transport/waiting.ts'
import { type BlockLog, openBlockLogs, withTransactions } from '../../verify/blocks/block.ts'
import { type DecodedFilter, selectedBy } from '../../verify/blocks/filter.ts'
import type { BlockClaim, BlockHeader } from '../../verify/blocks/header.ts'
import { createCache } from '../cache.ts'
import { MAX_CACHED_CONTENTS, MAX_CACHED_LOGS, MAX_CACHED_PLACES } from '../limits.ts'
import type { VerifiedOptions } from '../options.ts'

/** What somebody makes of a block, of one endpoint: what it throws may make another endpoint be asked. */
export type Use<T> = (block: FetchedBlock, attempt: Attempt) => T | Promise<T>

/** Characters of a log as JSON, besides its data; and what an entry without any takes. */
const [LOG_LENGTH, HEADER_LENGTH, ENTRY_LENGTH] = [900, 2500, 256]
/** Characters of a log as JSON at most, or of a header or a hash. */
export const lengthOf = (one: BlockLog | BlockHeader | Hex): number => {
  if (typeof one === 'string') return LOG_LENGTH
  return 'data' in one ? LOG_LENGTH + one.data.length : HEADER_LENGTH
}
const lengthOfAll = (logs: readonly BlockLog[]) => logs.reduce((sum, log) => sum + lengthOf(log), ENTRY_LENGTH)

export type Contents = ReturnType<typeof createContents>

/**
 * What is in blocks, proven, and kept within bounds: final blocks never change. A search that did not end in time goes on when it is
 * asked for again, whatever the blocks hold: of each that was read, the logs that it selects are kept.
 */
export const createContents = (sources: Pick<VerifiedOptions, 'l2' | 'signal'>) => ({
  ...createLogs(sources),
  ...createBlocks(sources),
})

function createLogs({ l2, signal: over }: Pick<VerifiedOptions, 'l2' | 'signal'>) {
  const logs = createCache<Hex, readonly BlockLog[]>(MAX_CACHED_LOGS)
  const selections = createCache<string, readonly BlockLog[]>(MAX_CACHED_LOGS)
  /** Shared by all who ask, and kept, even if it takes longer than they wait. */
  const { run: share } = createFlights<Hex>(MAX_STRAGGLERS, over)

  const fetchLogs = (claim: BlockClaim, signal: AbortSignal): Promise<readonly BlockLog[]> =>
    share(claim.hash, signal, async own => {
      const found = await fetchBlock({ l2, signal: own }, claim, true, ({ header, sentReceipts, transactions }) =>
        withTransactions(openBlockLogs(sentReceipts, header).flat(), transactions),
      )
      logs.set(claim.hash, found, lengthOfAll(found))
      return found
    })

  return {
    isSelected: (header: BlockHeader, filterId: string): boolean =>
      selections.get(filterId + header.hash) !== undefined,
    /** The logs of a block that a filter selects. @param claim proven @param filterId by which it is told from others */
    async selected(claim: BlockClaim, filter: DecodedFilter, filterId: string, signal: AbortSignal) {
      const id = filterId + claim.hash
      const known = selections.get(id)
      if (known !== undefined) return known
      const all = logs.get(claim.hash) ?? (await fetchLogs(claim, signal))
      const found = all.filter(selectedBy(filter))
      selections.set(id, found, lengthOfAll(found))
      return found
    },
  }
}

function createBlocks({ l2 }: Pick<VerifiedOptions, 'l2'>) {
  const blocks = createCache<Hex, FetchedBlock>(MAX_CACHED_CONTENTS)
  const places = createCache<Hex, bigint>(MAX_CACHED_PLACES)
  const find = (hash: Hex, withReceipts: boolean): FetchedBlock | undefined => {
    const known = blocks.get(hash)
    return withReceipts && known?.sentReceipts === undefined ? undefined : known
  }
  return {
    placeOf: places.get,
    holds: (hash: Hex, withReceipts: boolean): boolean => find(hash, withReceipts) !== undefined,
    /** A block with its transactions, and its receipts if they are wanted, which `use` has to verify. */
    async withBlock<T>(claim: BlockClaim, withReceipts: boolean, signal: AbortSignal, use: Use<T>): Promise<T> {
      const known = find(claim.hash, withReceipts)
      if (known !== undefined) {
        try {
          return await use(known, { signal, heard: () => {} })
        } catch (error) {
          // Another field of it is wrong than those that were looked at before.
          if (!isProofError(error)) throw error
          blocks.delete(claim.hash)
        }
      }
      return fetchBlock({ l2, signal }, claim, withReceipts, async (block, attempt) => {
        const made = await use(block, attempt)
        const { sentReceipts, sentTransactions, transactions } = block
        blocks.set(claim.hash, block, JSON.stringify([sentReceipts, sentTransactions]).length)
        for (const { hash } of [claim, ...transactions]) places.set(hash, claim.number, 1)
        return made
      })
    },
  }
}
