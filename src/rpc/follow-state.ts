import type { Hex } from '../bytes.ts'
import { bytesToHex, hexToBytes } from '../bytes.ts'
import { ProofError } from '../errors.ts'
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

export function writeState(rollup: Hex, { l2BlockNumber, mark }: Position): FollowState {
  const l1Block = mark && { number: quantity(mark.number), hash: mark.hash }
  return { version: 1, rollup, l2BlockNumber: quantity(l2BlockNumber), ...(l1Block && { l1Block }) }
}

/** @throws RpcError `ARGUMENT_INVALID` if it is not a state, or one of another rollup */
export function readState(state: unknown, rollup: Hex): Position {
  try {
    const fields = reader.fields(state, ['version', 'rollup', 'l2BlockNumber', 'l1Block'])
    if (fields.version !== 1) throw invalid('it is of another version')
    if (bytesToHex(reader.bytes(fields.rollup, 20)) !== rollup) throw invalid('it is of another rollup')
    const l2BlockNumber = readQuantity(fields.l2BlockNumber)
    if (fields.l1Block === undefined) return { l2BlockNumber, mark: null }
    const { number, hash } = reader.fields(fields.l1Block, ['number', 'hash'])
    const mark = { number: readQuantity(number), hash: bytesToHex(hexToBytes(reader.string(hash), 32)) }
    return { l2BlockNumber, mark }
  } catch (error) {
    if (error instanceof ProofError) throw invalid('it is not what followFinalizations handed out')
    throw error
  }
}

const invalid = (why: string) => new RpcError('ARGUMENT_INVALID', { found: `state: ${why}` })

const quantity = (value: bigint): Hex => `0x${value.toString(16)}`

function readQuantity(value: unknown): bigint {
  const text = reader.string(value)
  if (!/^0x(?:0|[1-9a-f][0-9a-f]{0,15})$/.test(text)) throw invalid('it is not what followFinalizations handed out')
  return BigInt(text)
}
