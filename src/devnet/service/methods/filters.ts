import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, type Hex } from '../../../base/bytes.ts'
import { encodeQuantity } from '../../../base/hex.ts'
import type { ChainLog } from '../content.ts'
import { type Method, MethodError, rpcCodes } from '../json-rpc.ts'
import { FILTER_IDLE, MAX_FILTERS } from '../limits.ts'
import { read } from './common.ts'

/** A query, or null for blocks, and the first block that the client has not seen. */
interface Filter {
  readonly query: object | null
  next: bigint
  usedAt: number
}

/** Where filters look. */
interface FilterSources {
  newest(): bigint
  /** The logs of blocks that a query selects. @throws MethodError for a query that does not fit */
  logsIn(query: object, from: bigint, to: bigint): ChainLog[]
  hashAt(number: bigint): Hex | undefined
}

/** Filters as nodes have them: those that nobody asked for lately are gone, and the least lately used ones if there are too many. */
export function filterMethods({ newest, logsIn, hashAt }: FilterSources): Record<string, Method> {
  const filters = new Map<Hex, Filter>()
  let made = 0n

  function add(query: Filter['query']): Hex {
    for (const [id, { usedAt }] of filters) {
      if (Date.now() - usedAt > FILTER_IDLE || filters.size >= MAX_FILTERS) filters.delete(id)
    }
    const id: Hex = `0x1${bytesToHex(keccak_256(new TextEncoder().encode(`${made++}`))).slice(2, 32)}`
    filters.set(id, { query, next: newest() + 1n, usedAt: Date.now() })
    return id
  }
  const idIn = (params: readonly unknown[]) => encodeQuantity(read.quantity('filter', read.take(params, 1, 1)[0], 128))

  function find(params: readonly unknown[]): Filter {
    const id = idIn(params)
    const filter = filters.get(id)
    if (filter === undefined) throw new MethodError(rpcCodes.serverError, 'filter not found')
    // Again at the end, as the one that was used last.
    filters.delete(id)
    filters.set(id, filter)
    filter.usedAt = Date.now()
    return filter
  }

  return {
    eth_newFilter(params) {
      const [query] = read.take(params, 1, 1)
      // What does not fit is refused now.
      logsIn(Object(query), newest(), newest())
      return add(Object(query))
    },
    eth_newBlockFilter: params => read.take(params, 0, 0) && add(null),
    eth_getFilterChanges(params) {
      const filter = find(params)
      const [from, to] = [filter.next, newest()]
      filter.next = to + 1n
      if (from > to) return []
      if (filter.query !== null) return logsIn(filter.query, from, to)
      return Array.from({ length: Number(to - from) + 1 }, (_, index) => hashAt(from + BigInt(index)))
    },
    eth_getFilterLogs(params) {
      const { query } = find(params)
      if (query === null) throw new MethodError(rpcCodes.serverError, 'this filter is about blocks')
      return logsIn(query, 0n, newest())
    },
    eth_uninstallFilter: params => filters.delete(idIn(params)),
  }
}
