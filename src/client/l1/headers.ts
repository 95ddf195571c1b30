import type { Hex } from '../../base/bytes.ts'
import { atPath, refusal } from '../../base/errors.ts'
import { encodeQuantity } from '../../base/hex.ts'
import { encodeHeader } from '../../verify/anchor/header.ts'
import { type BlockClaim, type BlockHeader, openHeader } from '../../verify/blocks/header.ts'
import { ETHEREUM, type StateScheme, stateKind } from '../../verify/state/kind.ts'
import type { Endpoints } from '../sources/endpoints.ts'
import { withEmptyLists } from '../transport/admission.ts'
import { EndpointError } from '../transport/error.ts'
import { type AnyProvider, callProvider } from '../transport/provider.ts'
import type { Anchor } from './l1.ts'

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

/** The root of the state after an L2 block, and the kind of that state: L1 decides both. */
export interface OpenedAnchor {
  readonly scheme: StateScheme
  readonly stateRoot: Hex
  /** Undefined unless L1 holds the hash of the block. */
  readonly header: BlockHeader | undefined
  readonly block: unknown
}

/**
 * If L1 holds the hash of the block, its header comes from the first L2 endpoint that sends the one with that hash, whatever the
 * caller's scheme is: that one is about state roots.
 *
 * @throws ProofError `ANCHOR_NO_ROOT` if L1 holds a state root, and the caller's kind takes the hash; EndpointError
 */
export async function openAnchor(
  source: BlockSource,
  { l2BlockNumber: number, stateRoot, blockHash }: Anchor,
  stated: StateScheme,
): Promise<OpenedAnchor> {
  if (blockHash !== undefined) {
    const { header, block } = await fetchHeader(source, { hash: blockHash, number })
    return { scheme: ETHEREUM, stateRoot: header.stateRoot, header, block }
  }
  const { name, scheme, held } = stateKind(stated)
  if (held === 'stateRoot') return { scheme, stateRoot, header: undefined, block: undefined }
  throw refusal('ANCHOR_NO_ROOT', `the hash of L2 block ${number}, because the scheme is '${name}'`, 'its state root')
}
