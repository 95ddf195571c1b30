import type { Hex } from '../../base/bytes.ts'
import { isGiven, readOwn } from '../../base/json/known-fields.ts'
import { askLogs } from '../../client/l1/log-ranges.ts'
import { EndpointError } from '../../client/transport/error.ts'
import { CONTENTS_AT_ONCE } from '../../client/transport/limits.ts'
import { parseQuantity } from '../../client/transport/provider.ts'
import { inAdvance } from '../../client/transport/waiting.ts'
import type { BlockLog } from '../../verify/blocks/block.ts'
import { bloomTest, decodeFilter, type LogFilter } from '../../verify/blocks/filter.ts'
import type { BlockHeader } from '../../verify/blocks/header.ts'
import { MAX_TOPICS } from '../../verify/blocks/limits.ts'
import { MAX_CHOICES } from '../../verify/evidence/limits.ts'
import { invalidParams, refusedFor } from '../error.ts'
import { MAX_LOGS, MAX_LOGS_LENGTH } from '../limits.ts'
import type { VerifiedOptions } from '../options.ts'
import type { Pace } from '../pace.ts'
import { params, readBlock, refuseOtherFields } from '../params.ts'
import { newestIn } from '../view.ts'
import { type Contents, lengthOf } from './contents.ts'
import { type BlockView, type KnownBlocks, oldestIn, unprovenBlock } from './known-blocks.ts'
import type { Locator } from './locate.ts'
import { spellLogs } from './spell.ts'

export async function getLogs(
  search: LogSearch,
  { numberOf }: Locator,
  view: BlockView,
  given: unknown,
  pace: Pace,
  isForWallet: boolean,
): Promise<unknown> {
  const { filter, blocks: wanted } = readLogRequest(params.take(given, 1, 1)[0], isForWallet)

  async function rangeOf(): Promise<BlockRange> {
    if (typeof wanted !== 'string') {
      const range = rangeIn(wanted, newestIn(view))
      // An empty list would say that these blocks have no logs, to who takes the newest block from elsewhere.
      if (range.from > newestIn(view)) throw unprovenBlock(view, range.from)
      return range
    }
    const number = await numberOf(view, wanted, pace)
    if (number !== null) return { from: number, to: number }
    throw refusedFor('BLOCK_UNPROVEN', { found: 'No proven block has this hash.' })
  }
  return spellLogs(await search(view, filter, await rangeOf(), pace))
}

export type LogSearch = (
  view: BlockView,
  filter: LogFilter,
  range: BlockRange,
  pace: Pace,
) => Promise<readonly BlockLog[]>

/**
 * The logs of a range that a filter selects. They are complete: each header of the range is proven, each block whose filter admits
 * the logs is read in full, and the filter of a header, which its hash commits to, is that of its logs.
 */
export async function searchLogs(
  blocks: KnownBlocks,
  contents: Contents,
  ...[view, given, { from, to }, pace]: Parameters<LogSearch>
): Promise<readonly BlockLog[]> {
  const [isPossible, filter] = [bloomTest(given), decodeFilter(given)]
  const filterId = JSON.stringify([filter.address, filter.topics])
  // Before the others are asked for in vain.
  if (from < oldestIn(view)) throw unprovenBlock(view, from)
  const progress = createProgress(() => blocks.countMissing(view, from, to), to - from + 1n)
  pace.tell(progress.describe)

  const candidates: BlockHeader[] = []
  for await (const header of blocks.walk(view, from, to, pace)) {
    await pace.pause()
    if (isPossible(header.logsBloom)) candidates.push(header)
  }
  candidates.reverse()
  const isKnown = (header: BlockHeader) => contents.isSelected(header, filterId)
  progress.begin(candidates.filter(header => !isKnown(header)).length)
  if (!candidates.every(isKnown)) await pace.beSlow()
  const read = async (index: number, signal: AbortSignal) => {
    await pace.pause()
    // The index is one of theirs.
    const header = candidates[index] as BlockHeader
    const isNew = !isKnown(header)
    const found = await contents.selected(header, filter, filterId, signal)
    if (isNew) progress.step()
    return found
  }
  const { logs, add } = collectLogs()
  for await (const found of inAdvance(candidates.length, CONTENTS_AT_ONCE, read, pace.signal)) add(found)
  return logs
}

