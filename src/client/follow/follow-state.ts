import { bytesToHex, type Hex } from '../../base/bytes.ts'
import { ArgumentError, isProofError, ProofError } from '../../base/errors.ts'
import { decodeQuantity, encodeQuantity } from '../../base/hex.ts'
import { optional } from '../../base/json/decoders.ts'
import { readerOf } from '../../base/json/reader.ts'
import type { L1Block } from '../../verify/anchor/header.ts'
import type { HeldValue } from '../../verify/anchor/rollup.ts'
import type { Hint, ListRange } from '../l1/finalizations.ts'
import { EndpointError } from '../transport/error.ts'

/** How far a rollup has been followed: small, plain JSON. Store it, and pass it to `followFinalizations` to continue. */
export interface FollowProgress {
  /** The version of this format. */
  version: 1
  /** The rollup contract on L1, 20 bytes. */
  rollup: Hex
  /** The last L2 block of the newest finalization that was yielded. A quantity. */
  l2BlockNumber: Hex
  /** The root of its state, 32 bytes, which the contract must still name later; omitted by versions before 4. */
  stateRoot?: Hex
  /** In place of the root: the hash of the block, 32 bytes, if that is what the contract holds. */
  blockHash?: Hex
  /** The code of the contract, 20 bytes, as it was then; omitted by versions before 4. */
  implementation?: Hex
  /** The L1 block up to which every finalization has been yielded; omitted if there is none. */
  l1Block?: {
    /** A quantity. */
    number: Hex
    /** 32 bytes. It was trusted when it was stored, and stays true. */
    hash: Hex
  }
}

/** A trusted L1 block. */
interface L1Mark {
  readonly number: bigint
  readonly hash: Hex
}

/** What the contract holds for an L2 block, 32 bytes. */
export interface Held {
  readonly kind: HeldValue
  readonly value: Hex
}

export const heldIn = ({ stateRoot, blockHash }: { stateRoot?: Hex | undefined; blockHash: Hex | undefined }): Held =>
  blockHash === undefined ? { kind: 'stateRoot', value: stateRoot ?? '0x' } : { kind: 'blockHash', value: blockHash }

export interface Position {
  readonly l2BlockNumber: bigint
  readonly held: Held | null
  readonly implementation: Hex | null
  readonly mark: L1Mark | null
}

const reader = readerOf('MALFORMED_RESPONSE')
const bytes = (length: number) => (value: unknown) => bytesToHex(reader.bytesOf(length)(value))

export function writeState(rollup: Hex, { l2BlockNumber, held, implementation, mark }: Position): FollowProgress {
  const l1Block = mark && { number: encodeQuantity(mark.number), hash: mark.hash }
  const last = { l2BlockNumber: encodeQuantity(l2BlockNumber), ...(held && { [held.kind]: held.value }) }
  return { version: 1, rollup, ...last, ...(implementation && { implementation }), ...(l1Block && { l1Block }) }
}

const FIELDS = ['version', 'rollup', 'l2BlockNumber', 'stateRoot', 'blockHash', 'implementation', 'l1Block'] as const

/** @throws ArgumentError if it is not a state, or one of another rollup */
export function readState(state: unknown, rollup: Hex): Position {
  try {
    const field = reader.fieldsOf(state, FIELDS)
    if (field('version', reader.number) !== 1) throw invalid('it is of another version')
    if (field('rollup', bytes(20)) !== rollup) throw invalid('it is of another rollup')
    const [stateRoot, blockHash] = [field('stateRoot', optional(bytes(32))), field('blockHash', optional(bytes(32)))]
    if (stateRoot !== undefined && blockHash !== undefined) throw invalid(FOREIGN)
    return {
      l2BlockNumber: field('l2BlockNumber', readQuantity),
      held: stateRoot === undefined && blockHash === undefined ? null : heldIn({ stateRoot, blockHash }),
      implementation: field('implementation', optional(bytes(20))) ?? null,
      mark: field('l1Block', optional(readMark)) ?? null,
    }
  } catch (error) {
    if (isProofError(error)) throw invalid(FOREIGN)
    throw error
  }
}

