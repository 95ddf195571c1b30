import type { Hex } from '../../base/bytes.ts'
import type { L1Block } from '../../verify/anchor/header.ts'
import { lineaLayout } from '../../verify/anchor/rollup.ts'
import type { BlockHeader } from '../../verify/blocks/header.ts'
import { createBundle, type EvidenceBundle, type VerifiedEvidence } from '../../verify/evidence/kinds/state.ts'
import { verifyEvidence } from '../../verify/evidence/verify.ts'
import type { StateScheme } from '../../verify/state/kind.ts'
import type { Hint } from '../l1/finalizations.ts'
import { openAnchor } from '../l1/headers.ts'
import { fetchAnchor, fetchHinted, unless } from '../l1/l1.ts'
import { fetchState } from '../sources/fetch.ts'
import type { Settings } from './follow-options.ts'
import type { FollowProgress } from './follow-state.ts'

/** One finalization, proven. */
export interface FollowedFinalization {
  /** The last L2 block of the finalization. */
  l2BlockNumber: bigint
  /** Root of its state, 32 bytes: of a tree with a hash scheme, or of an Ethereum state if there is a `blockHash`. */
  stateRoot: Hex
  /** Hash of the block, 32 bytes, if that is what L1 holds. The state is then that of Ethereum. */
  blockHash: Hex | undefined
  /** The block with this hash. */
  l2Block: BlockHeader | undefined
  /**
   * Time of that block, in seconds since 1970, which its header proves. If L1 holds its state root, undefined unless L1 proves it: it
   * was no longer the newest one, or no L1 endpoint serves the log.
   */
  finalizedTimestamp: bigint | undefined
  /** The last finalized L2 block at the L1 block. */
  currentL2BlockNumber: bigint
  /** The L1 block from which it is proven. */
  l1Block: L1Block
  /** The code of the contract, 20 bytes, lower case; zero if the contract is no proxy (EIP-1967). */
  implementation: Hex
  /** What is proven for each request, in order. */
  verified: VerifiedEvidence<
    {
      /** Hash of `l1Block`. */
      l1BlockHash: Hex
    },
    bigint,
    readonly Hex[],
    StateScheme
  >[]
  /** One bundle per request, in order: anyone can verify the same values with it. */
  bundles: EvidenceBundle<StateScheme>[]
  /** Save it once you have acted on the item. Pass it to a later call to continue with the next item. */
  progress: FollowProgress
}

/** One finalization, before it is handed out. */
export type Proven = Omit<FollowedFinalization, 'progress'>

/** An L1 block from which everything is proven. */
export interface View {
  readonly block: unknown
  readonly l1Block: L1Block
  /** The last finalized L2 block, proven. */
  readonly newest: bigint
}

/** What is proven of a finalization, and of the accounts that are asked for. Null if the contract has nothing of it, which is proven too. */
export async function prove(settings: Settings, view: View, hint: Hint): Promise<Proven | null> {
  const { l2, rollup, requests, how, signal } = settings
  const { block, l1Block, newest } = view
  const anchor = await unless('ANCHOR_NO_ROOT', fetchNamed(settings, view, hint))
  if (anchor === null) return null
  const { l2BlockNumber, blockHash, proof, finalizedState, implementation } = anchor
  const { scheme, stateRoot, header: l2Block, block: sentBlock } = await openAnchor(settings, anchor, settings.scheme)
  const [bundles, verified]: [Proven['bundles'], Proven['verified']] = [[], []]
  for (const { address, storageKeys } of requests) {
    const asked = { address, storageKeys, l2BlockNumber }
    const { answer } = await fetchState(l2, { ...asked, scheme, stateRoot }, { ...how, signal })
    const claim = { ...asked, scheme, rollup }
    const bundle = createBundle({ ...claim, answer, l2Block: sentBlock, l1: { block, proof, finalizedState } })
    // The parts were verified one by one. This verifies the whole.
    verified.push(verifyEvidence(bundle, { ...claim, trusted: { l1BlockHash: l1Block.hash } }))
    bundles.push(bundle)
  }
  return {
    l2BlockNumber,
    stateRoot,
    blockHash,
    l2Block,
    finalizedTimestamp: l2Block?.timestamp ?? anchor.finalizedTimestamp,
    currentL2BlockNumber: newest,
    l1Block,
    implementation,
    verified,
    bundles,
  }
}

/** With the timestamp, if it is the newest one, whose time L1 proves, and one of the hints is right. */
async function fetchNamed(settings: Settings, { l1Block, newest }: View, { l2BlockNumber, states }: Hint) {
  const { finalizedState } = settings.rollup.layout ?? lineaLayout
  for (const hint of finalizedState && l2BlockNumber === newest ? states : []) {
    const anchor = await fetchHinted(settings, l1Block, l2BlockNumber, hint)
    if (anchor !== null) return anchor
  }
  return fetchAnchor(settings, l1Block, l2BlockNumber)
}
