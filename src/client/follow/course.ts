import type { Hex } from '../../base/bytes.ts'
import type { ProofError } from '../../base/errors.ts'
import type { L1Block } from '../../verify/anchor/header.ts'
import type { Hint, Listing, ListRange } from '../l1/finalizations.ts'
import { invented } from '../l1/l1.ts'
import { EndpointError, isGone, isPassing } from '../transport/error.ts'
import { MAX_LAGGING_ROUNDS, MAX_LIST_ROUNDS, MAX_MISSING_ROUNDS } from '../transport/limits.ts'
import type { FollowEvent } from './follow-options.ts'
import type { Finalized, L1Mark, Position } from './follow-state.ts'

/** How far a follower is, as data. Every step makes a new one. */
export interface Course {
  /** What was yielded last. */
  readonly last: Finalized | null
  /** Everything finalized up to this L1 block has been yielded. */
  readonly mark: L1Mark | null
  readonly trusted: L1Mark | null
  /** Not yielded yet, oldest first: all that was finalized after `mark` and up to `trusted`. */
  readonly pending: readonly Hint[]
  /** The L1 endpoints that named finalizations that never were. */
  readonly inventors: ReadonlySet<number>
  /** How many lists in a row each L1 endpoint has failed to send. */
  readonly failedLists: ReadonlyMap<number, number>
  /** Rounds in a row without the proofs of the next finalization. */
  readonly missingRounds: number
}

/** What a follower has seen. All but failures is proven. */
export type Observation =
  /** The code of the contract, if it was asked for, and what L1 endpoints list up to this block; null if nothing is new. */
  | {
      readonly kind: 'listing'
      readonly l1Block: L1Block
      readonly implementation: Hex | undefined
      readonly found: { readonly range: ListRange; readonly listing: Listing } | null
    }
  | { readonly kind: 'refuted'; readonly hint: Hint }
  /** No L2 endpoint has its proofs. `newer` is one whose proofs are held. */
  | { readonly kind: 'missing'; readonly hint: Hint; readonly error: EndpointError; readonly newer: bigint | null }
  /** It took place, but what it holds does not fit to it: perhaps another one is hidden. */
  | { readonly kind: 'unread'; readonly error: EndpointError | ProofError }
  /** To be yielded. */
  | { readonly kind: 'proven'; readonly last: Finalized }

interface Step {
  readonly course: Course
  readonly events?: readonly FollowEvent[]
  /** Ends the round. */
  readonly failure?: Error
}

export const beginAt = (position: Position | null): Course => ({
  last: position?.last ?? null,
  mark: position?.mark ?? null,
  trusted: position?.mark ?? null,
  pending: [],
  inventors: new Set(),
  failedLists: new Map(),
  missingRounds: 0,
})

/** The follower as a function: no clock, no endpoint. */
export function step(course: Course, seen: Observation, skipUnavailable: boolean): Step {
  switch (seen.kind) {
    case 'listing':
      return afterListing(course, seen)
    case 'refuted': {
      const { hint } = seen
      // Before the contract was deployed, its storage was zero.
      const liars = hint.l2BlockNumber === 0n ? [] : hint.namedBy
      const known = { ...course, inventors: new Set([...course.inventors, ...liars]) }
      return { course: without(known, hint), events: liars.map(index => failed(index, invented(hint.l2BlockNumber))) }
    }
    case 'missing':
      return afterMiss(course, seen, skipUnavailable)
    case 'unread':
      // The L1 endpoints are to list it, and all that follows, anew.
      return { course: { ...course, pending: [] }, failure: seen.error }
    case 'proven': {
      const { last } = seen
      const rest = keeping(course, hint => hint.l2BlockNumber > last.l2BlockNumber)
      return { course: { ...rest, last, missingRounds: 0 } }
    }
  }
}

const failed = (index: number, error: EndpointError | ProofError): FollowEvent => ({
  name: 'follow.request.failed',
  attributes: { layer: 'L1', 'endpoint.index': index, 'error.type': error.code },
  error,
})

function afterListing(course: Course, { l1Block, implementation, found }: Observation & { kind: 'listing' }): Step {
  const { last: before } = course
  const last = before && { ...before, implementation: implementation ?? before.implementation }
  const events: FollowEvent[] = []
  if (before && last && last.implementation !== before.implementation) {
    const code = { 'implementation.old': before.implementation, 'implementation.new': last.implementation }
    const attributes = { 'l1.block.number': Number(l1Block.number), ...code }
    events.push({ name: 'follow.implementation.changed', attributes })
  }
  const trusted = { number: l1Block.number, hash: l1Block.hash }
  if (found === null) return { course: keeping({ ...course, last, trusted }), events }
  const { range, listing } = found
  const failedLists = new Map(course.failedLists)
  for (const [index, outcome] of listing.outcomes) {
    if (outcome === null) events.push(failed(index, contradicted('its logs lack the newest finalization')))
    if (outcome instanceof Error) events.push(failed(index, outcome))
    if (outcome instanceof Error) failedLists.set(index, (failedLists.get(index) ?? 0) + 1)
    else failedLists.delete(index)
  }
  const failure = failureIn(listing, range, failedLists)
  if (failure !== undefined) return { course: { ...course, last, failedLists }, events, failure }
  const pending = [...course.pending, ...listing.hints]
  return { course: keeping({ ...course, last, pending, trusted, failedLists }), events }
}

