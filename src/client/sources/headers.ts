import type { Hex } from '../../base/bytes.ts'
import { atPath } from '../../base/errors.ts'
import { encodeQuantity } from '../../base/hex.ts'
import { encodeHeader } from '../../verify/anchor/header.ts'
import { type BlockClaim, type BlockHeader, openHeader } from '../../verify/blocks/header.ts'
import { safely } from '../../verify/verifier/safe.ts'
import { withEmptyLists } from '../transport/admission.ts'
import { EndpointError } from '../transport/error.ts'
import { HEADERS_AT_ONCE } from '../transport/limits.ts'
import type { OpenProvider } from '../transport/provider.ts'
import { inAdvance } from '../transport/waiting.ts'
import type { Endpoints, Work } from './endpoints.ts'

export interface BlockSource {
  readonly l2: Pick<Endpoints, 'run'>
  readonly signal?: AbortSignal | undefined
}

export interface FetchedHeader {
  readonly header: BlockHeader
  /** What was hashed, some 600 bytes: `verifyBlockHeader` takes it. */
  readonly rlp: Hex
}

/** One header, and the block as an endpoint sent it, which `createBundle` takes. */
export const fetchHeader = ({ l2, signal }: BlockSource, claim: BlockClaim) =>
  l2.run(async (provider, attempt) => {
    const block = await askBlock(provider, claim.number, false, attempt.signal)
    return { ...openBlock(block, claim), block }
  }, signal)

export const openBlock = (block: unknown, claim: BlockClaim): FetchedHeader => {
  const rlp = encodeSent(block)
  return { header: atPath('header', () => openHeader(rlp, claim)), rlp }
}

/** Nothing of it is proven. */
const encodeSent = (block: unknown): Hex => atPath('header', () => encodeHeader(block))

export const askBlock = (provider: OpenProvider, number: bigint, isFull: boolean, signal: AbortSignal) =>
  askForBlock(provider, 'eth_getBlockByNumber', [encodeQuantity(number), isFull], signal)

/** @throws EndpointError `BLOCK_MISSING` if the endpoint does not have it */
export async function askForBlock(
  provider: OpenProvider,
  method: string,
  params: readonly [string, ...unknown[]],
  signal: AbortSignal,
): Promise<unknown> {
  const answer = await provider.call(method, params, signal)
  if (answer === null || answer === undefined) {
    throw new EndpointError('BLOCK_MISSING', { found: `no block ${BigInt(params[0])}`, layer: 'L2' })
  }
  return withEmptyLists(answer)
}

/** Headers as they arrived. Whoever takes one proves it. */
interface ArrivedHeaders {
  get(number: bigint): Hex | undefined
  set(number: bigint, rlp: Hex): void
  delete(number: bigint): void
  run<T>(number: bigint, signal: AbortSignal, fetch: (signal: AbortSignal) => Promise<T>): Promise<T>
}
const UNSHARED: ArrivedHeaders = { get() {}, set() {}, delete() {}, run: (_, signal, fetch) => fetch(signal) }

/**
 * The headers from a block whose hash is trusted down to an earlier one, newest first. They are asked for by number, many at once.
 * None is handed on before the one after it has named its hash. An endpoint that sends another header is left for the next one.
 */
export async function* walkHeaders(source: BlockSource, claim: BlockClaim, oldest: bigint, arrived = UNSHARED) {
  const { l2, signal } = source
  let next = claim
  const ask = async (number: bigint, own: AbortSignal): Promise<Hex> =>
    arrived.get(number) ??
    arrived.run(number, own, async signal => {
      const work: Work<OpenProvider, Hex> = async (provider, attempt) =>
        encodeSent(await askBlock(provider, number, false, attempt.signal))
      const rlp = await l2.run(work, signal)
      arrived.set(number, rlp)
      return rlp
    })
  while (next.number >= oldest) {
    const { number: first } = next
    const begin = (index: number, own: AbortSignal) => ask(first - BigInt(index), own)
    for await (const rlp of inAdvance(Number(first - oldest) + 1, HEADERS_AT_ONCE, begin, signal)) {
      const opened = safely(() => openHeader(rlp, next))
      if (!opened.ok) break
      yield { header: opened.value, rlp }
      next = { hash: opened.value.parentHash, number: next.number - 1n }
    }
    if (next.number < oldest) return
    // Whoever sent this one may have sent the ones before it, too.
    for (let ahead = 0n; ahead < HEADERS_AT_ONCE; ahead++) arrived.delete(next.number - ahead)
    const { header, rlp } = await fetchHeader(source, next)
    arrived.set(header.number, rlp)
    yield { header, rlp }
    next = { hash: header.parentHash, number: header.number - 1n }
  }
}
