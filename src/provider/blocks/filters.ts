import { bytesToHex, type Hex } from '../../base/bytes.ts'
import { encodeQuantity } from '../../base/hex.ts'
import type { BlockRange } from '../../client/l1/log-ranges.ts'
import { abortedBy } from '../../client/transport/error.ts'
import { inTime } from '../../client/transport/waiting.ts'
import type { LogFilter } from '../../verify/blocks/filter.ts'
import type { BlockHeader } from '../../verify/blocks/header.ts'
import { invalidParams, isProviderError, refusedFor } from '../error.ts'
import { BLOCKS_A_PIECE, FILTER_SIZE, MAX_FILTERS_A_CLIENT, MAX_FILTERS_SIZE } from '../limits.ts'
import type { Pace } from '../pace.ts'
import { type BlockMethod, type Method, params } from '../requests.ts'
import type { Chain } from './chain.ts'
import { type LogBounds, type LogSearch, lengthOf, rangeIn, readLogRequest } from './logs.ts'
import { spell } from './spell.ts'

/** A query, and the position of a client in the chain. It holds nothing of what the client will get. */
interface Filter<Query> {
  readonly owner: string
  readonly query: Query
  readonly size: number
  /** The first block that the client has not seen. */
  next: bigint
  /** Ends with the last request that was made: each one goes on where the one before ended. */
  turn: Promise<unknown>
}

/** The filters of all clients, within their bounds. Whoever has to make room gives up the one that it used least lately. */
export function createRegister<Query>() {
  const filters = new Map<Hex, Filter<Query>>()
  function dropOldest(isOwner: (owner: string) => boolean): void {
    for (const [id, { owner }] of filters) if (isOwner(owner)) return void filters.delete(id)
  }
  /** The client makes room whose filters take the most of it: so nobody loses one to a client that has more. */
  function makeRoom(): void {
    const sizes = new Map<string, number>()
    for (const { owner, size } of filters.values()) sizes.set(owner, size + (sizes.get(owner) ?? 0))
    if ([...sizes.values()].reduce((sum, size) => sum + size) <= MAX_FILTERS_SIZE) return
    const most = Math.max(...sizes.values())
    dropOldest(owner => sizes.get(owner) === most)
    makeRoom()
  }
  return {
    add(owner: string, query: Query, choices: number, next: bigint): Hex {
      // Nobody can guess it, and it is a quantity.
      const fresh: Hex = `0x1${bytesToHex(crypto.getRandomValues(new Uint8Array(15))).slice(2)}`
      filters.set(fresh, { owner, query, size: FILTER_SIZE + choices, next, turn: Promise.resolve() })
      const own = [...filters.values()].filter(one => one.owner === owner)
      if (own.length > MAX_FILTERS_A_CLIENT) dropOldest(one => one === owner)
      makeRoom()
      return fresh
    },
    /** @throws ProviderError `FILTER_MISSING` */
    find(id: Hex): Filter<Query> {
      const filter = filters.get(id)
      if (filter === undefined) throw refusedFor('FILTER_MISSING')
      filters.delete(id)
      filters.set(id, filter)
      return filter
    },
    remove: (id: Hex): boolean => filters.delete(id),
  }
}

/** Logs, or of blocks their hashes or their headers. */
type Query = { readonly filter: LogFilter; readonly bounds: LogBounds } | 'hashes' | 'heads'

interface FilterSources {
  readonly search: LogSearch
  readonly chainNow: (pace: Pace) => Promise<Chain>
  readonly timeoutMs: number
}

/** The methods of filters, as nodes have them: a client gets each event once, in order, however many blocks come at a time. */
export function createFilters(sources: FilterSources) {
  const { search, chainNow } = sources
  const register = createRegister<Query>()
  const idIn = ([id]: readonly unknown[]): Hex => encodeQuantity(params.quantity('filter', id, 128))
  const addBlocks = async (query: 'hashes' | 'heads', pace: Pace, client: string) =>
    register.add(client, query, 0, (await chainNow(pace)).newest + 1n)
  async function addLogs(query: unknown, pace: Pace, client: string) {
    const chain = await chainNow(pace)
    const { filter, blocks: bounds } = readLogRequest(query, chain)
    if (typeof bounds === 'string') throw invalidParams('A filter is about blocks to come: blockHash names one.')
    const choices = [filter.address, ...filter.topics].flat().length
    const { first } = bounds
    const next = first !== null && first > chain.newest ? first : chain.newest + 1n
    return register.add(client, { filter, bounds }, choices, next)
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
  const last = typeof query === 'string' ? null : query.bounds.last
  let { next } = filter
  let piece = BLOCKS_A_PIECE
  const found: unknown[] = []
  while (Date.now() < end) {
    // A finalization meanwhile counts, too: some clients ask again only for the next one.
    const { newest } = await sources.chainNow(pace)
    const most = last !== null && last < newest ? last : newest
    if (next > most) break
    const range = { first: next, last: next + piece - 1n < most ? next + piece - 1n : most }
    const isOne = range.first === range.last
    let own = pace.signal
    const search = (signal: AbortSignal) => {
      own = signal
      return read(sources, query, range, { ...pace, signal })
    }
    try {
      const more = await inTime(end - Date.now(), search, pace.signal)
      if (pace.reserve(more.reduce((sum: number, one) => sum + lengthOf(one), 0))) {
        for (const one of more) found.push(one)
        next = range.last + 1n
        continue
      }
      // The next request begins with these.
      if (found.length > 0 || isOne) break
    } catch (error) {
      if (own.aborted && !pace.signal.aborted) break
      if (isOne || !isProviderError(error) || error.reason !== 'LIMIT_REACHED') throw error
    }
    piece = (range.last - range.first + 1n) / 2n
  }
  if (pace.signal.aborted) throw abortedBy(pace.signal)
  filter.next = next
  return found.map(spell)
}

async function read({ chainNow, search }: FilterSources, query: Query, range: BlockRange, pace: Pace) {
  const { first, last } = range
  const chain = await chainNow(pace)
  if (typeof query === 'object') return search(chain, query.filter, range)
  const found: (BlockHeader | Hex)[] = []
  for await (const header of chain.walk(first, last)) found.unshift(query === 'heads' ? header : header.hash)
  return found
}
