import { decodeArgument } from '../../base/arguments.ts'
import { bytesToHex, type Hex } from '../../base/bytes.ts'
import type { FinalizedState } from '../../verify/anchor/finalized-state.ts'
import type { L1Block } from '../../verify/anchor/header.ts'
import type { BlockHeader } from '../../verify/blocks/header.ts'
import { createBundle } from '../../verify/evidence/create.ts'
import type { EvidenceBundle, VerifiedEvidence } from '../../verify/evidence/types.ts'
import { verifyEvidence } from '../../verify/evidence/verify.ts'
import type { Scheme } from '../../verify/scheme/scheme.ts'
import type { Ethereum, StateScheme } from '../../verify/state/types.ts'
import { type Hint, type ListRange, listFinalizations } from '../l1/finalizations.ts'
import { type Anchor, fetchAnchor, fetchHinted, fetchL1Block, fetchNewest, type L1Source, unless } from '../l1/l1.ts'
import { openAnchor } from '../l1/l2-header.ts'
import { fetchAnswer } from '../sources/fetch.ts'
import { diagnoseWith } from '../transport/diagnose.ts'
import { EndpointError, isEndpointError, isGone, isOfBlock, isPassing } from '../transport/error.ts'
import { MAX_LAGGING_ROUNDS, MAX_LIST_ROUNDS, MAX_MISSING_ROUNDS } from '../transport/limits.ts'
import { redactUrls } from '../transport/redact.ts'
import type { FollowEvent, FollowOptions, FollowRequest, Settings } from './follow-options.ts'
import {
  beginAt,
  candidatesOf,
  type FollowProgress,
  heldIn,
  isAhead,
  listed,
  newRange,
  verifyLast,
  without,
  withoutInventions,
  writeState,
  yielded,
} from './follow-state.ts'

/** One finalization, proven. */
export type FollowedFinalization<Requests extends readonly FollowRequest[] = readonly FollowRequest[]> = FollowedBlock &
  (FollowedState<Requests, Scheme, undefined, undefined> | FollowedState<Requests, Ethereum, Hex, BlockHeader>)

/** What is proven about the block and the contract. */
export interface FollowedBlock {
  /** The last L2 block of the finalization. */
  l2BlockNumber: bigint
  /** Root of its state, 32 bytes: of a tree with a hash scheme, or of an Ethereum state if there is a `blockHash`. */
  stateRoot: Hex
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
  /** Save it once you have acted on the item. Pass it to a later call to continue with the next item. */
  progress: FollowProgress
}

/** What is proven about the state, by its kind. */
export interface FollowedState<Requests extends readonly FollowRequest[], Kind extends StateScheme, Hash, Header> {
  /** Hash of the block, 32 bytes, if that is what L1 holds. The state is then that of Ethereum. */
  blockHash: Hash
  /** The block with this hash. */
  l2Block: Header
  /** What is proven for each request, in order. */
  verified: VerifiedRequests<Requests, Kind>
  /** One bundle per request, in order: anyone can verify the same values with it. */
  bundles: EvidenceBundle<Kind>[]
}

/** One proven state per request. If the compiler knows how many requests there are, it knows how many states there are. */
export type VerifiedRequests<Requests extends readonly FollowRequest[], Kind extends StateScheme = Scheme> = {
  -readonly [Index in keyof Requests]: VerifiedEvidence<
    {
      /** Hash of `l1Block`. */
      l1BlockHash: Hex
    },
    bigint,
    Requests[Index] extends {
      /** Of the request. */
      storageKeys: infer Keys extends readonly Hex[]
    }
      ? Keys
      : readonly Hex[],
    Kind
  >
}

/** A trusted L1 block, and what the contract held there. */
interface View {
  /** As the endpoint sent it. */
  readonly block: unknown
  readonly l1Block: L1Block
  readonly newest: bigint
}