function readMark(l1Block: unknown): L1Mark {
  const field = reader.fieldsOf(l1Block, ['number', 'hash'])
  return { number: field('number', readQuantity), hash: field('hash', bytes(32)) }
}

const FOREIGN = 'it is not what followFinalizations handed out'
const invalid = (why: string) => new ArgumentError({ path: 'resumeFrom', found: why })

function readQuantity(value: unknown): bigint {
  const quantity = decodeQuantity(value, 64)
  if (quantity === null) throw new ProofError('MALFORMED_RESPONSE')
  return quantity
}

/** How far a follower is. Every step makes a new one. */
interface Course {
  /** The L2 block that was yielded last. */
  readonly last: bigint | null
  /** What the contract held for it; null if that is unknown. */
  readonly held: Held | null
  /** The code of the contract when it was last looked at; null if that is unknown. */
  readonly implementation: Hex | null
  /** Everything finalized up to this L1 block has been yielded. */
  readonly mark: L1Mark | null
  /** The newest trusted L1 block. */
  readonly trusted: L1Mark | null
  /** Not yielded yet, oldest first: all that was finalized after `mark` and up to `trusted`. */
  readonly pending: readonly Hint[]
}

export const beginAt = (position: Position | null): Course => {
  const { l2BlockNumber: last, ...known } = position ?? {
    l2BlockNumber: null,
    held: null,
    implementation: null,
    mark: null,
  }
  return { last, ...known, trusted: known.mark, pending: [] }
}

/** Whether the L1 block can show anything new. A source that lags behind the last trusted block has nothing new. */
export function isAhead({ trusted }: Course, { number, hash }: L1Block): boolean {
  if (trusted?.number !== number || trusted.hash === hash) return trusted === null || number >= trusted.number
  const found = `L1 block ${number} had the hash ${trusted.hash}, and has the hash ${hash} now`
  throw new EndpointError('L1_DISAGREEMENT', { found, layer: 'L1' })
}

/**
 * The finalizations that are new at an L1 block; null if there are none.
 *
 * @param newest the last one, which is proven
 * @param from where to begin if none was yielded yet. Default: with the newest
 */
export function newRange(
  { last, trusted, pending }: Course,
  l1Block: L1Block,
  newest: bigint,
  from: bigint | undefined,
): ListRange | null {
  const known = pending.at(-1)?.l2BlockNumber ?? last
  if (known !== null && newest < known) throw undone(trusted, known, l1Block, `only ${newest} is`)
  const after = known ?? (from ?? newest) - 1n
  // If `from` is ahead of the chain, nothing is listed yet, and nothing is missed.
  return newest > after ? { after, newest, l1After: trusted?.number ?? null, l1Block } : null
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

/** Everything up to the L1 block is listed. */
export const listed = (progress: Course, hints: readonly Hint[], { number, hash }: L1Block): Course =>
  keeping({ ...progress, pending: [...progress.pending, ...hints], trusted: { number, hash } }, () => true)

/** The finalization was yielded, and with it those before it. */
export const yielded = (progress: Course, l2BlockNumber: bigint, held: Held): Course => ({
  ...keeping(progress, hint => hint.l2BlockNumber > l2BlockNumber),
  ...{ last: l2BlockNumber, held },
})

/** The finalization is skipped, or never was one. */
export const without = (progress: Course, skipped: Hint): Course =>
  keeping(progress, hint => hint.l2BlockNumber !== skipped.l2BlockNumber)

/** Without what only these endpoints named, if another listed it too: they have named what never was. */
export const withoutInventions = (progress: Course, inventors: ReadonlySet<number>): Course =>
  keeping(
    progress,
    ({ namedBy, listedBy }) =>
      namedBy.some(index => !inventors.has(index)) || listedBy.every(index => inventors.has(index)),
  )

function keeping(progress: Course, isKept: (hint: Hint) => boolean): Course {
  const pending = progress.pending.filter(isKept)
  return { ...progress, pending, mark: pending.length === 0 ? progress.trusted : progress.mark }
}

/** What to prove next, and what to try if no endpoint has its proofs. */
export function candidatesOf({ pending }: Course, newestOnly: boolean): readonly Hint[] {
  return newestOnly ? [...pending].reverse() : [...pending.slice(0, 1), ...pending.slice(1).slice(-1)]
}
