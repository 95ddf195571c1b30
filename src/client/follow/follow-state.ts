import { bytesToHex, type Hex } from '../../base/bytes.ts'
import { ArgumentError, isProofError, ProofError } from '../../base/errors.ts'
import { decodeQuantity, encodeQuantity } from '../../base/hex.ts'
import { optional } from '../../base/json/decoders.ts'
import { readerOf } from '../../base/json/reader.ts'
import type { L1Block } from '../../verify/anchor/header.ts'
import type { Hint, ListRange } from '../l1/finalizations.ts'
import type { Anchor } from '../l1/l1.ts'
import { EndpointError } from '../transport/error.ts'

/** How far a rollup has been followed: small, plain JSON. Store it, and pass it to `followFinalizations` to continue. */
export interface FollowProgress {
  /** The version of this format. */
  version: 1
  /** The rollup contract on L1, 20 bytes. */
  rollup: Hex
  /** The last L2 block of the newest finalization that was yielded. A quantity. */
  l2BlockNumber: Hex
  /** The root of its state, 32 bytes, which the contract must still name later. */
  stateRoot?: Hex
  /** In place of the root: the hash of the block, 32 bytes, if that is what the contract holds. */
  blockHash?: Hex
  /** The code of the contract, 20 bytes, as it was then. */
  implementation: Hex
  /** The L1 block from which it was proven. */
  l1Block: {
    /** A quantity. */
    number: Hex
    /** 32 bytes. It was trusted when it was stored, and stays true. */
    hash: Hex
  }
}

export type L1Mark = Pick<L1Block, 'number' | 'hash'>

/** A finalization that was proven, and what the contract holds for it: the root of the state, or the hash of the block. */
export interface Finalized {
  readonly l2BlockNumber: bigint
  readonly stateRoot: Hex | undefined
  readonly blockHash: Hex | undefined
  /** The code of the contract then. */
  readonly implementation: Hex
}

/** How far a follower is, as data: every step makes a new one. */
export interface Course {
  /** What was yielded last. */
  readonly last: Finalized | null
  /** The newest L1 block that was looked at. */
  readonly trusted: L1Mark | null
  /** Everything finalized up to this L1 block was yielded, or is to be. */
  readonly listedTo: bigint | null
  /** Not yielded yet, oldest first. */
  readonly pending: readonly Hint[]
  /** Rounds in a row without the proofs of the next finalization. */
  readonly missingRounds: number
}

const reader = readerOf('MALFORMED_RESPONSE')
const bytes = (length: number) => (value: unknown) => bytesToHex(reader.bytesOf(length)(value))

export function writeState(rollup: Hex, last: Finalized, { number, hash }: L1Mark): FollowProgress {
  const { stateRoot, blockHash, implementation } = last
  return {
    version: 1,
    rollup,
    l2BlockNumber: encodeQuantity(last.l2BlockNumber),
    ...(stateRoot && { stateRoot }),
    ...(blockHash && { blockHash }),
    implementation,
    l1Block: { number: encodeQuantity(number), hash },
  }
}

const FIELDS = ['version', 'rollup', 'l2BlockNumber', 'stateRoot', 'blockHash', 'implementation', 'l1Block'] as const

/** Where to begin. @param state null for a new one @throws ArgumentError if it is not a state, or one of another rollup */
export function readState(state: unknown, rollup: Hex): Course {
  const begun = { last: null, trusted: null, listedTo: null, pending: [], missingRounds: 0 }
  if (state === null) return begun
  try {
    const field = reader.fieldsOf(state, FIELDS)
    if (field('version', reader.number) !== 1) throw invalid('it is of another version')
    if (field('rollup', bytes(20)) !== rollup) throw invalid('it is of another rollup')
    const [stateRoot, blockHash] = [field('stateRoot', optional(bytes(32))), field('blockHash', optional(bytes(32)))]
    if ((stateRoot === undefined) === (blockHash === undefined)) throw invalid(FOREIGN)
    const [l2BlockNumber, implementation] = [field('l2BlockNumber', readQuantity), field('implementation', bytes(20))]
    const last = { l2BlockNumber, stateRoot, blockHash, implementation }
    return { ...begun, last, trusted: field('l1Block', readMark) }
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

/** Whether the L1 block can show anything new. A source that lags behind the last trusted block has nothing new. */
export function isAhead({ trusted }: Course, { number, hash }: L1Block): boolean {
  if (trusted?.number !== number || trusted.hash === hash) return trusted === null || number >= trusted.number
  throw disagreement(`L1 block ${number} had the hash ${trusted.hash}, and has the hash ${hash} now`)
}

/** What to list. @param from where to begin if none was yielded yet. Default: with the newest */
export function newRange(course: Course, l1Block: L1Block, newest: bigint, from = newest): ListRange | null {
  const { last, trusted, listedTo: l1After, pending } = course
  const known = pending.at(-1)?.l2BlockNumber ?? last?.l2BlockNumber
  if (known !== undefined && newest < known) throw undone(trusted, known, l1Block, `only ${newest} is`)
  const after = known ?? from - 1n
  // If `from` is ahead of the chain, nothing is listed yet, and nothing is missed.
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