/** The logs that an endpoint lists, each proven, and all others of their blocks. Those of other blocks may be missing, as each log says. */
export async function searchListed(
  { l2 }: Pick<VerifiedOptions, 'l2'>,
  blocks: KnownBlocks,
  contents: Contents,
  ...[view, given, { from, to }, pace]: Parameters<LogSearch>
): Promise<readonly BlockLog[]> {
  if (from < oldestIn(view)) throw unprovenBlock(view, from)
  const filter = decodeFilter(given)
  const { address, topics } = filter
  const asked = {
    ...(address.length > 0 && { address }),
    topics: topics.map(choice => (choice.length > 0 ? choice : null)),
  }
  await pace.beSlow()
  return l2.run(async (provider, attempt) => {
    const listed = new Map<string, bigint>()
    for await (const piece of askLogs(provider, asked, { first: from, last: to }, { signal: attempt.signal })) {
      attempt.heard()
      for (const [name, block] of readListed(piece.logs, from, to)) listed.set(name, block)
      if (listed.size > MAX_LOGS) throw tooMany()
    }
    const numbers = [...new Set(listed.values())].sort((a, b) => (a < b ? -1 : 1))
    const read = async (index: number, signal: AbortSignal) => {
      // The index is one of theirs.
      const number = numbers[index] as bigint
      const hash = await blocks.hashAt(view, number, pace)
      return contents.selected({ hash, number }, filter, JSON.stringify([address, topics]), signal)
    }
    const { logs, add } = collectLogs()
    for await (const found of inAdvance(numbers.length, CONTENTS_AT_ONCE, read, attempt.signal)) {
      attempt.heard()
      add(found.map(log => ({ ...log, completeness: 'unproven' })))
    }
    for (const log of logs) listed.delete(nameOf(log))
    const [invented] = listed.values()
    if (invented === undefined) return logs
    throw malformed(`a log that block ${invented} does not have`)
  }, pace.signal)
}

const malformed = (found: string) => new EndpointError('ANSWER_MALFORMED', { found, layer: 'L2' })

/** The place of a log, and what it says. */
const nameOf = ({ blockNumber, logIndex, address, topics, data }: BlockLog): string =>
  `${blockNumber} ${logIndex} ${address} ${topics.join()} ${data}`

/** Names of logs, and their blocks. @throws EndpointError `ANSWER_MALFORMED` */
function readListed(logs: unknown, from: bigint, to: bigint): (readonly [string, bigint])[] {
  if (!Array.isArray(logs)) throw malformed('no list of logs')
  return logs.map(log => {
    const [number, index, address, data, topics] = LISTED.map(name => readOwn(Object(log), name))
    const block = parseQuantity(number)
    if (block < from || block > to) throw malformed('a log of another block')
    const texts: readonly unknown[] = [address, data, ...(Array.isArray(topics) ? topics : [null])]
    if (!texts.every(text => typeof text === 'string')) throw malformed('a log that is none')
    return [`${block} ${parseQuantity(index)} ${address} ${topics} ${data}`.toLowerCase(), block]
  })
}
const LISTED = ['blockNumber', 'logIndex', 'address', 'data', 'topics']

const tooMany = () =>
  refusedFor('LIMIT_REACHED', {
    found: `There are more than ${MAX_LOGS} logs, or ${MAX_LOGS_LENGTH} characters of them: ask for fewer blocks.`,
  })

/** How far a search is, in words, with an estimate of the rest from the rate of what it has fetched. */
function createProgress(countMissing: () => number, blocks: bigint) {
  const began = Date.now()
  const missing = countMissing()
  let receipts: { readonly count: number; readonly at: number } | undefined
  let read = 0
  const estimate = (done: number, left: number, since: number) =>
    done === 0 ? '' : `, at this rate in about ${Math.ceil((left * (Date.now() - since)) / done / 1000)} s`
  return {
    begin(count: number): void {
      receipts = { count, at: Date.now() }
    },
    step: () => void read++,
    describe(): string {
      const goesOn = 'Ask again, and it goes on from there'
      if (receipts !== undefined) {
        const left = receipts.count - read
        return `The receipts of ${left} blocks are still to be read${estimate(read, left, receipts.at)}. ${goesOn}.`
      }
      const left = countMissing()
      const done = `To search ${blocks} blocks, the headers of ${left} are still to be fetched`
      return `${done}${estimate(missing - left, left, began)}, and then receipts. ${goesOn}, ask for fewer blocks, or set \`completeLogs\` to false.`
    },
  }
}

/** Collects logs up to the bounds of an answer. @throws ProviderError `LIMIT_REACHED` */
export function collectLogs() {
  const logs: BlockLog[] = []
  let length = 0
  return {
    logs,
    add(more: readonly BlockLog[]): void {
      for (const log of more) {
        logs.push(log)
        length += lengthOf(log)
      }
      if (logs.length <= MAX_LOGS && length <= MAX_LOGS_LENGTH) return
      throw tooMany()
    },
  }
}

/** A block that is named by its number: a tag of the newest one, or `earliest`, is one, too. */
export const readNumber = (value: unknown, newest: bigint, isForWallet: boolean): bigint =>
  numberAt(value, isForWallet) ?? newest

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

export interface BlockRange {
  readonly from: bigint
  readonly to: bigint
}

const FIELDS = ['address', 'topics', 'fromBlock', 'toBlock', 'blockHash'] as const

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
