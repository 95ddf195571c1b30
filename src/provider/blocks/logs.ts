import type { Hex } from '../../base/bytes.ts'
import { printable } from '../../base/errors.ts'
import { isGiven, readOwn } from '../../base/json/known-fields.ts'
import { askLogs, type BlockRange } from '../../client/l1/log-ranges.ts'
import { fetchBlock } from '../../client/sources/blocks.ts'
import { EndpointError } from '../../client/transport/error.ts'
import { CONTENTS_AT_ONCE } from '../../client/transport/limits.ts'
import { parseQuantity } from '../../client/transport/provider.ts'
import { createFlights, inAdvance } from '../../client/transport/waiting.ts'
import { type BlockLog, openBlockLogs, withTransactions } from '../../verify/blocks/block.ts'
import { bloomTest, decodeFilter, type LogFilter, selectedBy } from '../../verify/blocks/filter.ts'
import type { BlockClaim, BlockHeader } from '../../verify/blocks/header.ts'
import { MAX_TOPICS } from '../../verify/blocks/limits.ts'
import { MAX_CHOICES } from '../../verify/evidence/limits.ts'
import { createCache } from '../cache.ts'
import { invalidParams, refusedFor } from '../error.ts'
import { MAX_CACHED_LOGS, MAX_LOGS, MAX_LOGS_LENGTH } from '../limits.ts'
import type { VerifiedOptions } from '../options.ts'
import { params, readBlock } from '../requests.ts'
import { type Chain, unprovenBlock } from './chain.ts'
import { spell } from './spell.ts'

export async function getLogs(search: LogSearch, chain: Chain, query: unknown): Promise<unknown> {
  const { filter, blocks: wanted } = readLogRequest(query, chain)
  if (typeof wanted === 'string') {
    const number = await chain.numberOf(wanted)
    if (number === null) throw refusedFor('BLOCK_UNPROVEN', { found: 'No proven block has this hash.' })
    return spell(await search(chain, filter, { first: number, last: number }))
  }
  const range = rangeIn(wanted, chain.newest)
  // An empty list would say that these blocks have no logs, to who takes the newest block from elsewhere.
  if (range.first > chain.newest) throw unprovenBlock(chain.view, range.first)
  return spell(await search(chain, filter, range))
}

/** Characters of a log as JSON, besides its data; of a header; and of what a cache keeps without any. */
const [LOG_LENGTH, HEADER_LENGTH, ENTRY_LENGTH] = [900, 2500, 256]
export const lengthOf = (one: BlockLog | BlockHeader | Hex): number => {
  if (typeof one === 'string') return LOG_LENGTH
  return 'data' in one ? LOG_LENGTH + one.data.length : HEADER_LENGTH
}
const lengthOfAll = (logs: readonly BlockLog[]) => logs.reduce((sum, log) => sum + lengthOf(log), ENTRY_LENGTH)

export type LogSearch = (chain: Chain, filter: LogFilter, range: BlockRange) => Promise<readonly BlockLog[]>

/** What a search selects of a proven block. */
type Read = (claim: BlockClaim, signal: AbortSignal) => Promise<readonly BlockLog[]>

