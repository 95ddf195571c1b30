import type { Hex } from '../../../base/bytes.ts'
import { isGiven } from '../../../base/json/known-fields.ts'
import { MAX_LOGS } from '../../../provider/limits.ts'
import type { ChainLog } from '../content.ts'
import { MAX_ALTERNATIVES } from '../limits.ts'
import { invalidParams, read } from './common.ts'

/** Where {@link getLogs} finds logs, and how far it goes. */
export interface LogSource {
  /** The logs of these blocks, the first and the last included, oldest first, as JSON-RPC has them. */
  logsOf(from: bigint, to: bigint): Iterable<ChainLog>
  /** Reads the number of a block. */
  numberOf(block: unknown): bigint
  /** Blocks per request. */
  readonly maxRange: number
}

/** The logs that a filter selects, oldest first. */
export function getLogs(filter: unknown, { logsOf, numberOf, maxRange }: LogSource): ChainLog[] {
  const fields = read.fields('filter', filter, ['blockHash', 'fromBlock', 'toBlock', 'address', 'topics'])
  const { blockHash, fromBlock, toBlock } = fields
  if (blockHash !== undefined && (fromBlock !== undefined || toBlock !== undefined)) {
    throw invalidParams('filter: blockHash excludes fromBlock and toBlock')
  }
  const from = numberOf(blockHash === undefined ? (fromBlock ?? 'latest') : { blockHash })
  const to = blockHash === undefined ? numberOf(toBlock ?? 'latest') : from
  const matches = readMatcher(fields.address, fields.topics)
  if (to < from) throw invalidParams('filter: fromBlock is after toBlock')
  if (to - from >= BigInt(maxRange)) throw invalidParams(`filter: at most ${maxRange} blocks at once`)
  const found: ChainLog[] = []
  for (const log of logsOf(from, to)) {
    if (!matches(log.address, log.topics)) continue
    if (found.length === MAX_LOGS) throw invalidParams(`filter: more than ${MAX_LOGS} logs`)
    found.push(log)
  }
  return found
}

/** Returns a predicate on a log's address and topics. In a filter, null matches anything, and an array any of its items. */
function readMatcher(address: unknown, topics: unknown = []): (address: Hex, topics: readonly Hex[]) => boolean {
  const oneOf = (place: string, value: unknown, length: number): readonly Hex[] | null => {
    const given = Array.isArray(value) ? value : isGiven(value) ? [value] : []
    const values = read.list(place, given, MAX_ALTERNATIVES, (_, item) => read.bytes(place, item, length))
    return values.length === 0 ? null : values
  }
  const addresses = oneOf('address', address, 20)
  const places = read
    .list('topics', topics, 4, (_, topic) => topic)
    .map((topic, index) => oneOf(`topic ${index}`, topic, 32))
  return (address, topics) =>
    (addresses === null || addresses.includes(address)) &&
    places.length <= topics.length &&
    places.every((place, index) => place === null || place.includes(topics[index] ?? '0x'))
}
