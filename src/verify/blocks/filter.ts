import { decodeArgument, invalid, isArray, readItems } from '../../base/arguments.ts'
import { bytesToHex, type Hex } from '../../base/bytes.ts'
import { atPath } from '../../base/errors.ts'
import { readerOf } from '../../base/json/reader.ts'
import { readOptions } from '../../base/options.ts'
import { MAX_TOPICS } from './limits.ts'
import { bloomBits, type Log } from './receipts.ts'

/** Which logs are asked for, as `eth_getLogs` has it. */
export interface LogFilter {
  /** The contract, or several of which any will do. Default: any contract. */
  address?: Hex | readonly Hex[]
  /**
   * By place, the topic, or several of which any will do; null: any topic. A log with fewer topics does not match. Default: any
   * topics.
   */
  topics?: readonly (Hex | readonly Hex[] | null)[]
}

const reader = /* @__PURE__ */ readerOf('ARGUMENT_INVALID')

/**
 * The logs that a filter selects, as `eth_getLogs` does. Of all logs of a block, the result is complete.
 *
 * @param logs proven ones, such as those of `verifyReceipts` or `verifyBlock`
 * @param filter which logs are asked for. An empty list counts as none, as endpoints have it
 * @returns the same objects, in the same order
 * @throws ArgumentError
 *
 * @example
 * ```ts
 * import { filterLogs } from 'rollup-state-proof/blocks'
 *
 * const transfer = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef' as const
 * const [token, other] = [`0x${'70'.repeat(20)}`, `0x${'71'.repeat(20)}`] as const
 * const logs = [token, other].map(address => ({ address, topics: [transfer] }))
 * console.log(filterLogs(logs, { address: token, topics: [transfer] }).length) // 1
 * ```
 */
export function filterLogs<T extends Pick<Log, 'address' | 'topics'>>(logs: readonly T[], filter: LogFilter): T[] {
  const isSelected = selectedBy(decodeFilter(filter))
  return readItems('logs', logs, log => ({ log, ...readLog(log) }))
    .filter(isSelected)
    .map(({ log }) => log)
}

/** Whether a filter selects a log, in lower case. */
export const selectedBy =
  (filter: DecodedFilter) =>
  ({ address, topics }: { readonly address: Hex; readonly topics: readonly Hex[] }): boolean =>
    filter.topics.length <= topics.length &&
    filter.topics.every((choice, index) => includes(choice, topics[index])) &&
    includes(filter.address, address)

/**
 * Makes a test of bloom filters: false if none of the logs is selected, so that nobody needs to look at them.
 *
 * @throws ArgumentError
 */
export function bloomTest(filter: LogFilter): (logsBloom: Hex) => boolean {
  const { address, topics } = decodeFilter(filter)
  const maskOf = (value: Hex) => bloomBits(value).reduce((mask, bit) => mask | (1n << BigInt(bit)), 0n)
  const masks = [address, ...topics].filter(choice => choice.length > 0).map(choice => choice.map(maskOf))
  return logsBloom => {
    const bloom = BigInt(logsBloom)
    // Each log sets bits: without any, there is none.
    return bloom !== 0n && masks.every(choice => choice.some(mask => (bloom & mask) === mask))
  }
}

/** Whether more than half of a bloom filter is set: then it often admits a log that is not there. */
export const isDense = (logsBloom: Hex): boolean => BigInt(logsBloom).toString(2).replaceAll('0', '').length > 1024

/** A validated filter, in lower case: each list is sorted, and nothing is in it twice. An empty list: anything. */
export interface DecodedFilter {
  readonly address: readonly Hex[]
  /** By place. */
  readonly topics: readonly (readonly Hex[])[]
}

const FIELDS = ['address', 'topics'] as const

/** @throws ArgumentError */
export function decodeFilter(filter: LogFilter): DecodedFilter {
  const { address, topics = [] } = readOptions('', filter, FIELDS, FIELDS)
  const addresses = decodeChoice('address', address, 20)
  const choices = readItems('topics', topics, topic => decodeChoice('', topic ?? undefined, 32))
  if (choices.length > MAX_TOPICS) throw invalid('topics', `at most ${MAX_TOPICS}`, topics)
  return { address: addresses, topics: choices }
}

/** No choice includes everything. */
const includes = (choice: readonly Hex[], value: Hex | undefined): boolean =>
  choice.length === 0 || choice.some(chosen => chosen === value)

function decodeChoice(name: string, choice: unknown, length: number): Hex[] {
  if (choice === undefined) return []
  const values = isArray(choice) ? decodeList(name, choice, length) : [atPath(name, () => decodeHex(choice, length))]
  return inOrder(values)
}

/** Sorted, each once. */
export const inOrder = (values: readonly Hex[]): Hex[] => [...new Set(values)].sort()

const decodeHex = (value: unknown, length: number): Hex => bytesToHex(decodeArgument('', value, length))

const decodeList = (name: string, list: unknown, length: number): Hex[] =>
  // Whatever it is: what is no array is refused.
  readItems(name, list as readonly unknown[], value => decodeHex(value, length))

/** In lower case. @throws ArgumentError if it is no log */
function readLog(log: unknown): { address: Hex; topics: Hex[] } {
  const field = reader.fieldsOf(log, ['address', 'topics'])
  return {
    address: field('address', value => decodeHex(value, 20)),
    topics: field('topics', value => decodeList('', value, 32)),
  }
}
