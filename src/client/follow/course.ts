import type { Hex } from '../../base/bytes.ts'
import type { L1Block } from '../../verify/anchor/header.ts'
import type { Hint, Listing, ListRange } from '../l1/finalizations.ts'
import { EndpointError, isGone, isPassing } from '../transport/error.ts'
import { MAX_LAGGING_ROUNDS, MAX_LIST_ROUNDS, MAX_MISSING_ROUNDS } from '../transport/limits.ts'
import type { FollowEvent } from './follow-options.ts'
import type { Held, L1Mark, Position } from './follow-state.ts'

/** How far a follower is, as data. Every step makes a new one. */
export interface Course {
  readonly last: bigint | null
  readonly held: Held | null
  readonly implementation: Hex | null
  /** Everything finalized up to this L1 block has been yielded. */
  readonly mark: L1Mark | null
  readonly trusted: L1Mark | null
  /** Not yielded yet, oldest first: all that was finalized after `mark` and up to `trusted`. */
  readonly pending: readonly Hint[]
  /** The L1 endpoints that named finalizations that never were. */
  readonly inventors: ReadonlySet<number>
  /** Those that failed for so long that nobody waits for their lists any more, until they answer. */
  readonly absent: ReadonlySet<number>
  /** In a row: lists that failed, and rounds without the proofs of the next finalization. */
  readonly failedLists: number
  readonly missingRounds: number
  /** The first one, if it had no proofs in this round: perhaps the newest has. */
  readonly missed: Missed | null
}

/** A finalization whose proofs no L2 endpoint has. */
interface Missed {
  readonly hint: Hint
  readonly error: EndpointError
}

/** What a follower has seen. All but failures is proven. */
export type Observation =
  | { readonly kind: 'code'; readonly implementation: Hex; readonly l1Block: L1Block }
  /** What the L1 endpoints list in a range that ends at this block; null if nothing is new. */
  | {
      readonly kind: 'listing'
      readonly l1Block: L1Block
      readonly range: ListRange | null
      readonly listing: Listing | null
    }
  | { readonly kind: 'refuted'; readonly hint: Hint }
  | ({ readonly kind: 'missing' } & Missed)
  | { readonly kind: 'proven'; readonly hint: Hint; readonly held: Held }

export interface Step {
  readonly course: Course
  readonly events: readonly FollowEvent[]
  readonly outcome: 'next' | 'yield' | Error
}

export interface Rules {
  readonly skipUnavailable: boolean
}

export const beginAt = (position: Position | null): Course => {
  const { l2BlockNumber: last, ...known } = position ?? {
    l2BlockNumber: null,
    ...{ held: null, implementation: null, mark: null },
  }
  const endpoints = { inventors: new Set<number>(), absent: new Set<number>(), failedLists: 0, missingRounds: 0 }
  return { last, ...known, trusted: known.mark, pending: [], ...endpoints, missed: null }
}

/** What to prove next; if no endpoint has its proofs, whether one has those of the newest. */
export const nextHint = ({ pending, missed }: Course): Hint | undefined =>
  missed === null ? pending[0] : pending.at(-1)

/** The follower as a function: no clock, no endpoint. */
export function step(course: Course, seen: Observation, rules: Rules): Step {
  const { missed } = course
  switch (seen.kind) {
    case 'code':
      return afterCode(course, seen)
    case 'listing':
      return afterListing(course, seen)
    case 'proven':
      // A lagging endpoint catches up. One that holds a newer block does not, unless several nodes share its URL.
      return missed === null ? afterProof(course, seen) : afterMiss(course, missed, rules, [], seen.hint)
    case 'missing': {
      const events = [tellOf('follow.proof.unavailable', seen.hint)]
      if (missed !== null || course.pending.length === 1) return afterMiss(course, missed ?? seen, rules, events)
      return { course: { ...course, missed: seen }, events, outcome: 'next' }
    }
    case 'refuted': {
      // Before the contract was deployed, its storage was zero.
      const liars = seen.hint.l2BlockNumber === 0n ? [] : seen.hint.namedBy
      const known = { ...course, inventors: new Set([...course.inventors, ...liars]) }
      const events = [tellOf('follow.hint.refused', seen.hint)]
      if (missed !== null) return afterMiss(known, missed, rules, events)
      return { course: without(known, seen.hint), events, outcome: 'next' }
    }
  }
}

