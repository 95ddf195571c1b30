import { decodeArgument } from '../../base/arguments.ts'
import type { Hex } from '../../base/bytes.ts'
import { bytesToHex } from '../../base/bytes.ts'
import type { L1Block } from '../../verify/anchor/header.ts'
import type { BlockHeader } from '../../verify/blocks/header.ts'
import { createBundle, type EvidenceBundle } from '../../verify/evidence/kinds/state.ts'
import type { VerifiedEvidence } from '../../verify/evidence/types.ts'
import { verifyEvidence } from '../../verify/evidence/verify.ts'
import type { Scheme } from '../../verify/scheme/scheme.ts'
import type { Ethereum, StateScheme } from '../../verify/state/types.ts'
import { type Hint, listFinalizations } from '../l1/finalizations.ts'
import {
  type Anchor,
  fetchAnchor,
  fetchHinted,
  fetchL1Block,
  fetchNewest,
  invented,
  type L1Source,
  unless,
} from '../l1/l1.ts'
import { openAnchor } from '../l1/l2-header.ts'
import { fetchState } from '../sources/fetch.ts'
import { diagnoseWith } from '../transport/diagnose.ts'
import { type EndpointError, isEndpointError, isOfBlock } from '../transport/error.ts'
import { redactUrls } from '../transport/redact.ts'
import { begin } from '../transport/waiting.ts'
import { beginAt, type Course, isAhead, newRange, nextHint, type Observation, step, verifyLast } from './course.ts'
import type { FollowOptions, FollowRequest, Settings } from './follow-options.ts'
import { type FollowProgress, heldIn, writeState } from './follow-state.ts'

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

export interface View {
  readonly block: unknown
  readonly l1Block: L1Block
  readonly newest: bigint
  /** What the contract says about finalizations; null for one that never took place. */
  readonly anchors: Map<bigint, Anchor | null>
}

/** What else is done with a finalization at the same time. */
type Aside<T> = (view: View, l2BlockNumber: bigint, proving: Promise<Proven>) => T

export interface Followed<T> {
  readonly item: FollowedFinalization
  readonly beside: T | undefined
  /** As if it had not been yielded: the L1 endpoints are to list it, and all that follows, anew. */
  undo(): void
}

/** @param aside begun while it is proven that the finalization took place */
export function createFollower<T>(settings: Settings, aside?: Aside<T>): () => Promise<Followed<T> | null> {
  const { l1, rollup, schemeAt, signal, onEvent } = settings
  const source = { l1, rollup, schemeAt, signal }
  let course = beginAt(settings.position)
  let view: View | null = null
  let isFresh = false

  /** @returns whether the finalization that was seen is to be yielded */
  function take(seen: Observation): boolean {
    const { course: next, events, outcome } = step(course, seen, settings)
    course = next
    for (const event of events) onEvent?.(event)
    if (outcome instanceof Error) throw outcome
    return outcome === 'yield'
  }

  async function poll(): Promise<void> {
    const hash = await trustedHash(settings.l1BlockHash)
    if (hash === view?.l1Block.hash) return
    const { block, l1Block } = await fetchL1Block(source, hash)
    if (!isAhead(course, l1Block)) {
      const attributes = {
        'l1.block.number': Number(l1Block.number),
        'l1.block.newest': Number(course.trusted?.number),
      }
      return onEvent?.({ name: 'follow.l1.behind', attributes })
    }
    const { newest, implementation } = await fetchNewestAfter(source, l1Block, course)
    if (implementation !== undefined) take({ kind: 'code', implementation, l1Block })
    const range = newRange(course, l1Block, newest, settings.from)
    const listing = range && (await listFinalizations(source, range, course.inventors))
    take({ kind: 'listing', l1Block, range, listing })
    // What has failed before has changed nothing.
    view = { block, l1Block, newest, anchors: new Map() }
  }

  return async () => {
    if (!isFresh) await poll()
    // After a failure, the endpoints are polled again.
    isFresh = false
    course = { ...course, missed: null }
    for (let hint = nextHint(course); view && hint; hint = nextHint(course)) {
      // What is proven of a later one only says that it is held.
      const own = course.missed === null ? aside : undefined
      const { seen, proven, beside } = await observe(settings, source, view, hint, own)
      const before = course
      const isYielded = seen.map(take).includes(true)
      if (!isYielded || proven === undefined) continue
      isFresh = true
      const progress = writeState(rollup.address, { ...course, l2BlockNumber: hint.l2BlockNumber })
      const undo = () => {
        course = { ...before, pending: [], missed: null }
        view = null
        isFresh = false
      }
      return { item: { ...proven, progress }, beside, undo }
    }
    return null
  }
}

