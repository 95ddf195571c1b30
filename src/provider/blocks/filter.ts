import type { Hex } from '../../base/bytes.ts'
import { isGiven } from '../../base/json/known-fields.ts'
import type { LogFilter } from '../../verify/blocks/filter.ts'
import { MAX_TOPICS } from '../../verify/blocks/limits.ts'
import { MAX_CHOICES } from '../../verify/evidence/limits.ts'
import { invalidParams } from '../error.ts'
import { params, readBlock, refuseOtherFields } from '../params.ts'

/** A block that is named by its number: a tag of the newest one, or `earliest`, is one, too. */
export const readNumber = (value: unknown, newest: bigint, isForWallet: boolean): bigint =>
  numberAt(value, isForWallet) ?? newest

/** What is asked for in `eth_getLogs`. */
export interface LogRequest {
  readonly filter: LogFilter
  /** The hash of the only block, or the first and the last block. */
  readonly blocks: Hex | LogBounds
  /** Addresses and topics, all together. */
  readonly choices: number
}

/** The first and the last block; null: the newest one, whichever that is. */
export interface LogBounds {
  readonly first: bigint | null
  readonly last: bigint | null
}

/** Empty if it ends before it begins. */
export interface BlockRange {
  readonly from: bigint
  readonly to: bigint
}

const FIELDS = ['address', 'topics', 'fromBlock', 'toBlock', 'blockHash'] as const

/** @throws ProviderError `PARAMS_INVALID` */
export function readLogRequest(given: unknown, isForWallet: boolean): LogRequest {
  const { address, topics, fromBlock, toBlock, blockHash } = params.fields('filter', given, FIELDS)
  // A misspelt field would select more than was meant.
  refuseOtherFields('filter', given, FIELDS)
  const filter = readSelection(address, topics)
  const choices = [filter.address, ...filter.topics].reduce((sum, one) => sum + one.length, 0)
  if (blockHash !== undefined) {
    if (fromBlock !== undefined || toBlock !== undefined)
      throw invalidParams('blockHash excludes fromBlock and toBlock.')
    return { filter, blocks: params.bytes('blockHash', blockHash, 32), choices }
  }
  const [first, last] = [numberAt(fromBlock, isForWallet), numberAt(toBlock, isForWallet)]
  if (first !== null && last !== null && first > last) throw afterEnd(first, last)
  return { filter, blocks: { first, last }, choices }
}

const afterEnd = (from: bigint, to: bigint) => invalidParams(`fromBlock ${from} is after toBlock ${to}.`)

/** The blocks of a request that are there: those to come have no logs yet. @throws ProviderError `PARAMS_INVALID` */
export function rangeIn({ first, last }: LogBounds, newest: bigint): BlockRange {
  if (first === null && last !== null && last < newest) throw afterEnd(newest, last)
  return { from: first ?? newest, to: last === null || last > newest ? newest : last }
}

/** null: the newest one, whichever that is. */
function numberAt(block: unknown, isForWallet: boolean): bigint | null {
  const named = block === 'earliest' ? 0n : readBlock(block, isForWallet)
  return named === 'latest' ? null : named
}

/** The addresses, and the topics by place: of each, any will do. None: anything. */
export function readSelection(address: unknown, topics: unknown) {
  const choice = (length: number) => (place: string, value: unknown) => {
    const read = (at: string, item: unknown) => params.bytes(at, item, length)
    return Array.isArray(value)
      ? params.list(place, value, MAX_CHOICES, read)
      : isGiven(value)
        ? [read(place, value)]
        : []
  }
  return {
    address: choice(20)('address', address),
    topics: params.list('topics', topics ?? [], MAX_TOPICS, choice(32)),
  }
}