const tellOf = (
  name: 'follow.hint.refused' | 'follow.proof.unavailable' | 'follow.skipped',
  hint: Hint,
): FollowEvent => ({
  ...{ name, attributes: { 'l2.block.number': Number(hint.l2BlockNumber) } },
})

function afterCode(course: Course, { implementation: now, l1Block }: Observation & { kind: 'code' }): Step {
  const { implementation: before } = course
  const code = { 'implementation.old': before ?? now, 'implementation.new': now }
  const attributes = { 'l1.block.number': Number(l1Block.number), ...code }
  const events =
    before === null || before === now ? [] : [{ name: 'follow.implementation.changed', attributes } as const]
  return { course: { ...course, implementation: now }, events, outcome: 'next' }
}

function afterListing(course: Course, { l1Block, range, listing }: Observation & { kind: 'listing' }): Step {
  const trusted = { number: l1Block.number, hash: l1Block.hash }
  if (range === null || listing === null)
    return { course: keeping({ ...course, trusted }), events: [], outcome: 'next' }
  const events = listing.useless.map(index => ({
    ...{ name: 'follow.logs.unusable' as const, attributes: { 'endpoint.index': index } },
  }))
  const isLastRound = course.failedLists + 1 >= MAX_LIST_ROUNDS
  const absent = new Set(course.absent)
  for (const [index, outcome] of listing.outcomes) {
    if (!(outcome instanceof Error)) absent.delete(index)
    else if (isLastRound && isPassing(outcome)) absent.add(index)
  }
  const failure = failureIn(listing, range, absent)
  if (failure !== undefined) {
    const failedLists = course.failedLists + (isPassing(failure) ? 1 : 0)
    return { course: { ...course, absent, failedLists }, events, outcome: failure }
  }
  const pending = [...course.pending, ...listing.hints]
  return { course: keeping({ ...course, pending, trusted, absent, failedLists: 0 }), events, outcome: 'next' }
}

/** The failure of an endpoint that is waited for because it may list more; if none has answered, of any. */
function failureIn({ outcomes, hints }: Listing, range: ListRange, absent: ReadonlySet<number>): Error | undefined {
  const isEmpty = hints.length === 0
  // One finalization hides no other if it comes right after the last.
  if (!isEmpty && range.newest === range.after + 1n) return undefined
  const failures = [...outcomes].flatMap(([index, one]) => (one instanceof Error ? [{ index, one }] : []))
  const awaited = failures.find(({ index, one }) => isPassing(one) && (isEmpty || !absent.has(index)))
  return (awaited ?? (isEmpty ? failures.at(-1) : undefined))?.one
}

function afterProof(course: Course, { hint, held }: Observation & { kind: 'proven' }): Step {
  const { l2BlockNumber: last } = hint
  const rest = keeping(course, ({ l2BlockNumber }) => l2BlockNumber > last)
  return { course: { ...rest, last, held, missingRounds: 0, missed: null }, events: [], outcome: 'yield' }
}

