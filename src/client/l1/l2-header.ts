import type { Hex } from '../../base/bytes.ts'
import { refusal } from '../../base/errors.ts'
import type { BlockHeader } from '../../verify/blocks/header.ts'
import { stateKind } from '../../verify/state/kind.ts'
import { ETHEREUM, type StateScheme } from '../../verify/state/types.ts'
import { type BlockSource, fetchHeader } from './headers.ts'
import type { Anchor } from './l1.ts'

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
  schemeAt: (l2BlockNumber: bigint) => StateScheme,
): Promise<OpenedAnchor> {
  if (blockHash !== undefined) {
    const { header, block } = await fetchHeader(source, { hash: blockHash, number })
    return { scheme: ETHEREUM, stateRoot: header.stateRoot, header, block }
  }
  const { name, scheme, held } = stateKind(schemeAt(number))
  if (held === 'stateRoot') return { scheme, stateRoot, header: undefined, block: undefined }
  throw refusal('ANCHOR_NO_ROOT', `the hash of L2 block ${number}, because the scheme is '${name}'`, 'its state root')
}
