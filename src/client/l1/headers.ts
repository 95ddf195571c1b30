import { bytesToHex, type Hex, hexLength, hexToBytes } from '../../base/bytes.ts'
import { atPath } from '../../base/errors.ts'
import { encodeQuantity } from '../../base/hex.ts'
import { encodeHeader } from '../../verify/anchor/header.ts'
import { type BlockClaim, type BlockHeader, openHeader } from '../../verify/blocks/header.ts'
import { keccak256 } from '../../verify/hash/keccak/index.ts'
import type { Endpoints } from '../sources/endpoints.ts'
import { withEmptyLists } from '../transport/empty-lists.ts'
import { EndpointError } from '../transport/error.ts'
import { type AnyProvider, callProvider } from '../transport/provider.ts'

/** They stand apart from blocks, whose transactions take the curve of signatures. */

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
export const fetchHeader = (
  { l2, signal }: BlockSource,
  claim: BlockClaim,
): Promise<FetchedHeader & { block: unknown }> =>
  l2.run(async (provider, attempt) => {
    const block = await askBlock(provider, claim.number, false, attempt.signal)
    return { ...openBlock(block, claim), block }
  }, signal)

/** The hash of the RLP of a header, which an endpoint may have made up. */
export const hashHeader = (rlp: Hex): Hex => bytesToHex(keccak256(hexToBytes(rlp, hexLength(rlp))))

export const openBlock = (block: unknown, claim: BlockClaim): FetchedHeader =>
  atPath('header', () => {
    const rlp = encodeHeader(block)
    return { header: openHeader(rlp, claim), rlp }
  })

/** Nothing of it is proven. */
export const encodeSent = (block: unknown): Hex => atPath('header', () => encodeHeader(block))

export const askBlock = (provider: AnyProvider, number: bigint, isFull: boolean, signal: AbortSignal) =>
  askForBlock(provider, 'eth_getBlockByNumber', [encodeQuantity(number), isFull], signal)

/** @throws EndpointError `BLOCK_MISSING` if the endpoint does not have it */
export async function askForBlock(
  provider: AnyProvider,
  method: string,
  params: readonly [string, ...unknown[]],
  signal: AbortSignal,
): Promise<unknown> {
  const answer = await callProvider(provider, method, params, signal)
  if (answer === null || answer === undefined) {
    throw new EndpointError('BLOCK_MISSING', { found: `no block ${BigInt(params[0])}`, layer: 'L2' })
  }
  return withEmptyLists(answer)
}