/** What is read is kept, within bounds: final blocks never change. A search that took too long goes on when asked for again. */
export function createLogSearch(options: Pick<VerifiedOptions, 'l2' | 'signal' | 'completeLogs'>): LogSearch {
  const { l2, signal: over, completeLogs } = options
  const logs = createCache<Hex, readonly BlockLog[]>(MAX_CACHED_LOGS)
  const selections = createCache<string, readonly BlockLog[]>(MAX_CACHED_LOGS)
  /** Shared by all who ask, and kept, even if it takes longer than they wait. */
  const { run: share } = createFlights<Hex>(over)

  const fetchLogs = (claim: BlockClaim, signal: AbortSignal): Promise<readonly BlockLog[]> =>
    share(claim.hash, signal, async own => {
      const found = await fetchBlock({ l2, signal: own }, claim, true, ({ header, sentReceipts, transactions }) =>
        withTransactions(openBlockLogs(sentReceipts, header).flat(), transactions),
      )
      logs.set(claim.hash, found, lengthOfAll(found))
      return found
    })

  return async (chain, given, range) => {
    // Before the others are asked for in vain.
    if (range.first < chain.oldest) throw unprovenBlock(chain.view, range.first)
    const filter = decodeFilter(given)
    const id = JSON.stringify([filter.address, filter.topics])
    const knownOf = (hash: Hex) => selections.get(id + hash)
    const read: Read = async (claim, signal) => {
      const known = knownOf(claim.hash)
      if (known !== undefined) return known
      const all = logs.get(claim.hash) ?? (await fetchLogs(claim, signal))
      const found = all.filter(selectedBy(filter))
      selections.set(id + claim.hash, found, lengthOfAll(found))
      return found
    }
    if (completeLogs) return searchAll(chain, bloomTest(given), range, knownOf, read)
    return searchListed(l2, chain, filter, range, read)
  }
}

/** Complete: the hash of each header commits to the filter of its logs, and each block whose filter admits some is read in full. */
async function searchAll(
  { walk, countMissing, pace }: Chain,
  isPossible: ReturnType<typeof bloomTest>,
  { first, last }: BlockRange,
  knownOf: (hash: Hex) => unknown,
  read: Read,
): Promise<readonly BlockLog[]> {
  const hint = 'ask for fewer blocks, or set `completeLogs` to false'
  pace.tell(
    progressOf(() => countMissing(first, last), 'headers are still to be fetched', `and then receipts; ${hint}`),
  )
  const candidates: BlockHeader[] = []
  for await (const header of walk(first, last)) {
    await pace.pause()
    if (isPossible(header.logsBloom)) candidates.push(header)
  }
  candidates.reverse()
  const unread = new Set(candidates.map(({ hash }) => hash).filter(hash => !knownOf(hash)))
  pace.tell(progressOf(() => unread.size, 'blocks have receipts that are still to be read'))
  if (unread.size > 0) await pace.beSlow()
  const readOne = async (header: BlockHeader, signal: AbortSignal) => {
    await pace.pause()
    const found = await read(header, signal)
    unread.delete(header.hash)
    return found
  }
  return collectLogs(candidates, readOne, pace.signal)
}

/** How far a part of a search is, in words, with an estimate of the rest from the rate so far. */
function progressOf(countLeft: () => number, what: string, more = ''): () => string {
  const [began, first] = [Date.now(), countLeft()]
  return () => {
    const left = countLeft()
    const seconds = (left * (Date.now() - began)) / (first - left) / 1000
    const rate = left < first && `at this rate in about ${Math.ceil(seconds)} s`
    const said = [`${left} ${what}`, rate, more].filter(Boolean).join(', ')
    return `${said}. Ask again, and it goes on from there.`
  }
}

/** The proven logs of the blocks that an endpoint's list names, and no others: those of other blocks may be missing, as each says. */
async function searchListed(
  l2: VerifiedOptions['l2'],
  { hashAt, pace }: Chain,
  { address, topics }: ReturnType<typeof decodeFilter>,
  range: BlockRange,
  read: Read,
): Promise<readonly BlockLog[]> {
  const asked = {
    ...(address.length > 0 && { address }),
    topics: topics.map(choice => (choice.length > 0 ? choice : null)),
  }
  await pace.beSlow()
  return l2.run(async (provider, { signal, heard }) => {
    const listed = new Set<bigint>()
    for await (const { logs } of askLogs(provider, asked, range, { signal })) {
      heard()
      if (!Array.isArray(logs)) throw malformed('no list of logs')
      for (const log of logs) {
        const number = parseQuantity(readOwn(Object(log), 'blockNumber'))
        if (number < range.first || number > range.last) throw malformed('a log of another block')
        listed.add(number)
      }
      if (listed.size > MAX_LOGS) throw tooMany()
    }
    const numbers = [...listed].sort((a, b) => (a < b ? -1 : 1))
    const readOne = async (number: bigint, own: AbortSignal) => {
      const found = await read({ hash: await hashAt(number), number }, own)
      heard()
      return found.map(log => ({ ...log, completeness: 'unproven' }))
    }
    return collectLogs(numbers, readOne, signal)
  }, pace.signal)
}

