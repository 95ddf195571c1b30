import type { LogFilter } from '../../blocks/filter.ts'
import { MAX_TOPICS } from '../../blocks/limits.ts'
import type { Hex } from '../../bytes.ts'
import { isGiven } from '../../json/known-fields.ts'
import { invalidParams } from '../error.ts'
import { MAX_CHOICES } from '../limits.ts'
import { params, readBlock, refuseOtherFields } from '../params.ts'

/** A block that is named by its number: a tag of the newest one, or `earliest`, is one, too. */
export const readNumber = (value: unknown, newest: bigint): bigint => {
  const named = value === 'earliest' ? 0n : readBlock(value)
  return named === 'latest' ? newest : named
}

/** What is asked for in `eth_getLogs`. */
export interface LogRequest {
  readonly filter: LogFilter
  /** The hash of the only block, or the first and the last block. */
  readonly blocks: Hex | { readonly from: bigint; readonly to: bigint }
}

const FIELDS = ['address', 'topics', 'fromBlock', 'toBlock', 'blockHash'] as const

/** @throws ProviderError `PARAMS_INVALID` */
export function readLogRequest(given: unknown, newest: bigint): LogRequest {
  const { address, topics, fromBlock, toBlock, blockHash } = params.fields('filter', given, FIELDS)
  // A misspelt field would select more than was meant.
  refuseOtherFields('filter', given, FIELDS)
  const filter = {
    address: isGiven(address) ? choice('address', address, 20) : undefined,
    topics: isGiven(topics)
      ? params.list('topics', topics, MAX_TOPICS, (at, topic) => (isGiven(topic) ? choice(at, topic, 32) : null))
      : undefined,
  }
  if (blockHash !== undefined) {
    if (fromBlock !== undefined || toBlock !== undefined)
      throw invalidParams('blockHash excludes fromBlock and toBlock.')
    return { filter, blocks: params.bytes('blockHash', blockHash, 32) }
  }
  const [from, to] = [readNumber(fromBlock, newest), readNumber(toBlock, newest)]
  if (from > to) throw invalidParams(`fromBlock ${from} is after toBlock ${to}.`)
  return { filter, blocks: { from, to } }
}

/** One value, or several of which any will do. */
function choice(place: string, value: unknown, length: number): Hex[] {
  const read = (at: string, item: unknown) => params.bytes(at, item, length)
  return Array.isArray(value) ? params.list(place, value, MAX_CHOICES, read) : [read(place, value)]
}
