import { plural } from '../../base/errors.ts'
import { decodeQuantity, encodeQuantity, lowerCase } from '../../base/hex.ts'
import { readOwn } from '../../base/json/known-fields.ts'
import { slotKey } from '../../verify/anchor/contract.ts'
import { decodeFinalizedStateLog, finalizedStateTopics } from '../../verify/anchor/finalized-state.ts'
import type { readRollup } from '../../verify/anchor/rollup.ts'
import { decodeFilter, type LogFilter, selectedBy } from '../../verify/blocks/filter.ts'
import { EndpointError, isEndpointError, isGone, isOfBlock, orFailure } from '../transport/error.ts'
import {
  BLOCKS_PER_REQUEST,
  LOGS_AT_ONCE,
  MAX_LOG_REQUESTS,
  MAX_LOGS,
  MAX_SEARCH_REQUESTS,
} from '../transport/limits.ts'
import type { OpenProvider } from '../transport/provider.ts'
import { inAdvance } from '../transport/waiting.ts'

export interface BlockRange {
  readonly first: bigint
  readonly last: bigint
}

interface LogOptions {
  readonly signal: AbortSignal | undefined
  /** From the newest back. Default: from the oldest on. */
  readonly isBackwards?: boolean
  /** Takes the logs from receipts if the endpoint serves them in no other way. Default: it fails. */
  readonly withReceipts?: boolean
}

/** Blocks whose receipts are read as one piece where an endpoint serves no logs. */
const BLOCKS_WITH_RECEIPTS = 16n
/** Milliseconds for which it is remembered how many blocks an endpoint allows. */
const REMEMBERED_MS = 600_000
/** How many blocks each endpoint allows per request, once it has refused more, and until when that is remembered. */
const ALLOWED = new WeakMap<object, { readonly blocks: bigint; readonly until: number }>()

/** How many blocks per request of logs the endpoint allows, as far as it has been asked; 0 if it serves no logs. */
export function allowedBlocks(provider: OpenProvider): bigint {
  const known = ALLOWED.get(provider)
  return known === undefined || known.until < Date.now() ? BLOCKS_PER_REQUEST : known.blocks
}

/** The oldest block that so many requests for logs reach, from this block back. */
export function oldestWithin(requests: number, last: bigint): bigint {
  const oldest = last - BigInt(requests) * BLOCKS_PER_REQUEST + 1n
  return oldest > 0n ? oldest : 0n
}

/**
 * The logs of a range of blocks, in pieces that the endpoint allows: it is asked for half as many until it does not refuse. Where
 * it refuses because there are too many logs, only that piece is cut.
 *
 * @throws EndpointError the last refusal, if it refuses a single block; `PARAMS_REFUSED` if it would take too many requests
 */
export async function* askLogs(provider: OpenProvider, filter: LogFilter, range: BlockRange, options: LogOptions) {
  const { signal, isBackwards = false, withReceipts = false } = options
  let { first, last } = range
  let cut: bigint | null = null
  let refusals = 0
  for (let requests = 0; first <= last; requests++) {
    const allowed = allowedBlocks(provider)
    const isByReceipts = allowed === 0n && withReceipts
    const most: bigint = isByReceipts ? BLOCKS_WITH_RECEIPTS : (cut ?? (allowed > 0n ? allowed : 1n))
    const blocks = most < last - first + 1n ? most : last - first + 1n
    // Whoever allows as many as most do may be asked for any range.
    if (requests >= MAX_SEARCH_REQUESTS && allowed < BLOCKS_PER_REQUEST) {
      const left = `${last - first + 1n} are left after ${MAX_SEARCH_REQUESTS} requests`
      const found = `it allows ${plural(allowed, 'block')} per request of logs, and ${left}`
      throw new EndpointError('PARAMS_REFUSED', { found })
    }
    const piece = isBackwards ? { first: last - blocks + 1n, last } : { first, last: first + blocks - 1n }
    const logs = await (isByReceipts ? logsInReceipts : logsIn)(provider, filter, piece, signal).catch(orRefusal)
    if (isEndpointError(logs)) {
      // Whoever refuses each piece once more would be asked for as long as the chain is.
      if (++refusals > MAX_SEARCH_REQUESTS) throw logs
      if (isByReceipts || (!withReceipts && (blocks === 1n || logs.code === 'METHOD_UNKNOWN'))) throw logs
      const next = logs.code === 'METHOD_UNKNOWN' ? 0n : blocks / 2n
      // Otherwise, there are too many logs, which another range need not have.
      const isRangeToBlame = next === 0n || /range|blocks/i.test(logs.said ?? '')
      if (isRangeToBlame) ALLOWED.set(provider, { blocks: next, until: Date.now() + REMEMBERED_MS })
      cut = isRangeToBlame ? null : next
      continue
    }
    yield { ...piece, logs }
    cut = null
    if (isBackwards) last = piece.first - 1n
    else first = piece.last + 1n
  }
}

