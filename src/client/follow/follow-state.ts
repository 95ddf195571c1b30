import { bytesToHex, type Hex } from '../../base/bytes.ts'
import { ArgumentError, isProofError, ProofError } from '../../base/errors.ts'
import { decodeQuantity, encodeQuantity } from '../../base/hex.ts'
import { optional } from '../../base/json/decoders.ts'
import { readerOf } from '../../base/json/reader.ts'
import type { L1Block } from '../../verify/anchor/header.ts'

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
  /** The L1 block up to which every finalization has been yielded; omitted if there is none. */
  l1Block?: {
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

export interface Position {
  /** What was yielded last. */
  readonly last: Finalized | null
  /** Everything finalized up to this L1 block has been yielded. */
  readonly mark: L1Mark | null
}

const reader = readerOf('MALFORMED_RESPONSE')
const bytes = (length: number) => (value: unknown) => bytesToHex(reader.bytesOf(length)(value))

export function writeState(rollup: Hex, last: Finalized, mark: L1Mark | null): FollowProgress {
  const { stateRoot, blockHash, implementation } = last
  return {
    version: 1,
    rollup,
    l2BlockNumber: encodeQuantity(last.l2BlockNumber),
    ...(stateRoot && { stateRoot }),
    ...(blockHash && { blockHash }),
    implementation,
    ...(mark && { l1Block: { number: encodeQuantity(mark.number), hash: mark.hash } }),
  }
}

const FIELDS = ['version', 'rollup', 'l2BlockNumber', 'stateRoot', 'blockHash', 'implementation', 'l1Block'] as const

/** @throws ArgumentError if it is not a state, or one of another rollup */
export function readState(state: unknown, rollup: Hex): Position {
  try {
    const field = reader.fieldsOf(state, FIELDS)
    if (field('version', reader.number) !== 1) throw invalid('it is of another version')
    if (field('rollup', bytes(20)) !== rollup) throw invalid('it is of another rollup')
    const [stateRoot, blockHash] = [field('stateRoot', optional(bytes(32))), field('blockHash', optional(bytes(32)))]
    if ((stateRoot === undefined) === (blockHash === undefined)) throw invalid(FOREIGN)
    const l2BlockNumber = field('l2BlockNumber', readQuantity)
    return {
      last: { l2BlockNumber, stateRoot, blockHash, implementation: field('implementation', bytes(20)) },
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
