import { bytesToHex, type Hex } from '../bytes.ts'
import { ProofError } from '../errors.ts'
import { decodeQuantity, encodeQuantity } from '../hex.ts'
import { optional } from '../json/optional.ts'
import { readerOf } from '../json/reader.ts'
import { RpcError } from './error.ts'

/** How far a rollup has been followed: small, plain JSON. Store it, and pass it to `followFinalizations` to continue. */
export interface FollowState {
  /** The version of this format. */
  version: 1
  /** The rollup contract on L1, 20 bytes. */
  rollup: Hex
  /** The last L2 block of the newest finalization that was yielded. A quantity. */
  l2BlockNumber: Hex
  /** The L1 block up to which every finalization has been yielded; omitted if there is none. */
  l1Block?: {
    /** A quantity. */
    number: Hex
    /** 32 bytes. It was trusted when it was stored, and stays true. */
    hash: Hex
  }
}

/** A trusted L1 block. */
export interface L1Mark {
  readonly number: bigint
  readonly hash: Hex
}

export interface Position {
  readonly l2BlockNumber: bigint
  readonly mark: L1Mark | null
}

const reader = readerOf('MALFORMED_RESPONSE')
const bytes = (length: number) => (value: unknown) => bytesToHex(reader.bytesOf(length)(value))

export function writeState(rollup: Hex, { l2BlockNumber, mark }: Position): FollowState {
  const l1Block = mark && { number: encodeQuantity(mark.number), hash: mark.hash }
  return { version: 1, rollup, l2BlockNumber: encodeQuantity(l2BlockNumber), ...(l1Block && { l1Block }) }
}

/** @throws RpcError `ARGUMENT_INVALID` if it is not a state, or one of another rollup */
export function readState(state: unknown, rollup: Hex): Position {
  try {
    const field = reader.fieldsOf(state, ['version', 'rollup', 'l2BlockNumber', 'l1Block'])
    if (field('version', reader.number) !== 1) throw invalid('it is of another version')
    if (field('rollup', bytes(20)) !== rollup) throw invalid('it is of another rollup')
    return { l2BlockNumber: field('l2BlockNumber', readQuantity), mark: field('l1Block', optional(readMark)) ?? null }
  } catch (error) {
    if (error instanceof ProofError) throw invalid(FOREIGN)
    throw error
  }
}

function readMark(l1Block: unknown): L1Mark {
  const field = reader.fieldsOf(l1Block, ['number', 'hash'])
  return { number: field('number', readQuantity), hash: field('hash', bytes(32)) }
}

const FOREIGN = 'it is not what followFinalizations handed out'
const invalid = (why: string) => new RpcError('ARGUMENT_INVALID', { found: `state: ${why}` })

function readQuantity(value: unknown): bigint {
  const quantity = decodeQuantity(value, 64)
  if (quantity === null) throw invalid(FOREIGN)
  return quantity
}
