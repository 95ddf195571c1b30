import type { Hex } from '../../base/bytes.ts'
import { atPath } from '../../base/errors.ts'
import { readOwn } from '../../base/json/known-fields.ts'
import type { FetchedBlock } from '../../client/l1/blocks.ts'
import type { Attempt } from '../../client/sources/pool.ts'
import { EndpointError, isFailure } from '../../client/transport/error.ts'
import { callProvider, parseQuantity } from '../../client/transport/provider.ts'
import { encodeHeader } from '../../verify/anchor/header.ts'
import type { BlockTransaction, OpenedBlockTransaction } from '../../verify/blocks/block.ts'
import { openHeader } from '../../verify/blocks/header.ts'
import { isProviderError } from '../error.ts'
import type { VerifiedOptions } from '../options.ts'
import type { Pace } from '../pace.ts'
import { newestIn } from '../view.ts'
import type { Contents, Use } from './contents.ts'
import { type BlockView, type KnownBlocks, oldestIn } from './known-blocks.ts'

export type Locator = ReturnType<typeof createLocator>

export function createLocator({ l2 }: Pick<VerifiedOptions, 'l2'>, blocks: KnownBlocks, contents: Contents) {
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
    if (!contents.holds(hash, withReceipts)) await pace.beSlow()
    return contents.withBlock({ hash, number }, withReceipts, signal, (block, attempt) => {
      blocks.learn(block.header)
      return use(block, attempt)
    })
  }

  /** Where a view has what was proven before. */
  function placeIn(view: BlockView, hash: Hex): bigint | null {
    const place = contents.placeOf(hash)
    return place === undefined || place > newestIn(view) || place < oldestIn(view) ? null : place
  }

  return {
    withBlock,
    /** The number of the block with a hash; null if the chain of the view has none, as far as endpoints say. */
    async numberOf(view: BlockView, hash: Hex, pace: Pace): Promise<bigint | null> {
      const place = placeIn(view, hash)
      if (place !== null && (await blocks.hashAt(view, place, pace)) === hash) return place
      const prove = async ({ sent, number }: Hint) => {
        const header = atPath('header', () => openHeader(encodeHeader(sent), { hash, number }))
        if (number > newestIn(view) || (await blocks.hashAt(view, number, pace)) !== hash) return null
        blocks.learn(header)
        return { number }
      }
      return (await findByHash({ l2 }, 'block', hash, pace, prove))?.number ?? null
    },
    /** What `use` makes of a transaction and its block; null if no endpoint says in which block of the view it is. */
    async withTransaction<T extends object>(
      view: BlockView,
      hash: Hex,
      withReceipts: boolean,
      pace: Pace,
      use: (block: FetchedBlock, transaction: OpenedBlockTransaction, index: number) => T,
    ): Promise<T | null> {
      const pick: Use<T | null> = block => {
        const index = block.transactions.findIndex(transaction => transaction.hash === hash)
        const transaction = block.transactions[index]
        return transaction === undefined ? null : use(block, transaction, index)
      }
      const place = placeIn(view, hash)
      const known = place === null ? null : await withBlock(view, place, withReceipts, pace, pick)
      if (known !== null) return known
      return findByHash({ l2 }, 'transaction', hash, pace, async ({ number }, signal) => {
        if (number > newestIn(view)) return null
        const found = await withBlock(view, number, withReceipts, pace, pick, signal)
        if (found !== null) return found
        throw new EndpointError('ANSWER_MALFORMED', { found: `a transaction that block ${number} does not have` })
      })
    },
  }
}

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

export interface Hint {
  readonly sent: object
  readonly number: bigint
}

const METHODS = {
  block: { method: 'eth_getBlockByHash', field: 'number', more: [false] },
  transaction: { method: 'eth_getTransactionByHash', field: 'blockNumber', more: [] },
} as const

/**
 * What has a hash: the number of its block is an endpoint's hint, from which `prove` starts. The next endpoint is asked if one
 * has nothing, or what it says leads nowhere. Null if none has what can be proven: no proof shows that a hash is of nothing.
 */
async function findByHash<T extends object>(
  { l2 }: Pick<VerifiedOptions, 'l2'>,
  kind: keyof typeof METHODS,
  hash: Hex,
  pace: Pace,
  prove: (hint: Hint, signal: AbortSignal) => Promise<T | null>,
): Promise<T | null> {
  await pace.beSlow()
  const { method, field, more } = METHODS[kind]
  let [isUnknown, unproven]: [boolean, unknown] = [false, undefined]
  try {
    return await l2.run(async (provider, { signal, heard }) => {
      const sent = Object(await callProvider(provider, method, [hash, ...more], signal))
      heard()
      // A transaction that no block has yet has no number.
      const stated = readOwn(sent, field) ?? null
      const proving = stated === null ? null : prove({ sent, number: parseQuantity(stated) }, signal)
      const found = await proving?.catch(keepUnproven)
      if (found) return found
      isUnknown = true
      throw new EndpointError('BLOCK_MISSING', { found: `no ${kind} ${hash}`, layer: 'L2' })
    }, pace.signal)
  } catch (error) {
    if (unproven !== undefined) throw unproven
    if (isUnknown && isFailure(error)) return null
    throw error
  }

  /** Another endpoint may say that it is in a block that is proven. */
  function keepUnproven(error: unknown): null {
    if (!isProviderError(error) || error.reason !== 'BLOCK_UNPROVEN') throw error
    unproven = error
    return null
  }
}
