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
import type { BlockMethod, Method } from '../method-table.ts'
import type { Pace } from '../pace.ts'
import { params } from '../params.ts'
import type { Chain } from './chain.ts'
import { type BlockRange, type LogBounds, type LogSearch, lengthOf, rangeIn, readLogRequest } from './logs.ts'
import { spell } from './spell.ts'

/** Logs, or of blocks their hashes or their headers. */
export type Query = { readonly filter: LogFilter; readonly bounds: LogBounds } | 'hashes' | 'heads'

interface FilterSources {
  readonly search: LogSearch
  readonly chainNow: (pace: Pace) => Promise<Chain>
  readonly register: Register<Query>
  readonly timeoutMs: number
}

/**
 * The methods of filters, as nodes have them: a client gets each event once, in order, however many blocks come at a time. A filter
 * whose client has asked for nothing during five minutes is gone. If there are too many, those that were used least lately are gone.
 */
export function createFilters(sources: FilterSources) {
  const { search, chainNow, register } = sources
  const idIn = ([id]: readonly unknown[]): Hex => encodeQuantity(params.quantity('filter', id, 128))
  const addBlocks = async (query: 'hashes' | 'heads', pace: Pace, client: string) =>
    register.add(client, query, 0, (await chainNow(pace)).newest + 1n)
  async function addLogs(query: unknown, pace: Pace, client: string) {
    const chain = await chainNow(pace)
    const { filter, blocks: bounds } = readLogRequest(query, chain)
    if (typeof bounds === 'string') throw invalidParams('A filter is about blocks to come: blockHash names one.')
    const choices = [filter.address, ...filter.topics].flat().length
    return register.add(client, { filter, bounds }, choices, chain.newest + 1n)
  }
  const remove: Method = given => register.remove(idIn(given))

  return {
    eth_newFilter: ([query], pace, client) => addLogs(query, pace, client),
    eth_newBlockFilter: (_, pace, client) => addBlocks('hashes', pace, client),
    /** A filter, whose changes the server asks for and pushes. */
    eth_subscribe([kind, query = {}], pace, client) {
      if (kind === 'logs') return addLogs(query, pace, client)
      if (kind === 'newHeads') return addBlocks('heads', pace, client)
      throw invalidParams(`There are subscriptions to newHeads and logs. ${UNPUSHED}`)
    },
    eth_unsubscribe: remove,
    eth_uninstallFilter: remove,
    eth_getFilterChanges(given, pace) {
      const filter = register.find(idIn(given))
      const end = Date.now() + sources.timeoutMs / 2
      const work = filter.turn.then(() => advance(sources, filter, end, pace))
      filter.turn = work.catch(() => {})
      return work
    },
    async eth_getFilterLogs(given, pace) {
      const { query } = register.find(idIn(given))
      if (typeof query === 'string') throw refusedFor('FILTER_MISSING', { found: 'This one is about blocks.' })
      const chain = await chainNow(pace)
      return spell(await search(chain, query.filter, rangeIn(query.bounds, chain.newest)))
    },
  } satisfies Partial<Record<BlockMethod, Method>>
}

const UNPUSHED = 'Nothing proves what is pending, and nothing synchronizes here.'

/**
 * What is new, or the first part of it, perhaps none, at half of the time that a request has, or if it is much. The client moves on
 * only once it has all of that. What was fetched for the rest is known when it asks again.
 */
async function advance(sources: FilterSources, filter: Filter<Query>, end: number, pace: Pace): Promise<unknown> {
  const { query } = filter
  const { first, last } = typeof query === 'string' ? { first: null, last: null } : query.bounds
  let next = first !== null && first > filter.next ? first : filter.next
  let piece = BLOCKS_A_PIECE
  const found: unknown[] = []
  while (Date.now() < end) {
    // A finalization meanwhile counts, too: some clients ask again only for the next one.
    const { newest } = await sources.chainNow(pace)
    const most = last !== null && last < newest ? last : newest
    if (next > most) break
    const range = { from: next, to: next + piece - 1n < most ? next + piece - 1n : most }
    const isOne = range.from === range.to
    let own = pace.signal
    const search = (signal: AbortSignal) => {
      own = signal
      return read(sources, query, range, { ...pace, signal })
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
  { chainNow, search }: FilterSources,
  query: Query,
  range: BlockRange,
  pace: Pace,
): Promise<readonly (BlockLog | BlockHeader | Hex)[]> {
  const chain = await chainNow(pace)
  if (typeof query === 'object') return search(chain, query.filter, range)
  const found: (BlockHeader | Hex)[] = []
  for await (const header of chain.walk(range.from, range.to)) {
    found.unshift(query === 'heads' ? header : header.hash)
  }
  return found
}
