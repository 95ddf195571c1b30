import type { L1Block } from '../../verify/anchor/header.ts'
import type { Hint, ListRange } from '../l1/finalizations.ts'
import type { Anchor } from '../l1/l1.ts'
import { EndpointError } from '../transport/error.ts'
import type { Finalized, L1Mark, Position } from './follow-state.ts'

/** How far a follower is, as data: every step makes a new one. */
export interface Course extends Position {
  /** The newest L1 block that was looked at. */
  readonly trusted: L1Mark | null
  /** Not yielded yet, oldest first: all that was finalized after `mark` and up to `trusted`. */
  readonly pending: readonly Hint[]
  /** Rounds in a row without the proofs of the next finalization. */
  readonly missingRounds: number
}

export const beginAt = (position: Position): Course => ({
  ...position,
  trusted: position.mark,
  pending: [],
  missingRounds: 0,
})

/** If nothing is left, all that was finalized up to the trusted block is done. */
export function keeping(course: Course, isKept: (hint: Hint) => boolean): Course {
  const pending = course.pending.filter(isKept)
  return { ...course, pending, mark: pending.length === 0 ? course.trusted : course.mark }
}

/** Whether the L1 block can show anything new. A source that lags behind the last trusted block has nothing new. */
export function isAhead({ trusted }: Course, { number, hash }: L1Block): boolean {
  if (trusted?.number !== number || trusted.hash === hash) return trusted === null || number >= trusted.number
  throw disagreement(`L1 block ${number} had the hash ${trusted.hash}, and has the hash ${hash} now`)
}

/** What to list. @param from where to begin if none was yielded yet. Default: with the newest */
export function newRange(course: Course, l1Block: L1Block, newest: bigint, from = newest): ListRange | null {
  const { last, mark, trusted, pending } = course
  const known = pending.at(-1)?.l2BlockNumber ?? last?.l2BlockNumber
  if (known !== undefined && newest < known) throw undone(trusted, known, l1Block, `only ${newest} is`)
  const after = known ?? from - 1n
  // If `from` is ahead of the chain, nothing is listed yet, and nothing is missed.
  const l1After = (pending.length === 0 ? mark : trusted)?.number ?? null
  return newest > after ? { after, newest, l1After, l1Block } : null
}

/**
 * Fails if the contract no longer names what was yielded last: the L1 block is of another chain.
 *
 * @param now what the contract holds for it now; null if nothing of its kind, which is proven too
 */
export function verifyLast({ trusted }: Course, last: Finalized, l1Block: L1Block, now: Anchor | null): void {
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