/** Proves one finalization after another. What follows from its state alone is in `follow-state.ts`. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: every part changes the same view, progress and known anchors.
export function createFollower(settings: Settings) {
  const { l1, rollup, schemeAt, newestOnly, skipUnavailable, signal, onEvent } = settings
  const source = { l1, rollup, schemeAt, signal }
  let progress = beginAt(settings.position)
  let view: View | null = null
  /** What the contract says about finalizations at the L1 block of the view; null for one that never took place. */
  const anchors = new Map<bigint, Anchor | null>()
  /** What is known about the lists of the L1 endpoints, by index. */
  const [inventors, absent] = [new Set<number>(), new Set<number>()]
  /** In a row: lists that failed, and rounds without the proofs of the next finalization. */
  let [failedLists, missingRounds] = [0, 0]
  /** Whether the endpoints have been polled since the last wait. */
  let isFresh = false

  const tell = (event: FollowEvent) => onEvent?.(event)
  const tellOf = (name: 'follow.hint.refused' | 'follow.proof.unavailable' | 'follow.skipped', hint: Hint) =>
    tell({ name, attributes: { 'l2.block.number': Number(hint.l2BlockNumber) } })

  async function poll(): Promise<void> {
    const hash = await trustedHash(settings.l1BlockHash)
    if (hash === view?.l1Block.hash) return tell({ name: 'follow.poll', attributes: {} })
    const { block, l1Block } = await fetchL1Block(source, hash)
    tell({ name: 'follow.poll', attributes: { 'l1.block.number': Number(l1Block.number) } })
    if (!isAhead(progress, l1Block)) return
    const newest = await fetchNewestAfter(l1Block)
    const range = newRange(progress, l1Block, newest, settings.from)
    const hints = range === null ? [] : await list(range)
    // A failure above has changed nothing.
    view = { block, l1Block, newest }
    progress = listed(progress, hints, l1Block)
    anchors.clear()
  }

  /** The last finalized L2 block. What was yielded last must still be what the contract says. */
  async function fetchNewestAfter(l1Block: L1Block): Promise<bigint> {
    const { last, held } = progress
    if (last === null) return fetchNewest(source, l1Block)
    const anchor = await unless(
      'ANCHOR_BLOCK_AHEAD',
      unless('ANCHOR_NO_ROOT', fetchAnchor({ ...source, holds: held?.kind }, l1Block, last)).then(found => ({ found })),
    )
    const found = anchor?.found ?? null
    if (anchor !== null) verifyLast(progress, l1Block, found && heldIn(found))
    if (found !== null) noteImplementation(found, l1Block)
    // Without it, the last one is ahead: `newRange` refuses what it returns then.
    return found?.currentL2BlockNumber ?? fetchNewest(source, l1Block)
  }

  function noteImplementation({ implementation: now }: Anchor, { number }: L1Block): void {
    const { implementation: before } = progress
    progress = { ...progress, implementation: now }
    if (before === null || before === now) return
    const code = { 'implementation.old': before, 'implementation.new': now }
    tell({ name: 'follow.implementation.changed', attributes: { 'l1.block.number': Number(number), ...code } })
  }

  async function list(range: ListRange): Promise<Hint[]> {
    const onUseless = (index: number) => tell({ name: 'follow.logs.unusable', attributes: { 'endpoint.index': index } })
    // The newest alone is what matters, and it is proven.
    const isLastRound = newestOnly || failedLists + 1 >= MAX_LIST_ROUNDS
    try {
      const hints = await listFinalizations(source, range, { inventors, absent, isLastRound, onUseless })
      failedLists = 0
      return hints
    } catch (error) {
      if (isPassing(error)) failedLists++
      throw error
    }
  }

  async function anchorOf({ l1Block, newest }: View, { l2BlockNumber, states }: Hint): Promise<Anchor | null> {
    const known = anchors.get(l2BlockNumber)
    if (known !== undefined) return known
    const isNewest = l2BlockNumber === newest && (rollup.layout === undefined || rollup.layout.finalizedState)
    // null if the contract has no root of the block, which is proven too.
    const proven = fetchProven(source, l1Block, l2BlockNumber, isNewest ? states : [])
    const anchor = await unless('ANCHOR_NO_ROOT', proven)
    anchors.set(l2BlockNumber, anchor)
    if (anchor !== null) noteImplementation(anchor, l1Block)
    return anchor
  }

  async function tryProve(at: View, hint: Hint): Promise<FollowedFinalization | EndpointError | 'refuted'> {
    const { l2BlockNumber } = hint
    const anchor = await anchorOf(at, hint)
    if (anchor === null) {
      tellOf('follow.hint.refused', hint)
      // Before the contract was deployed, its storage was zero.
      if (l2BlockNumber !== 0n) for (const index of hint.namedBy) inventors.add(index)
      return 'refuted'
    }
    try {
      const proven = await prove(settings, at, anchor)
      const held = heldIn(anchor)
      const { mark, implementation } = yielded(progress, l2BlockNumber, held)
      return { ...proven, progress: writeState(rollup.address, { l2BlockNumber, held, implementation, mark }) }
    } catch (error) {
      if (!isEndpointError(error) || !isOfBlock(error)) throw error
      tellOf('follow.proof.unavailable', hint)
      return error
    }
  }

  function handOut(item: FollowedFinalization): FollowedFinalization {
    const { l2BlockNumber, finalizedTimestamp, l1Block } = item
    progress = yielded(progress, l2BlockNumber, heldIn(item))
    missingRounds = 0
    // What is not pending any more is not asked for again.
    for (const number of anchors.keys()) if (number <= l2BlockNumber) anchors.delete(number)
    const timestamp = finalizedTimestamp === undefined ? {} : { 'l2.block.timestamp': Number(finalizedTimestamp) }
    const blocks = { 'l2.block.number': Number(l2BlockNumber), 'l1.block.number': Number(l1Block.number) }
    tell({ name: 'follow.finalization', attributes: { ...blocks, ...timestamp } })
    return item
  }

  async function nextOf(at: View): Promise<FollowedFinalization | null> {
    for (;;) {
      const [first, ...others] = candidatesOf(progress, newestOnly)
      if (first === undefined) return null
      const tried = await tryProve(at, first)
      if (!isEndpointError(tried) && tried !== 'refuted') return handOut(tried)
      if (isEndpointError(tried)) {
        // A lagging endpoint catches up. One that holds a newer block does not, unless several nodes share its URL.
        const other = await firstHeld(at, others)
        if (other !== null && newestOnly) return handOut(other)
        const held = other === null ? '' : `, while ${other.l2BlockNumber} is held`
        const about = { ...tried, found: `L2 block ${first.l2BlockNumber}${held}`, layer: 'L2', cause: tried } as const
        if (other !== null && !skipUnavailable) throw new EndpointError('PROOF_UNAVAILABLE', about)
        // One miss may be that of a node that lags behind the others at its URL. Once some are gone, so are their neighbours.
        const most = other !== null || isGone(tried) ? MAX_MISSING_ROUNDS : MAX_LAGGING_ROUNDS
        if (!skipUnavailable || ++missingRounds < most) throw new EndpointError(tried.code, about)
        tellOf('follow.skipped', first)
      }
      progress = withoutInventions(without(progress, first), inventors)
      anchors.delete(first.l2BlockNumber)
    }
  }

  async function firstHeld(at: View, hints: readonly Hint[]): Promise<FollowedFinalization | null> {
    for (const hint of hints) {
      const tried = await tryProve(at, hint)
      if (tried !== 'refuted' && !isEndpointError(tried)) return tried
    }
    return null
  }

  return {
    /** The next finalization; null if there is nothing new. */
    async next(): Promise<FollowedFinalization | null> {
      if (!isFresh) await poll()
      // After a failure, the endpoints are polled again.
      isFresh = false
      const item = view && (await nextOf(view))
      isFresh = item !== null
      return item
    },
  }
}

