import { plural } from '../../base/errors.ts'
import { decodeQuantity, encodeQuantity } from '../../base/hex.ts'
import { readOwn } from '../../base/json/known-fields.ts'
import type { LogFilter } from '../../verify/blocks/filter.ts'
import { EndpointError, isEndpointError, isOfBlock } from '../transport/error.ts'
import { BLOCKS_PER_REQUEST, MAX_SEARCH_REQUESTS, REMEMBERED_MS } from '../transport/limits.ts'
import { type AnyProvider, callProvider } from '../transport/provider.ts'

export interface BlockRange {
  readonly first: bigint
  readonly last: bigint
}

interface LogOptions {
  readonly signal: AbortSignal | undefined
  /** From the newest back. Default: from the oldest on. */
  readonly isBackwards?: boolean
}

/** How many blocks each endpoint allows per request, once it has refused more, and until when that is remembered. */
const ALLOWED = new WeakMap<object, { readonly blocks: bigint; readonly until: number }>()

/** How many blocks per request of logs the endpoint allows, as far as it has been asked. */
export function allowedBlocks(provider: AnyProvider): bigint {
  const known = ALLOWED.get(provider)
  return known === undefined || known.until < Date.now() ? BLOCKS_PER_REQUEST : known.blocks
}

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
  { signal, isBackwards = false }: LogOptions,
): AsyncGenerator<BlockRange & { readonly logs: unknown }, void> {
  let { first, last } = range
  let cut: bigint | null = null
  for (let requests = 0; first <= last; requests++) {
    const allowed = allowedBlocks(provider)
    const most: bigint = cut ?? allowed
    const blocks = most < last - first + 1n ? most : last - first + 1n
    // Whoever allows as many as most do may be asked for any range.
    if (requests >= MAX_SEARCH_REQUESTS && allowed < BLOCKS_PER_REQUEST) throw tooMany(allowed, last - first + 1n)
    const piece = isBackwards ? { first: last - blocks + 1n, last } : { first, last: first + blocks - 1n }
    const { first: fromBlock, last: toBlock } = piece
    const asked = [{ ...filter, fromBlock: encodeQuantity(fromBlock), toBlock: encodeQuantity(toBlock) }]
    const logs = await callProvider(provider, 'eth_getLogs', asked, signal).catch(orRefusal)
    if (isEndpointError(logs)) {
      if (blocks === 1n) throw logs
      const isRangeToBlame = saysRange(logs)
      if (isRangeToBlame) ALLOWED.set(provider, { blocks: blocks / 2n, until: Date.now() + REMEMBERED_MS })
      cut = isRangeToBlame ? null : blocks / 2n
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
  const { code, report, status } = error
  const isTooMuch = ['PARAMS_REFUSED', 'RESPONSE_TOO_LARGE'].includes(code) || (code === 'TIMEOUT' && report)
  // Words that nobody knows may mean the range.
  if (isTooMuch || (isOfBlock(error) && code !== 'BLOCK_MISSING' && (report || status))) return error
  throw error
}

/** Whether there are too many blocks, not too many logs, which another range need not have. */
const saysRange = ({ report }: EndpointError): boolean => /range|blocks/i.test(`${report?.message} ${report?.data}`)

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
