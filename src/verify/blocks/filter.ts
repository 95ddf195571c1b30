import { invalid, isArray, readItems } from '../../base/arguments.ts'
import type { Hex } from '../../base/bytes.ts'
import { atPath } from '../../base/errors.ts'
import { readHex, readOptions } from '../../base/options.ts'
import { MAX_TOPICS } from './limits.ts'
import { bloomBits } from './receipts.ts'

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

/** Whether a filter selects a log, in lower case. */
export const selectedBy =
  (filter: DecodedFilter) =>
  ({ address, topics }: { readonly address: Hex; readonly topics: readonly Hex[] }): boolean =>
    filter.topics.length <= topics.length &&
    filter.topics.every((choice, index) => includes(choice, topics[index])) &&
    includes(filter.address, address)

/** Makes a test of bloom filters: false if none of the logs is selected, so that nobody needs to look at them. @throws ArgumentError */
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

/** A validated filter, in lower case: each list is sorted, and nothing is in it twice. An empty list: anything. */
export type DecodedFilter = ReturnType<typeof decodeFilter>

const FIELDS = ['address', 'topics'] as const

export function decodeFilter(filter: LogFilter) {
  const { address, topics = [] } = readOptions('', filter, FIELDS, FIELDS)
  const decoded = {
    address: decodeChoice('address', address, 20),
    topics: readItems('topics', topics, topic => decodeChoice('', topic ?? undefined, 32)),
  }
  if (decoded.topics.length > MAX_TOPICS) throw invalid('topics', `at most ${MAX_TOPICS}`, topics)
  return decoded
}

/** No choice includes everything. */
const includes = (choice: readonly Hex[], value: Hex | undefined): boolean =>
  choice.length === 0 || choice.some(chosen => chosen === value)

function decodeChoice(name: string, choice: unknown, length: number): Hex[] {
  if (choice === undefined) return []
  const decode = (value: unknown): Hex => readHex('', value, length)
  return inOrder(isArray(choice) ? readItems(name, choice, decode) : [atPath(name, () => decode(choice))])
}

export const inOrder = (values: readonly Hex[]): Hex[] => [...new Set(values)].sort()
