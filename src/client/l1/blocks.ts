import type { Hex } from '../../base/bytes.ts'
import { atPath, isProofError } from '../../base/errors.ts'
import { encodeQuantity } from '../../base/hex.ts'
import { readOwn } from '../../base/json/known-fields.ts'
import { type OpenedBlockTransaction, openBlockTransactions } from '../../verify/blocks/block.ts'
import { type BlockClaim, openHeader } from '../../verify/blocks/header.ts'
import type { Attempt, Work } from '../sources/pool.ts'
import { HEADERS_AT_ONCE } from '../transport/limits.ts'
import type { AnyProvider } from '../transport/provider.ts'
import { inAdvance } from '../transport/waiting.ts'
import {
  askBlock,
  askForBlock,
  type BlockSource,
  encodeSent,
  type FetchedHeader,
  fetchHeader,
  openBlock,
} from './headers.ts'

/** Blocks from endpoints. Each function returns what is proven from a trusted hash, from the first endpoint that can prove it. */

export interface FetchedBlock extends FetchedHeader {
  /** Each is opened when it is needed: recovering a sender takes about a millisecond. */
  readonly transactions: readonly OpenedBlockTransaction[]
  /** As the endpoint sent them: `verifyTransactions` takes them. */
  readonly sentTransactions: unknown
  /** As the endpoint sent them, if they were asked for: for `openBlockReceipts`. */
  readonly sentReceipts: unknown
}

/** Headers as they arrived: whoever takes one proves it. */
export interface ArrivedHeaders {
  get(number: bigint): Hex | undefined
  set(number: bigint, rlp: Hex): void
  delete(number: bigint): void
  run<T>(number: bigint, signal: AbortSignal, fetch: (signal: AbortSignal) => Promise<T>): Promise<T>
}

/**
 * The headers from a block whose hash is trusted down to an earlier one, newest first. They are asked for by number, many at once.
 * None is handed on before the one after it has named its hash. An endpoint that sends another header is left for the next one.
 */
export async function* walkHeaders(
  source: BlockSource,
  claim: BlockClaim,
  oldest: bigint,
  arrived?: ArrivedHeaders,
): AsyncGenerator<FetchedHeader, void> {
  const { l2, signal } = source
  let next = claim
  const ask = async (number: bigint, own: AbortSignal): Promise<Hex> => {
    const known = arrived?.get(number)
    if (known !== undefined) return known
    const fetch = async (signal: AbortSignal) => {
      const work: Work<AnyProvider, Hex> = async (provider, attempt) =>
        encodeSent(await askBlock(provider, number, false, attempt.signal))
      const rlp = await l2.run(work, signal)
      arrived?.set(number, rlp)
      return rlp
    }
    return arrived === undefined ? fetch(own) : arrived.run(number, own, fetch)
  }
  while (next.number >= oldest) {
    const { number: first } = next
    const begin = (index: number, own: AbortSignal) => ask(first - BigInt(index), own)
    for await (const rlp of inAdvance(Number(first - oldest) + 1, HEADERS_AT_ONCE, begin, signal)) {
      const opened = openOr(rlp, next)
      if (opened === null) break
      yield opened
      next = { hash: opened.header.parentHash, number: next.number - 1n }
    }
    if (next.number < oldest) return
    // Whoever sent this one may have sent the ones before it, too.
    for (let ahead = 0n; ahead < HEADERS_AT_ONCE; ahead++) arrived?.delete(next.number - ahead)
    const { header, rlp } = await fetchHeader(source, next)
    arrived?.set(header.number, rlp)
    yield { header, rlp }
    next = { hash: header.parentHash, number: header.number - 1n }
  }
}

function openOr(rlp: Hex, claim: BlockClaim): FetchedHeader | null {
  try {
    return { header: openHeader(rlp, claim), rlp }
  } catch (error) {
    if (isProofError(error)) return null
    throw error
  }
}

/** A block with its transactions, and what `use` makes of it, from the first endpoint for which it does not throw. */
export const fetchBlock = <T>(
  { l2, signal }: BlockSource,
  claim: BlockClaim,
  withReceipts: boolean,
  use: (block: FetchedBlock, attempt: Attempt) => T | Promise<T>,
): Promise<T> =>
  l2.run(async (provider, attempt) => {
    const number = encodeQuantity(claim.number)
    const [block, sentReceipts] = await Promise.all([
      askBlock(provider, claim.number, true, attempt.signal),
      withReceipts ? askForBlock(provider, 'eth_getBlockReceipts', [number], attempt.signal) : undefined,
    ])
    attempt.heard()
    const opened = openBlock(block, claim)
    const sentTransactions = readOwn(Object(block), 'transactions')
    const transactions = atPath('transactions', () => openBlockTransactions(sentTransactions, opened.header))
    return use({ ...opened, transactions, sentTransactions, sentReceipts }, attempt)
  }, signal)
