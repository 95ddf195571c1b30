import type { Hex } from '../../../base/bytes.ts'
import { encodeQuantity } from '../../../base/hex.ts'
import { createRegister } from '../../../provider/filter-register.ts'
import { params as read } from '../../../provider/params.ts'
import type { ChainLog } from '../content.ts'
import { type Method, MethodError, rpcCodes } from '../json-rpc.ts'

/** Where filters look. */
interface FilterSources {
  newest(): bigint
  /** The logs of blocks that a query selects. @throws MethodError for a query that does not fit */
  logsIn(query: object, from: bigint, to: bigint): ChainLog[]
  hashAt(number: bigint): Hex | undefined
}

/** Filters as nodes have them: those that nobody asked for lately are gone, and the least lately used ones if there are too many. */
export function filterMethods({ newest, logsIn, hashAt }: FilterSources): Record<string, Method> {
  const register = createRegister<object | null>()
  const add = (query: object | null) => register.add('', query, 0, newest() + 1n)
  const idIn = (params: readonly unknown[]) => encodeQuantity(read.quantity('filter', read.take(params, 1, 1)[0], 128))

  function find(params: readonly unknown[]) {
    const id = idIn(params)
    try {
      return register.find(id)
    } catch {
      throw new MethodError(rpcCodes.serverError, 'filter not found')
    }
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
    eth_uninstallFilter: params => register.remove(idIn(params)),
  }
}
