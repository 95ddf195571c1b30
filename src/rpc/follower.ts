import type { FinalizedState } from '../anchor/finalized-state.ts'
import type { L1Block } from '../anchor/header.ts'
import { decodeArgument } from '../arguments.ts'
import { bytesToHex, type Hex } from '../bytes.ts'
import { createBundle } from '../evidence/create.ts'
import type { EvidenceBundle, VerifiedEvidence } from '../evidence/types.ts'
import { verifyEvidence } from '../evidence/verify.ts'
import { hashSchemeOf } from '../scheme/genuine.ts'
import { diagnoseWith } from './diagnose.ts'
import type { Endpoints } from './endpoints.ts'
import { EndpointError, isMissing } from './error.ts'
import { fetchAnswer } from './fetch.ts'
import { type Hint, listFinalizations } from './finalizations.ts'
import type { FollowEvent, FollowOptions, FollowRequest, Settings } from './follow-options.ts'
import {
  beginAt,
  candidatesOf,
  type FollowProgress,
  isAhead,
  listed,
  newRange,
  without,
  writeState,
  yielded,
} from './follow-state.ts'
import { type Anchor, fetchAnchor, fetchHinted, fetchL1Block, fetchNewest, type L1Source, unless } from './l1.ts'
import { redactUrls } from './redact.ts'

/** One finalization, proven. */
export interface FollowedFinalization<Requests extends readonly FollowRequest[] = readonly FollowRequest[]> {
  /** The last L2 block of the finalization. */
  l2BlockNumber: bigint
  /** Root of its state, 32 bytes. */
  stateRoot: Hex
  /**
   * Time of that block, in seconds since 1970; undefined if L1 does not prove it, because it was no longer the newest one, or no L1
   * endpoint serves the log.
   */
  finalizedTimestamp: bigint | undefined
  /** The last finalized L2 block at the L1 block. */
  currentL2BlockNumber: bigint
  /** The L1 block from which it is proven. */
  l1Block: L1Block
  /** What is proven for each request, in order. */
  verified: VerifiedRequests<Requests>
  /** One bundle per request, in order: anyone can verify the same values with it. */
  bundles: EvidenceBundle[]
  /** Save it once you have acted on the item. Pass it to a later call to continue with the next item. */
  progress: FollowProgress
}

/** One proven state per request. If the compiler knows how many requests there are, it knows how many states there are. */
export type VerifiedRequests<Requests extends readonly FollowRequest[]> = {
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
      : readonly Hex[]
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
  const { l1, l2, rollup, newestOnly, skipUnavailable, signal, onEvent } = settings
  const source = { l1, rollup, signal }
  let progress = beginAt(settings.position)
  let view: View | null = null
  /** What the contract says about finalizations at the L1 block of the view; null for one that never took place. */
  const anchors = new Map<bigint, Anchor | null>()
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
    const newest = await fetchNewest(source, l1Block)
    const range = newRange(progress, l1Block, newest, settings.from)
    const onUseless = (index: number) => tell({ name: 'follow.logs.unusable', attributes: { 'endpoint.index': index } })
    const hints = range === null ? [] : await listFinalizations(source, range, onUseless)
    // A failure above has changed nothing.
    view = { block, l1Block, newest }
    progress = listed(progress, hints, l1Block)
    anchors.clear()
  }

  async function anchorOf({ l1Block, newest }: View, { l2BlockNumber, states }: Hint): Promise<Anchor | null> {
    const known = anchors.get(l2BlockNumber)
    if (known !== undefined) return known
    const isNewest = l2BlockNumber === newest && (rollup.layout === undefined || rollup.layout.finalizedState)
    // null if the contract has no root of the block, which is proven too.
    const proven = fetchProven(source, l1Block, l2BlockNumber, isNewest ? states : [])
    const anchor = await unless('ANCHOR_NO_ROOT', proven)
    anchors.set(l2BlockNumber, anchor)
    return anchor
  }

  async function tryProve(at: View, hint: Hint): Promise<FollowedFinalization | 'missing' | 'refuted'> {
    const { l2BlockNumber } = hint
    const anchor = await anchorOf(at, hint)
    if (anchor === null) {
      tellOf('follow.hint.refused', hint)
      return 'refuted'
    }
    try {
      const proven = await prove(settings, l2, at, anchor)
      const { mark } = yielded(progress, l2BlockNumber)
      return { ...proven, progress: writeState(rollup.address, { l2BlockNumber, mark }) }
    } catch (error) {
      if (!isMissing(error)) throw error
      tellOf('follow.proof.unavailable', hint)
      return 'missing'
    }
  }

  function handOut(item: FollowedFinalization): FollowedFinalization {
    const { l2BlockNumber, finalizedTimestamp, l1Block } = item
    progress = yielded(progress, l2BlockNumber)
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
      if (typeof tried === 'object') return handOut(tried)
      if (tried === 'missing') {
        // A lagging endpoint catches up. One that holds a newer block does not, unless several nodes share its URL.
        const other = await firstHeld(at, others)
        const found = `L2 block ${first.l2BlockNumber}`
        if (other === null) throw new EndpointError('BLOCK_MISSING', { found, layer: 'L2' })
        if (newestOnly) return handOut(other)
        const gone = { found: `${found}, while ${other.l2BlockNumber} is held`, layer: 'L2' } as const
        if (!skipUnavailable) throw new EndpointError('PROOF_UNAVAILABLE', gone)
        tellOf('follow.skipped', first)
      }
      progress = without(progress, first)
    }
  }

  async function firstHeld(at: View, hints: readonly Hint[]): Promise<FollowedFinalization | null> {
    for (const hint of hints) {
      const tried = await tryProve(at, hint)
      if (typeof tried === 'object') return tried
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

/** Everything that is proven about one finalization. @throws EndpointError `BLOCK_MISSING` if no L2 endpoint holds it */
async function prove(
  { rollup, schemeAt, requests, how, signal }: Settings,
  l2: Endpoints,
  { block, l1Block, newest }: View,
  { l2BlockNumber, stateRoot, proof, finalizedState, finalizedTimestamp }: Anchor,
): Promise<Omit<FollowedFinalization, 'progress'>> {
  const scheme = hashSchemeOf(schemeAt(l2BlockNumber))
  const evidence: EvidenceBundle[] = []
  const states: VerifiedEvidence<{ l1BlockHash: Hex }>[] = []
  for (const { address, storageKeys } of requests) {
    const asked = { address, storageKeys, l2BlockNumber }
    const fetching = { ...how, trusted: { scheme, stateRoot }, signal }
    const answer = await fetchAnswer(l2, asked, fetching)
    const claim = { scheme, rollup, l2BlockNumber, address, storageKeys }
    const bundle = createBundle({ ...claim, answer, l1: { block, proof, finalizedState } })
    // The parts were verified one by one. This verifies the whole.
    const proven = verifyEvidence(bundle, { ...claim, trusted: { l1BlockHash: l1Block.hash } })
    if (proven.trustedInput !== 'l1BlockHash')
      throw new EndpointError('L1_CONTRADICTION', { found: 'another kind of bundle' })
    evidence.push(bundle)
    states.push(proven)
  }
  const times = { finalizedTimestamp, currentL2BlockNumber: newest }
  return { l2BlockNumber, stateRoot, ...times, l1Block, verified: states, bundles: evidence }
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
async function trustedHash(source: FollowOptions['l1BlockHash']): Promise<Hex> {
  let hash: unknown
  try {
    hash = await source()
  } catch (error) {
    throw diagnoseWith(redactUrls, error)
  }
  return bytesToHex(decodeArgument('l1BlockHash', hash, 32))
}