/** For `catch`: the refusal as a value, if fewer blocks or receipts may mend it. */
function orRefusal(error: unknown): EndpointError {
  if (!isEndpointError(error)) throw error
  const { code, said, status } = error
  if (['METHOD_UNKNOWN', 'PARAMS_REFUSED', 'RESPONSE_TOO_LARGE'].includes(code)) return error
  if (code === 'TIMEOUT' && said !== undefined) return error
  // Words that nobody knows may mean the range.
  if (isOfBlock(error) && code !== 'BLOCK_MISSING' && (said !== undefined || status)) return error
  throw error
}

const logsIn = (provider: OpenProvider, filter: LogFilter, { first, last }: BlockRange, signal?: AbortSignal) => {
  const range = { fromBlock: encodeQuantity(first), toBlock: encodeQuantity(last) }
  return provider.call('eth_getLogs', [{ ...filter, ...range }], signal)
}

/** The logs of these blocks, selected here. Whatever else the receipts say, somebody verifies the logs. */
const logsInReceipts: typeof logsIn = async (provider, filter, { first, last }, signal) => {
  const ask = async (index: number, own: AbortSignal): Promise<unknown[]> => {
    const number = first + BigInt(index)
    const receipts = await provider.call('eth_getBlockReceipts', [encodeQuantity(number)], own)
    if (!Array.isArray(receipts)) throw new EndpointError('BLOCK_MISSING', { found: `no receipts of block ${number}` })
    return receipts.flatMap(receipt => readOwn(Object(receipt), 'logs') ?? [])
  }
  const isSelected = selectedBy(decodeFilter(filter))
  const isSought = (log: unknown) => {
    const [address, topics] = ['address', 'topics'].map(name => readOwn(Object(log), name))
    return typeof address === 'string' && Array.isArray(topics) && isSelected({ address: lowerCase(address), topics })
  }
  const found: unknown[] = []
  for await (const logs of inAdvance(Number(last - first) + 1, LOGS_AT_ONCE, ask, signal)) {
    for (const log of logs) if (isSought(log)) found.push(log)
  }
  return found
}

/**
 * Logs in the order of their places, each once: some servers send the newest first, or one of them twice. What has no place stays
 * for whoever reads it, without the number of its block.
 */
export function inOrder(logs: readonly unknown[]) {
  const placed = logs.map((log, at) => {
    const read = (name: string) => readOwn(Object(log), name)
    const [data, topics] = [read('data'), read('topics')]
    const [block, index] = [decodeQuantity(read('blockNumber'), 64), decodeQuantity(read('logIndex'), 64)]
    const texts: unknown[] = [data, ...(Array.isArray(topics) ? topics : [null])]
    const isNamed = block !== null && index !== null && texts.every(text => typeof text === 'string')
    return { log, block, index, name: isNamed ? `${block} ${index} ${texts}` : at }
  })
  const once = [...new Map(placed.map(one => [one.name, one])).values()]
  const compare = (a: bigint | null, b: bigint | null) => Number((a ?? -1n) - (b ?? -1n))
  return once.sort((a, b) => compare(a.block, b.block) || compare(a.index, b.index))
}

export interface Contract {
  readonly rollup: ReturnType<typeof readRollup>
  readonly signal: AbortSignal | undefined
}

/**
 * A hint, which `verifyAnchor` proves; null if the endpoint serves no logs, or none of this finalization.
 *
 * @throws EndpointError `ABORTED` and nothing else
 */
export async function readFinalizedState(
  provider: OpenProvider,
  contract: Contract,
  at: bigint,
  l2BlockNumber: bigint,
) {
  const range = { first: oldestWithin(MAX_LOG_REQUESTS, at), last: at }
  try {
    for await (const { logs } of walkLogs(provider, contract, range, l2BlockNumber)) {
      // If there are several, the newest counts.
      const log = logs.find(log => log.l2BlockNumber === l2BlockNumber)
      if (log) return log.finalizedState
    }
  } catch (error) {
    orFailure(error)
  }
  return null
}

/**
 * The contract's logs of finalizations, newest first, one list per request, from `first` on. They are hints.
 *
 * @param l2BlockNumber the end of the only one that is sought. Default: all
 * @throws EndpointError `L1_HISTORY_MISSING` if the endpoint says that it has older ones no more
 */
export async function* walkLogs(provider: OpenProvider, contract: Contract, range: BlockRange, l2BlockNumber?: bigint) {
  const { rollup, signal } = contract
  const ends = l2BlockNumber === undefined ? [] : [slotKey(l2BlockNumber)]
  const filter = { address: rollup.address, topics: [finalizedStateTopics, ...ends] }
  try {
    for await (const { first, logs } of askLogs(provider, filter, range, { signal, isBackwards: true })) {
      if (!Array.isArray(logs) || logs.length > MAX_LOGS) {
        throw new EndpointError('ANSWER_MALFORMED', { found: 'no logs', layer: 'L1' })
      }
      const decoded = inOrder(logs).map(({ log }) => decodeFinalizedStateLog(log))
      yield { first, logs: decoded.filter(log => log !== undefined).reverse() }
    }
  } catch (error) {
    // A public endpoint asks for a key when it is asked for old blocks, and for nothing else.
    if (!isEndpointError(error) || !(isGone(error) || /archive/i.test(error.said ?? ''))) throw error
    throw new EndpointError('L1_HISTORY_MISSING', { ...error, layer: 'L1', cause: error })
  }
}