/** No endpoint has the proofs of the next one: waits, fails, or skips it. @param other one whose proofs are held */
function afterMiss(
  course: Course,
  { hint, error }: Missed,
  { skipUnavailable }: Rules,
  events: readonly FollowEvent[],
  other?: Hint,
): Step {
  const beside = other === undefined ? '' : `, while ${other.l2BlockNumber} is held`
  const about = { ...error, found: `L2 block ${hint.l2BlockNumber}${beside}`, layer: 'L2', cause: error } as const
  // One miss may be that of a node that lags behind the others at its URL. Once some are gone, so are their neighbours.
  const most = other !== undefined || isGone(error) ? MAX_MISSING_ROUNDS : MAX_LAGGING_ROUNDS
  const missingRounds = course.missingRounds + (skipUnavailable ? 1 : 0)
  if (!skipUnavailable || missingRounds < most) {
    const code = other === undefined || skipUnavailable ? error.code : 'PROOF_UNAVAILABLE'
    return { course: { ...course, missingRounds, missed: null }, events, outcome: new EndpointError(code, about) }
  }
  return {
    course: without({ ...course, missingRounds }, hint),
    events: [...events, tellOf('follow.skipped', hint)],
    outcome: 'next',
  }
}

/** Without one that is skipped or never was, and what only inventors named, if another endpoint listed it too. */
function without(course: Course, skipped: Hint): Course {
  const { inventors } = course
  const isKept = ({ l2BlockNumber, namedBy, listedBy }: Hint) =>
    l2BlockNumber !== skipped.l2BlockNumber &&
    (namedBy.some(index => !inventors.has(index)) || listedBy.every(index => inventors.has(index)))
  return { ...keeping(course, isKept), missed: null }
}

function keeping(course: Course, isKept: (hint: Hint) => boolean = () => true): Course {
  const pending = course.pending.filter(isKept)
  return { ...course, pending, mark: pending.length === 0 ? course.trusted : course.mark }
}

/** Whether the L1 block can show anything new. A source that lags behind the last trusted block has nothing new. */
export function isAhead({ trusted }: Course, { number, hash }: L1Block): boolean {
  if (trusted?.number !== number || trusted.hash === hash) return trusted === null || number >= trusted.number
  const found = `L1 block ${number} had the hash ${trusted.hash}, and has the hash ${hash} now`
  throw new EndpointError('L1_DISAGREEMENT', { found, layer: 'L1' })
}

/** @param from where to begin if none was yielded yet. Default: with the newest */
export function newRange(
  { last, mark, trusted, pending }: Course,
  l1Block: L1Block,
  newest: bigint,
  from: bigint | undefined,
): ListRange | null {
  const known = pending.at(-1)?.l2BlockNumber ?? last
  if (known !== null && newest < known) throw undone(trusted, known, l1Block, `only ${newest} is`)
  const after = known ?? (from ?? newest) - 1n
  // If `from` is ahead of the chain, nothing is listed yet, and nothing is missed.
  const l1After = (pending.length === 0 ? mark : trusted)?.number ?? null
  return newest > after ? { after, newest, l1After, l1Block } : null
}

/**
 * Fails if the contract no longer names what was yielded last: the L1 block is of another chain.
 *
 * @param now what the contract holds for it now: of the same kind, if that is known; null if nothing, which is proven too
 */
export function verifyLast({ last, held, trusted }: Course, l1Block: L1Block, now: Held | null): void {
  if (last === null || (now !== null && (held === null || held.value === now.value))) return
  const what = { stateRoot: 'root', blockHash: 'hash' }[(now ?? held)?.kind ?? 'stateRoot']
  const found = now === null ? `the contract has no ${what} of it` : `its ${what} is ${now.value}`
  throw undone(trusted, last, l1Block, found)
}

function undone(trusted: L1Mark | null, l2BlockNumber: bigint, l1Block: L1Block, now: string): EndpointError {
  const nameOf = ({ number, hash }: L1Mark) => `L1 block ${number} (${hash})`
  const before = trusted === null ? 'the start' : nameOf(trusted)
  const found = `L2 block ${l2BlockNumber} was final at ${before}, and at ${nameOf(l1Block)} ${now}`
  return new EndpointError('L1_DISAGREEMENT', { found, layer: 'L1' })
}