const malformed = (found: string) => new EndpointError('ANSWER_MALFORMED', { found, layer: 'L2' })

const tooMany = () =>
  refusedFor('LIMIT_REACHED', {
    found: `There are more than ${MAX_LOGS} logs, or ${MAX_LOGS_LENGTH} characters of them: ask for fewer blocks.`,
  })

/** What `read` finds in each place, up to the bounds of an answer. @throws ProviderError `LIMIT_REACHED` */
export async function collectLogs<T>(
  places: readonly T[],
  read: (place: T, signal: AbortSignal) => Promise<readonly BlockLog[]>,
  signal: AbortSignal,
): Promise<BlockLog[]> {
  const logs: BlockLog[] = []
  let length = 0
  // The index is one of theirs.
  const begin = (index: number, own: AbortSignal) => read(places[index] as T, own)
  for await (const found of inAdvance(places.length, CONTENTS_AT_ONCE, begin, signal)) {
    for (const log of found) {
      logs.push(log)
      length += lengthOf(log)
    }
    if (logs.length > MAX_LOGS || length > MAX_LOGS_LENGTH) throw tooMany()
  }
  return logs
}

/** A block that is named by its number: a tag of the newest one, or `earliest`, is one, too. */
export const readNumber = (value: unknown, chain: Chain): bigint => numberAt(value, chain) ?? chain.newest

/** The first and the last block; null: the newest one, whichever that is. */
export type LogBounds = Readonly<Record<keyof BlockRange, bigint | null>>

/** @returns as `blocks` the hash of the only block, or the first and the last block */
export function readLogRequest(given: unknown, chain: Chain) {
  const fields = params.fields('filter', given, ['address', 'topics', 'fromBlock', 'toBlock', 'blockHash'])
  const { address, topics, fromBlock, toBlock, blockHash } = fields
  // A misspelt field would select more than was meant.
  const others = Object.keys(Object(given)).filter(name => !Object.hasOwn(fields, name))
  const more = params.fields('filter', given, others)
  const other = others.find(name => isGiven(more[name]))
  if (other !== undefined)
    throw invalidParams(`The filter has a field that is not supported here: ${printable(other.slice(0, 40))}.`)
  const filter = readSelection(address, topics)
  if (blockHash !== undefined) {
    if (fromBlock !== undefined || toBlock !== undefined)
      throw invalidParams('blockHash excludes fromBlock and toBlock.')
    return { filter, blocks: params.bytes('blockHash', blockHash, 32) }
  }
  const [first, last] = [numberAt(fromBlock, chain), numberAt(toBlock, chain)]
  if (first !== null && last !== null && first > last) throw afterEnd(first, last)
  return { filter, blocks: { first, last } }
}

const afterEnd = (first: bigint, last: bigint) => invalidParams(`fromBlock ${first} is after toBlock ${last}.`)

/** The blocks of a request that are there: those to come have no logs yet. @throws ProviderError `PARAMS_INVALID` */
export function rangeIn({ first, last }: LogBounds, newest: bigint): BlockRange {
  if (first === null && last !== null && last < newest) throw afterEnd(newest, last)
  return { first: first ?? newest, last: last === null || last > newest ? newest : last }
}

function numberAt(block: unknown, { isForWallet }: Chain): bigint | null {
  const named = block === 'earliest' ? 0n : readBlock(block, isForWallet)
  return named === 'latest' ? null : named
}

/** The addresses, and the topics by place: of each, any will do. None: anything. */
export function readSelection(address: unknown, topics: unknown) {
  const choice = (length: number) => (place: string, value: unknown) =>
    params.list(place, [value ?? []].flat(), MAX_CHOICES, (at, item) => params.bytes(at, item, length))
  return {
    address: choice(20)('address', address),
    topics: params.list('topics', topics ?? [], MAX_TOPICS, choice(32)),
  }
}