/** The last finalized L2 block, and the code of the contract. What was yielded last must still be what the contract says. */
async function fetchNewestAfter(source: L1Source, l1Block: L1Block, course: Course) {
  const { last, held } = course
  if (last === null) return { newest: await fetchNewest(source, l1Block) }
  const anchor = await unless(
    'ANCHOR_BLOCK_AHEAD',
    unless('ANCHOR_NO_ROOT', fetchAnchor({ ...source, holds: held?.kind }, l1Block, last)).then(found => ({ found })),
  )
  const found = anchor?.found ?? null
  if (anchor !== null) verifyLast(course, l1Block, found && heldIn(found))
  // Without it, the last one is ahead: `newRange` refuses what it returns then.
  const newest = found?.currentL2BlockNumber ?? (await fetchNewest(source, l1Block))
  return { newest, implementation: found?.implementation }
}

async function observe<T>(
  settings: Settings,
  source: L1Source,
  view: View,
  hint: Hint,
  aside: Aside<T> | undefined,
): Promise<{ seen: Observation[]; proven?: Proven; beside?: T | undefined }> {
  const { l1Block, anchors } = view
  const { l2BlockNumber } = hint
  const known = anchors.get(l2BlockNumber)
  const asking = known === undefined ? fetchProven(source, view, hint) : Promise.resolve(known)
  const proving = begin(
    asking.then(anchor => (anchor === null ? Promise.reject(invented(l2BlockNumber)) : prove(settings, view, anchor))),
  )
  const beside = aside?.(view, l2BlockNumber, proving)
  const anchor = await asking
  anchors.set(l2BlockNumber, anchor)
  if (anchor === null) return { seen: [{ kind: 'refuted', hint }] }
  const code = { kind: 'code', implementation: anchor.implementation, l1Block } as const
  const proven = await proving.catch(orMissing)
  if (isEndpointError(proven)) return { seen: [code, { kind: 'missing', hint, error: proven }] }
  // What is not pending any more is not asked for again.
  for (const number of anchors.keys()) if (number <= l2BlockNumber) anchors.delete(number)
  return { seen: [code, { kind: 'proven', hint, held: heldIn(anchor) }], proven, beside }
}

function orMissing(error: unknown): EndpointError {
  if (isEndpointError(error) && isOfBlock(error)) return error
  throw error
}

export type Proven = FollowedFinalization extends infer Item
  ? Item extends unknown
    ? Omit<Item, 'progress'>
    : never
  : never

async function prove(settings: Settings, { block, l1Block, newest }: View, anchor: Anchor): Promise<Proven> {
  const { l2, rollup, schemeAt, requests, how, signal } = settings
  const { l2BlockNumber, blockHash, proof, finalizedState, implementation } = anchor
  const { scheme, stateRoot, header: l2Block, block: sentBlock } = await openAnchor({ l2, signal }, anchor, schemeAt)
  const bundles: EvidenceBundle<StateScheme>[] = []
  const verified: object[] = []
  for (const { address, storageKeys } of requests) {
    const asked = { address, storageKeys, l2BlockNumber }
    const { answer } = await fetchState(l2, { ...asked, scheme, stateRoot }, { ...how, signal })
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

/** With the timestamp, if one of the hints is right. null if the contract has nothing of the block, which is proven too. */
async function fetchProven(
  source: L1Source,
  { l1Block, newest }: View,
  { l2BlockNumber, states }: Hint,
): Promise<Anchor | null> {
  const { layout } = source.rollup
  const isTimed = l2BlockNumber === newest && (layout === undefined || layout.finalizedState)
  return unless('ANCHOR_NO_ROOT', fetchTimedAnchor())

  async function fetchTimedAnchor(): Promise<Anchor> {
    for (const hint of isTimed ? states : []) {
      const anchor = await fetchHinted(source, l1Block, l2BlockNumber, hint)
      if (anchor !== null) return anchor
    }
    return fetchAnchor(source, l1Block, l2BlockNumber)
  }
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
