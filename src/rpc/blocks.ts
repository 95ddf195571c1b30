import {
  type BlockLog,
  type OpenedBlockTransaction,
  openBlockLogs,
  openBlockTransactions,
  type PlacedLog,
  withTransactions,
} from '../blocks/block.ts'
import type { BlockClaim, BlockHeader } from '../blocks/header.ts'
import { atPath } from '../errors.ts'
import { encodeQuantity } from '../hex.ts'
import { readOwn } from '../json/known-fields.ts'
import type { Attempt } from './endpoints.ts'
import { askBlock, askForBlock, type BlockSource, type FetchedHeader, openBlock } from './headers.ts'
import { HEADERS_A_PIECE, HEADERS_AT_ONCE } from './limits.ts'
import type { AnyProvider } from './provider.ts'
import { inAdvance } from './waiting.ts'

/** Blocks from endpoints. Each function returns what is proven from a trusted hash, from the first endpoint that can prove it. */

/** A proven header, with the transactions that it commits to. */
export interface FetchedBlock extends FetchedHeader {
  /** Each is opened when it is needed: recovering a sender takes about a millisecond. */
  readonly transactions: readonly OpenedBlockTransaction[]
  /** As the endpoint sent them: `verifyTransactions` takes them. */
  readonly sentTransactions: unknown
  /** As the endpoint sent them, if they were asked for: for `openBlockReceipts`. */
  readonly sentReceipts: unknown
}

/**
 * The headers from a block down to an earlier one, newest first, in pieces: each is the parent of the one before. An endpoint
 * that sends another header is left for the next one, and what is proven until then stays.
 *
 * @param claim the newest one, whose hash is trusted
 */
export async function* walkHeaders(
  source: BlockSource,
  claim: BlockClaim,
  oldest: bigint,
): AsyncGenerator<FetchedHeader[], void> {
  for (let next = claim; next.number >= oldest; ) {
    const count = next.number - oldest + 1n
    const piece = await fetchPiece(source, next, count < HEADERS_A_PIECE ? Number(count) : HEADERS_A_PIECE)
    yield piece
    next = parentOf(piece.at(-1), next)
  }
}

export const parentOf = (one: FetchedHeader | undefined, first: BlockClaim): BlockClaim =>
  one === undefined ? first : { hash: one.header.parentHash, number: one.header.number - 1n }

function fetchPiece({ l2, signal }: BlockSource, first: BlockClaim, count: number): Promise<FetchedHeader[]> {
  // Of all endpoints together: whoever proves the next one, it is the same.
  const proven: FetchedHeader[] = []
  return l2.run(async (provider, attempt) => {
    let index = proven.length
    const newest = first.number - BigInt(index)
    const ask = (below: number, own: AbortSignal) => askBlock(provider, newest - BigInt(below), false, own)
    for await (const block of inAdvance(count - index, HEADERS_AT_ONCE, ask, attempt.signal)) {
      attempt.heard()
      proven[index] ??= openBlock(block, parentOf(proven[index - 1], first))
      index++
    }
    return proven
  }, signal)
}

/**
 * A block with its transactions, and what `use` makes of it, from the first endpoint for which it does not throw.
 *
 * @param withReceipts whether to ask for the receipts, too
 * @param use has to verify the receipts
 */
export const fetchBlock = <T>(
  { l2, signal }: BlockSource,
  claim: BlockClaim,
  withReceipts: boolean,
  use: (block: FetchedBlock, attempt: Attempt) => T | Promise<T>,
): Promise<T> =>
  l2.run(async (provider, attempt) => {
    const [block, sentReceipts] = await Promise.all([
      askBlock(provider, claim.number, true, attempt.signal),
      withReceipts ? askReceipts(provider, claim.number, attempt.signal) : undefined,
    ])
    attempt.heard()
    const opened = openBlock(block, claim)
    const sentTransactions = readOwn(Object(block), 'transactions')
    const transactions = atPath('transactions', () => openBlockTransactions(sentTransactions, opened.header))
    return use({ ...opened, transactions, sentTransactions, sentReceipts }, attempt)
  }, signal)

/**
 * What `use` makes of the logs of a block that are selected, from the first endpoint for which it does not throw. The hashes of
 * their transactions, which no receipt proves, are unknown.
 */
export const fetchPlacedLogs = <T>(
  { l2, signal }: BlockSource,
  header: BlockHeader,
  isSelected: (log: PlacedLog) => boolean,
  use: (logs: PlacedLog[], provider: AnyProvider) => T,
): Promise<T> =>
  l2.run(async (provider, attempt) => {
    const receipts = await askReceipts(provider, header.number, attempt.signal)
    return use(openBlockLogs(receipts, header).flat().filter(isSelected), provider)
  }, signal)

/**
 * The logs of a block that are selected. The transactions are only asked for if there is one. A header whose filter `bloomTest`
 * refuses needs no request at all.
 */
export async function fetchLogs(
  source: BlockSource,
  header: BlockHeader,
  isSelected: (log: PlacedLog) => boolean,
): Promise<BlockLog[]> {
  const logs = await fetchPlacedLogs(source, header, isSelected, selected => selected)
  if (logs.length === 0) return []
  return fetchBlock(source, header, false, ({ transactions }) => withTransactions(logs, transactions))
}

const askReceipts = (provider: AnyProvider, number: bigint, signal: AbortSignal) =>
  askForBlock(provider, 'eth_getBlockReceipts', [encodeQuantity(number)], signal)