type Proven = FollowedFinalization extends infer Item ? (Item extends unknown ? Omit<Item, 'progress'> : never) : never

/** Everything that is proven about one finalization. @throws EndpointError `BLOCK_MISSING` if no L2 endpoint holds it */
async function prove(settings: Settings, { block, l1Block, newest }: View, anchor: Anchor): Promise<Proven> {
  const { l2, rollup, schemeAt, requests, how, signal } = settings
  const { l2BlockNumber, blockHash, proof, finalizedState, implementation } = anchor
  const { scheme, stateRoot, header: l2Block, block: sentBlock } = await openAnchor({ l2, signal }, anchor, schemeAt)
  const bundles: EvidenceBundle<StateScheme>[] = []
  const verified: object[] = []
  for (const { address, storageKeys } of requests) {
    const asked = { address, storageKeys, l2BlockNumber }
    const answer = await fetchAnswer(l2, asked, { ...how, trusted: { scheme, stateRoot }, signal })
    const claim = { scheme, rollup, l2BlockNumber, address, storageKeys }
    const bundle = createBundle({ ...claim, answer, l2Block: sentBlock, l1: { block, proof, finalizedState } })
    // The parts were verified one by one. This verifies the whole.
    verified.push(verifyEvidence(bundle, { ...claim, trusted: { l1BlockHash: l1Block.hash } }))
    bundles.push(bundle)
  }
  const finalizedTimestamp = l2Block?.timestamp ?? anchor.finalizedTimestamp
  const proven = { l2BlockNumber, stateRoot, finalizedTimestamp, currentL2BlockNumber: newest, l1Block, implementation }
  // There is a header if there is a hash, and the states and bundles are of that kind.
  return { ...proven, blockHash, l2Block, verified, bundles } as Proven
}

/** With the timestamp, if one of the hints is right. */
async function fetchProven(
  source: L1Source,
  l1Block: L1Block,
  l2BlockNumber: bigint,
  hints: readonly FinalizedState[],
): Promise<Anchor> {
  for (const hint of hints) {
    const anchor = await fetchHinted(source, l1Block, l2BlockNumber, hint)
    if (anchor !== null) return anchor
  }
  return fetchAnchor(source, l1Block, l2BlockNumber)
}

/** @throws EndpointError, or ArgumentError if it is not a hash */
export async function trustedHash(source: FollowOptions['l1BlockHash']): Promise<Hex> {
  let hash: unknown
  try {
    hash = await source()
  } catch (error) {
    throw diagnoseWith(redactUrls, error)
  }
  return bytesToHex(decodeArgument('l1BlockHash', hash, 32))
}
