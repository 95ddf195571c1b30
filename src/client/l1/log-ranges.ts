import { plural } from '../../base/errors.ts'
import { decodeQuantity, encodeQuantity, lowerCase } from '../../base/hex.ts'
import { readOwn } from '../../base/json/known-fields.ts'
import { decodeFilter, type LogFilter, selectedBy } from '../../verify/blocks/receipts.ts'
import { EndpointError, isEndpointError, isOfBlock } from '../transport/error.ts'
import {
  BLOCKS_PER_REQUEST,
  BLOCKS_WITH_RECEIPTS,
  LOGS_AT_ONCE,
  MAX_SEARCH_REQUESTS,
  REMEMBERED_MS,
} from '../transport/limits.ts'
import { type AnyProvider, callProvider } from '../transport/provider.ts'
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

/** How many blocks each endpoint allows per request, once it has refused more, and until when that is remembered. */
const ALLOWED = new WeakMap<object, { readonly blocks: bigint; readonly until: number }>()

/** How many blocks per request of logs the endpoint allows, as far as it has been asked; 0 if it serves no logs. */
export function allowedBlocks(provider: AnyProvider): bigint {
  const known = ALLOWED.get(provider)
  return known === undefined || known.until < Date.now() ? BLOCKS_PER_REQUEST : known.blocks
}

const allow = (provider: AnyProvider, blocks: bigint) =>
  void ALLOWED.set(provider, { blocks, until: Date.now() + REMEMBERED_MS })

/**
 * The logs of a range of blocks, in pieces that the endpoint allows: it is asked for half as many until it does not refuse. Where
 * it refuses because there are too many logs, only that piece is cut.
 *
 * @throws EndpointError the last refusal, if it refuses a single block; `PARAMS_REFUSED` if it would take too many requests
 */
export async function* askLogs(
  provider: AnyProvider,
  filter: LogFilter,
  range: BlockRange,
  { signal, isBackwards = false, withReceipts = false }: LogOptions,
): AsyncGenerator<BlockRange & { readonly logs: unknown }, void> {
  let { first, last } = range
  let cut: bigint | null = null
  let refusals = 0
  for (let requests = 0; first <= last; requests++) {
    const allowed = allowedBlocks(provider)
    const isByReceipts = allowed === 0n && withReceipts
    const most: bigint = isByReceipts ? BLOCKS_WITH_RECEIPTS : (cut ?? (allowed > 0n ? allowed : 1n))
    const blocks = most < last - first + 1n ? most : last - first + 1n
    // Whoever allows as many as most do may be asked for any range.
    if (requests >= MAX_SEARCH_REQUESTS && allowed < BLOCKS_PER_REQUEST) throw tooMany(allowed, last - first + 1n)
    const piece = isBackwards ? { first: last - blocks + 1n, last } : { first, last: first + blocks - 1n }
    const logs = await (isByReceipts ? logsInReceipts : logsIn)(provider, filter, piece, signal).catch(orRefusal)
    if (isEndpointError(logs)) {
      // Whoever refuses each piece once more would be asked for as long as the chain is.
      if (++refusals > MAX_SEARCH_REQUESTS) throw logs
      if (isByReceipts || (!withReceipts && (blocks === 1n || logs.code === 'METHOD_UNKNOWN'))) throw logs
      const next = logs.code === 'METHOD_UNKNOWN' ? 0n : blocks / 2n
      const isRangeToBlame = next === 0n || saysRange(logs)
      if (isRangeToBlame) allow(provider, next)
      cut = isRangeToBlame ? null : next
      continue
    }
    yield { ...piece, logs }
    cut = null
    if (isBackwards) last = piece.first - 1n
    else first = piece.last + 1n
  }
}

const tooMany = (allowed: bigint, left: bigint): EndpointError =>
  new EndpointError('PARAMS_REFUSED', {
    found: `it allows ${plural(allowed, 'block')} per request of logs, and ${left} are left after ${MAX_SEARCH_REQUESTS} requests`,
  })

/** For `catch`: the refusal as a value, if fewer blocks may mend it. */
function orRefusal(error: unknown): EndpointError {
  if (!isEndpointError(error)) throw error
  const { code, said, status } = error
  const isTooMuch =
    ['PARAMS_REFUSED', 'RESPONSE_TOO_LARGE'].includes(code) || (code === 'TIMEOUT' && said !== undefined)
  // Words that nobody knows may mean the range.
  if (isTooMuch || (isOfBlock(error) && code !== 'BLOCK_MISSING' && (said !== undefined || status))) return error
  if (code === 'METHOD_UNKNOWN') return error
  throw error
}

/** Whether there are too many blocks, not too many logs, which another range need not have. */
const saysRange = ({ said = '' }: EndpointError): boolean => /range|blocks/i.test(said)

const logsIn = (provider: AnyProvider, filter: LogFilter, { first, last }: BlockRange, signal?: AbortSignal) =>
  callProvider(
    provider,
    'eth_getLogs',
    [{ ...filter, fromBlock: encodeQuantity(first), toBlock: encodeQuantity(last) }],
    signal,
  )

/** The logs of these blocks, selected here. Whatever else the receipts say, somebody verifies the logs. */
async function logsInReceipts(
  provider: AnyProvider,
  filter: LogFilter,
  { first, last }: BlockRange,
  signal?: AbortSignal,
): Promise<unknown> {
  const ask = async (index: number, own: AbortSignal): Promise<unknown[]> => {
    const number = first + BigInt(index)
    const receipts = await callProvider(provider, 'eth_getBlockReceipts', [encodeQuantity(number)], own)
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
 * for whoever reads it.
 */
export function inOrder(logs: readonly unknown[]): unknown[] {
  const placed = logs.map((log, at) => {
    const [block, index, data, topics] = PLACED.map(name => readOwn(Object(log), name))
    const place = [block, index].map(number => decodeQuantity(number, 64) ?? -1n)
    const texts: unknown[] = [data, ...(Array.isArray(topics) ? topics : [null])]
    const isNamed = !place.includes(-1n) && texts.every(text => typeof text === 'string')
    return { log, place, name: isNamed ? `${place} ${texts}` : at }
  })
  const once = [...new Map(placed.map(one => [one.name, one])).values()]
  const compare = (a: bigint = 0n, b: bigint = 0n) => Number(a - b)
  return once.sort(({ place: [a, i] }, { place: [b, j] }) => compare(a, b) || compare(i, j)).map(({ log }) => log)
}
const PLACED = ['blockNumber', 'logIndex', 'data', 'topics']