/** The failure of an endpoint that is waited for because it may list more; if none has answered, of any. */
function failureIn({ outcomes, hints }: Listing, range: ListRange, failedLists: Course['failedLists']) {
  const isEmpty = hints.length === 0
  // One finalization hides no other if it comes right after the last.
  if (!isEmpty && range.newest === range.after + 1n) return undefined
  const failures = [...outcomes].flatMap(([index, one]) => (one instanceof Error ? [{ index, one }] : []))
  const isAwaited = (index: number) => isEmpty || (failedLists.get(index) ?? 0) < MAX_LIST_ROUNDS
  const awaited = failures.find(({ index, one }) => isPassing(one) && isAwaited(index))
  return (awaited ?? (isEmpty ? failures.at(-1) : undefined))?.one
}

/** No endpoint has the proofs of the next one: waits, fails, or skips it. */
function afterMiss(
  course: Course,
  { hint, error, newer }: Observation & { kind: 'missing' },
  skipUnavailable: boolean,
): Step {
  const { l2BlockNumber } = hint
  // One miss may be that of a node that lags behind the others at its URL. Once some are gone, so are their neighbours.
  const most = newer !== null || isGone(error) ? MAX_MISSING_ROUNDS : MAX_LAGGING_ROUNDS
  const missingRounds = course.missingRounds + 1
  if (skipUnavailable && missingRounds >= most) {
    const attributes = { 'l2.block.number': Number(l2BlockNumber) }
    return {
      course: without({ ...course, missingRounds }, hint),
      events: [{ name: 'follow.skipped', attributes }],
    }
  }
  const found = `L2 block ${l2BlockNumber}${newer === null ? '' : `, while ${newer} is held`}`
  const code = newer === null || skipUnavailable ? error.code : 'PROOF_UNAVAILABLE'
  const failure = new EndpointError(code, { ...error, found, layer: 'L2', cause: error })
  return { course: { ...course, missingRounds }, failure }
}

/** Without one that is skipped or never was, and what only inventors named, if another endpoint listed it too. */
function without(course: Course, skipped: Hint): Course {
  const { inventors } = course
  return keeping(
    course,
    ({ l2BlockNumber, namedBy, listedBy }) =>
      l2BlockNumber !== skipped.l2BlockNumber &&
      (namedBy.some(index => !inventors.has(index)) || listedBy.every(index => inventors.has(index))),
  )
}

function keeping(course: Course, isKept: (hint: Hint) => boolean = () => true): Course {
  const pending = course.pending.filter(isKept)
  return { ...course, pending, mark: pending.length === 0 ? course.trusted : course.mark }
}

/** Whether the L1 block can show anything new. A source that lags behind the last trusted block has nothing new. */
export function isAhead({ trusted }: Course, { number, hash }: L1Block): boolean {
  if (trusted?.number !== number || trusted.hash === hash) return trusted === null || number >= trusted.number
  throw disagreement(`L1 block ${number} had the hash ${trusted.hash}, and has the hash ${hash} now`)
}

/** @param from where to begin if none was yielded yet. Default: with the newest */
export function newRange(course: Course, l1Block: L1Block, newest: bigint, from: bigint | undefined): ListRange | null {
  const { last, mark, trusted, pending } = course
  const known = pending.at(-1)?.l2BlockNumber ?? last?.l2BlockNumber
  if (known !== undefined && newest < known) throw undone(trusted, known, l1Block, `only ${newest} is`)
  const after = known ?? (from ?? newest) - 1n
  // If `from` is ahead of the chain, nothing is listed yet, and nothing is missed.
  const l1After = (pending.length === 0 ? mark : trusted)?.number ?? null
  return newest > after ? { after, newest, l1After, l1Block } : null
}

/**
 * Fails if the contract no longer names what was yielded last: the L1 block is of another chain.
 *
 * @param now what the contract holds for it now; null if nothing of its kind, which is proven too
 */
export function verifyLast(
  { trusted }: Course,
  last: Finalized,
  l1Block: L1Block,
  now: Pick<Finalized, 'stateRoot' | 'blockHash'> | null,
): void {
  if (now !== null && now.stateRoot === last.stateRoot && now.blockHash === last.blockHash) return
  const what = last.blockHash === undefined ? 'root' : 'hash'
  const found = now ? `its ${what} is ${now.blockHash ?? now.stateRoot}` : `the contract has no ${what} of it`
  throw undone(trusted, last.l2BlockNumber, l1Block, found)
}

function undone(trusted: L1Mark | null, l2BlockNumber: bigint, l1Block: L1Block, now: string): EndpointError {
  const nameOf = ({ number, hash }: L1Mark) => `L1 block ${number} (${hash})`
  const before = trusted === null ? 'the start' : nameOf(trusted)
  return disagreement(`L2 block ${l2BlockNumber} was final at ${before}, and at ${nameOf(l1Block)} ${now}`)
}

const disagreement = (found: string) => new EndpointError('L1_DISAGREEMENT', { found, layer: 'L1' })

const contradicted = (found: string) => new EndpointError('L1_CONTRADICTION', { found, layer: 'L1' })
