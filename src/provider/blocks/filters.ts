import type { Hex } from '../../base/bytes.ts'
import { encodeQuantity } from '../../base/hex.ts'
import { abortedBy } from '../../client/transport/error.ts'
import { inTime } from '../../client/transport/waiting.ts'
import type { BlockLog } from '../../verify/blocks/block.ts'
import type { LogFilter } from '../../verify/blocks/filter.ts'
import type { BlockHeader } from '../../verify/blocks/header.ts'
import { invalidParams, isProviderError, refusedFor } from '../error.ts'
import type { Filter, Register } from '../filter-register.ts'
import { BLOCKS_A_PIECE } from '../limits.ts'
import type { Pace } from '../pace.ts'
import { params } from '../params.ts'
import { newestIn } from '../view.ts'
import { lengthOf } from './contents.ts'
import type { BlockView, KnownBlocks } from './known-blocks.ts'
import { type BlockRange, type LogBounds, type LogSearch, rangeIn, readLogRequest } from './logs.ts'
import { spell, spellLogs } from './spell.ts'

/** Logs, or of blocks their hashes or their headers. */
export type Query = { readonly filter: LogFilter; readonly bounds: LogBounds } | 'hashes' | 'heads'

interface FilterSources {
  readonly blocks: KnownBlocks
  readonly search: LogSearch
  readonly current: () => Promise<BlockView>
  readonly register: Register<Query>
  readonly timeoutMs: number
  readonly isForWallet: boolean
}

/**
 * The methods of filters, as nodes have them: a client gets each event once, in order, however many blocks come at a time. A filter
 * whose client has asked for nothing during five minutes is gone. If there are too many, those that were used least lately are gone.
 */
export function createFilters(sources: FilterSources) {
  const { search, current, register, isForWallet } = sources
  const idIn = (given: unknown): Hex => encodeQuantity(params.quantity('filter', params.take(given, 1, 1)[0], 128))
  const next = async () => newestIn(await current()) + 1n
  async function addLogs(query: unknown, client: string) {
    const { filter, blocks: wanted, choices } = readLogRequest(query, isForWallet)
    if (typeof wanted === 'string') throw invalidParams('A filter is about blocks to come: blockHash names one.')
    return register.add(client, { filter, bounds: wanted }, choices, await next())
  }

  return {
    eth_newFilter: (given: unknown, _: Pace, client: string) => addLogs(params.take(given, 1, 1)[0], client),
    async eth_newBlockFilter(given: unknown, _: Pace, client: string) {
      params.take(given, 0, 0)
      return register.add(client, 'hashes', 0, await next())
    },
    /** A filter, whose changes the server asks for and pushes. */
    async eth_subscribe(given: unknown, _: Pace, client: string) {
      const [kind, query = {}] = params.take(given, 1, 2)
      if (kind === 'logs') return addLogs(query, client)
      if (kind === 'newHeads') return register.add(client, 'heads', 0, await next())
      throw invalidParams(`There are subscriptions to newHeads and logs. ${UNPUSHED}`)
    },
    eth_unsubscribe: async (given: unknown) => register.remove(idIn(given)),
    async eth_getFilterChanges(given: unknown, pace: Pace) {
      const filter = register.find(idIn(given))
      const end = Date.now() + sources.timeoutMs / 2
      const work = filter.turn.then(() => advance(sources, filter, end, pace))
      filter.turn = work.catch(() => {})
      return work
    },
    async eth_getFilterLogs(given: unknown, pace: Pace) {
      const { query } = register.find(idIn(given))
      if (typeof query === 'string') throw refusedFor('FILTER_MISSING', { found: 'This one is about blocks.' })
      const view = await current()
      return spellLogs(await search(view, query.filter, rangeIn(query.bounds, newestIn(view)), pace))
    },
    eth_uninstallFilter: async (given: unknown) => register.remove(idIn(given)),
  }
}

const UNPUSHED = 'Nothing proves what is pending, and nothing synchronizes here.'

/**
 * What is new, or the first part of it, perhaps none, at half of the time that a request has, or if it is much. The client moves on
 * only once it has all of that. What was fetched for the rest is known when it asks again.
 */
async function advance(sources: FilterSources, filter: Filter<Query>, end: number, pace: Pace): Promise<unknown> {
  const { query } = filter
  const { first = null, last = null } = typeof query === 'string' ? {} : query.bounds
  let next = first !== null && first > filter.next ? first : filter.next
  let piece = BLOCKS_A_PIECE
  const found: unknown[] = []
  while (Date.now() < end) {
    // A finalization meanwhile counts, too: some clients ask again only for the next one.
    const view = await sources.current()
    const newest = newestIn(view)
    const to = last !== null && last < newest ? last : newest
    if (next > to) break
    const range = { from: next, to: next + piece - 1n < to ? next + piece - 1n : to }
    const isOne = range.from === range.to
    let own = pace.signal
    const search = (signal: AbortSignal) => {
      own = signal
      return read(sources, filter, view, range, { ...pace, signal })
    }
    try {
      const more = await inTime(end - Date.now(), search, pace.signal)
      if (pace.reserve(more.reduce((sum: number, one) => sum + lengthOf(one), 0))) {
        for (const one of more) found.push(one)
        next = range.to + 1n
        continue
      }
      // The next request begins with these.
      if (found.length > 0 || isOne) break
    } catch (error) {
      if (own.aborted && !pace.signal.aborted) break
      if (isOne || !isProviderError(error) || error.reason !== 'LIMIT_REACHED') throw error
    }
    piece = (range.to - range.from + 1n) / 2n
  }
  if (pace.signal.aborted) throw abortedBy(pace.signal)
  filter.next = next
  return found.map(spell)
}

async function read(
  { blocks, search }: FilterSources,
  { query }: Filter<Query>,
  view: BlockView,
  range: BlockRange,
  pace: Pace,
): Promise<readonly (BlockLog | BlockHeader | Hex)[]> {
  if (typeof query === 'object') return search(view, query.filter, range, pace)
  const found: (BlockHeader | Hex)[] = []
  for await (const header of blocks.walk(view, range.from, range.to, pace)) {
    found.unshift(query === 'heads' ? header : header.hash)
  }
  return found
}
