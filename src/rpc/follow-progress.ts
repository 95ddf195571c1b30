import type { L1Block } from '../anchor/header.ts'
import { RpcError } from './error.ts'
import type { Hint, ListRange } from './finalizations.ts'
import type { L1Mark, Position } from './follow-state.ts'

/** How far a follower is. Every step makes a new one. */
export interface FollowProgress {
  /** The L2 block that was yielded last. */
  readonly last: bigint | null
  /** Everything finalized up to this L1 block has been yielded. */
  readonly mark: L1Mark | null
  /** The newest trusted L1 block. */
  readonly trusted: L1Mark | null
  /** Not yielded yet, oldest first: all that was finalized after `mark` and up to `trusted`. */
  readonly pending: readonly Hint[]
}

export const beginAt = (position: Position | null): FollowProgress => {
  const mark = position?.mark ?? null
  return { last: position?.l2BlockNumber ?? null, mark, trusted: mark, pending: [] }
}

/** Whether the L1 block can show anything new. A source that lags behind the last trusted block has nothing new. */
export function isAhead({ trusted }: FollowProgress, { number, hash }: L1Block): boolean {
  if (trusted?.number !== number || trusted.hash === hash) return trusted === null || number >= trusted.number
  const found = `L1 block ${number} had the hash ${trusted.hash}, and has the hash ${hash} now`
  throw new RpcError('L1_DISAGREEMENT', { found, layer: 'L1' })
}

/**
 * The finalizations that are new at an L1 block; null if there are none.
 *
 * @param newest the last one, which is proven
 * @param from where to begin if none was yielded yet. Default: with the newest
 */
export function newRange(
  { last, trusted, pending }: FollowProgress,
  l1Block: L1Block,
  newest: bigint,
  from: bigint | undefined,
): ListRange | null {
  const known = pending.at(-1)?.l2BlockNumber ?? last
  if (known !== null && newest < known) {
    const nameOf = ({ number, hash }: L1Mark) => `L1 block ${number} (${hash})`
    const before = trusted === null ? 'the start' : nameOf(trusted)
    const found = `L2 block ${known} was final at ${before}, and at ${nameOf(l1Block)} only ${newest} is`
    throw new RpcError('L1_DISAGREEMENT', { found, layer: 'L1' })
  }
  const after = known ?? (from ?? newest) - 1n
  // If `from` is ahead of the chain, nothing is listed yet, and nothing is missed.
  return newest > after ? { after, newest, l1After: trusted?.number ?? null, l1Block } : null
}

/** Everything up to the L1 block is listed. */
export const listed = (progress: FollowProgress, hints: readonly Hint[], { number, hash }: L1Block): FollowProgress =>
  keeping({ ...progress, pending: [...progress.pending, ...hints], trusted: { number, hash } }, () => true)

/** The finalization was yielded, and with it those before it. */
export const yielded = (progress: FollowProgress, l2BlockNumber: bigint): FollowProgress => ({
  ...keeping(progress, hint => hint.l2BlockNumber > l2BlockNumber),
  last: l2BlockNumber,
})

/** The finalization is skipped, or never was one. */
export const without = (progress: FollowProgress, skipped: Hint): FollowProgress =>
  keeping(progress, hint => hint.l2BlockNumber !== skipped.l2BlockNumber)

function keeping(progress: FollowProgress, isKept: (hint: Hint) => boolean): FollowProgress {
  const pending = progress.pending.filter(isKept)
  return { ...progress, pending, mark: pending.length === 0 ? progress.trusted : progress.mark }
}

/** What to prove next, and what to try if no endpoint has its proofs. */
export function candidatesOf({ pending }: FollowProgress, newestOnly: boolean): readonly Hint[] {
  return newestOnly ? [...pending].reverse() : [...pending.slice(0, 1), ...pending.slice(1).slice(-1)]
}
