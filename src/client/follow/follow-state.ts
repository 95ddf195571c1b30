import { bytesToHex, type Hex } from '../../base/bytes.ts'
import { ArgumentError, isProofError, ProofError } from '../../base/errors.ts'
import { decodeQuantity, encodeQuantity } from '../../base/hex.ts'
import { optional } from '../../base/json/decoders.ts'
import { readerOf } from '../../base/json/reader.ts'
import type { HeldValue } from '../../verify/anchor/rollup.ts'

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

export interface L1Mark {
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
