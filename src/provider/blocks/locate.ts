import { encodeHeader } from '../../anchor/header.ts'
import type { BlockTransaction, OpenedBlockTransaction } from '../../blocks/block.ts'
import { openHeader } from '../../blocks/header.ts'
import type { Hex } from '../../bytes.ts'
import { atPath } from '../../errors.ts'
import { type FetchedBlock, fetchBlock } from '../../rpc/blocks.ts'
import type { Attempt } from '../../rpc/endpoints.ts'
import { EndpointError } from '../../rpc/error.ts'
import type { VerifiedOptions } from '../options.ts'
import type { Pace } from '../pace.ts'
import { newestIn } from '../view.ts'
import { findByHash, type Hint } from './find.ts'
import type { BlockView, KnownBlocks } from './known-blocks.ts'

/** What somebody makes of a block, of one endpoint: what it throws may make another endpoint be asked. */
export type Use<T> = (block: FetchedBlock, attempt: Attempt) => T | Promise<T>

export type Locator = ReturnType<typeof createLocator>

/** Proves blocks and transactions, named by number or by hash. */
export function createLocator({ l2 }: Pick<VerifiedOptions, 'l2'>, blocks: KnownBlocks) {
  /** A block with its transactions. @throws ProviderError `BLOCK_UNPROVEN` */
  async function withBlock<T>(
    view: BlockView,
    number: bigint,
    withReceipts: boolean,
    pace: Pace,
    use: Use<T>,
    signal = pace.signal,
  ): Promise<T> {
    const hash = await blocks.hashAt(view, number, pace)
    await pace.beSlow()
    return fetchBlock({ l2, signal }, { hash, number }, withReceipts, (block, attempt) => {
      blocks.learn(block.header)
      return use(block, attempt)
    })
  }

  return {
    withBlock,
    /** The number of the block with a hash; null if the chain of the view has none, as far as endpoints say. */
    async numberOf(view: BlockView, hash: Hex, pace: Pace): Promise<bigint | null> {
      const prove = async ({ sent, number }: Hint) => {
        const header = atPath('header', () => openHeader(encodeHeader(sent), { hash, number }))
        if (number > newestIn(view) || (await blocks.hashAt(view, number, pace)) !== hash) return null
        blocks.learn(header)
        return { number }
      }
      return (await findByHash({ l2 }, 'block', hash, pace, prove))?.number ?? null
    },
    /** What `use` makes of a transaction and its block; null if no endpoint says in which block of the view it is. */
    withTransaction<T extends object>(
      view: BlockView,
      hash: Hex,
      withReceipts: boolean,
      pace: Pace,
      use: (block: FetchedBlock, transaction: OpenedBlockTransaction, index: number) => T,
    ): Promise<T | null> {
      return findByHash({ l2 }, 'transaction', hash, pace, async ({ number }, signal) => {
        if (number > newestIn(view)) return null
        const pick: Use<T | null> = block => {
          const index = block.transactions.findIndex(transaction => transaction.hash === hash)
          const transaction = block.transactions[index]
          return transaction === undefined ? null : use(block, transaction, index)
        }
        const found = await withBlock(view, number, withReceipts, pace, pick, signal)
        if (found !== null) return found
        throw new EndpointError('ANSWER_MALFORMED', { found: `a transaction that block ${number} does not have` })
      })
    },
  }
}

/** Recovers all senders, with pauses. */
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
