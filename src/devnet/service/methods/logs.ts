import { encodeQuantity } from '../../../base/hex.ts'
import { createRegister } from '../../../provider/blocks/filters.ts'
import { readSelection } from '../../../provider/blocks/logs.ts'
import { invalidParams } from '../../../provider/error.ts'
import { MAX_LOGS } from '../../../provider/limits.ts'
import { params as read } from '../../../provider/requests.ts'
import { decodeFilter, selectedBy } from '../../../verify/blocks/filter.ts'
import type { FullChain } from '../chain.ts'
import type { ChainLog } from '../content.ts'
import { type Method, MethodError, rpcCodes } from '../json-rpc.ts'
import { MAX_LOG_RANGE } from '../limits.ts'

/** Where {@link getLogs} finds logs, and how far it goes. */
interface LogSource {
  /** The logs of these blocks, the first and the last included, oldest first, as JSON-RPC has them. */
  logsOf(from: bigint, to: bigint): Iterable<ChainLog>
  numberOf(block: unknown): bigint
}

/** The logs that a filter selects, oldest first. */
export function getLogs(filter: unknown, { logsOf, numberOf }: LogSource, maxRange = MAX_LOG_RANGE): ChainLog[] {
  const fields = read.fields('filter', filter, ['blockHash', 'fromBlock', 'toBlock', 'address', 'topics'])
  const { blockHash, fromBlock, toBlock } = fields
  if (blockHash !== undefined && (fromBlock !== undefined || toBlock !== undefined)) {
    throw invalidParams('filter: blockHash excludes fromBlock and toBlock')
  }
  const from = numberOf(blockHash === undefined ? (fromBlock ?? 'latest') : { blockHash })
  const to = blockHash === undefined ? numberOf(toBlock ?? 'latest') : from
  const isSelected = selectedBy(decodeFilter(readSelection(fields.address, fields.topics)))
  if (to < from) throw invalidParams('filter: fromBlock is after toBlock')
  if (to - from >= BigInt(maxRange)) throw invalidParams(`filter: at most ${maxRange} blocks at once`)
  const found: ChainLog[] = []
  for (const log of logsOf(from, to)) {
    if (!isSelected(log)) continue
    if (found.length === MAX_LOGS) throw invalidParams(`filter: more than ${MAX_LOGS} logs`)
    found.push(log)
  }
  return found
}

/** Filters as nodes have them: if there are too many, those that were used least lately are gone. */
export function filterMethods({ blocks }: FullChain, source: LogSource): Record<string, Method> {
  const { newest } = blocks
  /** A filter crosses any number of blocks: the node has them anyway. */
  const logsIn = (query: object, from: bigint, to: bigint) => {
    const { address, topics } = read.fields('filter', query, ['address', 'topics'])
    const filter = { address, topics, fromBlock: encodeQuantity(from), toBlock: encodeQuantity(to) }
    return getLogs(filter, source, Number.MAX_SAFE_INTEGER)
  }
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
      return Array.from({ length: Number(to - from) + 1 }, (_, index) => blocks.at(from + BigInt(index))?.block.hash)
    },
    eth_getFilterLogs(params) {
      const { query } = find(params)
      if (query === null) throw new MethodError(rpcCodes.serverError, 'this filter is about blocks')
      return logsIn(query, 0n, newest())
    },
    eth_uninstallFilter: params => register.remove(idIn(params)),
  }
}
