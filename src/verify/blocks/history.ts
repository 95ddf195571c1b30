import { decodeArgument, invalid, readItems } from '../../base/arguments.ts'
import { bytesToHex, type Hex, isZero } from '../../base/bytes.ts'
import { atPath, ProofError, refusal } from '../../base/errors.ts'
import { readerOf } from '../../base/json/reader.ts'
import { readHex, readOptions, verifyUint } from '../../base/options.ts'
import { slotKey } from '../anchor/slots.ts'

/** How many blocks back the contract remembers: the size of its ring of slots. */
export const WINDOW = 8191n

/**
 * The address of the contract that keeps the hashes of the last 8,191 blocks (EIP-2935), the same on every chain.
 *
 * @example
 * ```ts
 * import { historyContract } from 'rollup-state-proof/blocks'
 *
 * console.log(historyContract) // 0x0000f90827f1c53a10cb7a02335b175320002935
 * ```
 */
export const historyContract: Hex = '0x0000f90827f1c53a10cb7a02335b175320002935'

/**
 * The storage slot of {@link historyContract} for the hash of a block, 32 bytes: the number modulo 8191.
 *
 * @param number the block's number, below 2^64
 * @throws ArgumentError
 *
 * @example
 * ```ts
 * import { historySlot } from 'rollup-state-proof/blocks'
 *
 * console.log(BigInt(historySlot(8191n * 3n + 5n))) // 5n
 * ```
 */
export const historySlot = (number: bigint): Hex => slotKey(verifyUint('number', number, 64) % WINDOW)

/** Which hash is asked for, in the state of which block. */
export interface HistoryClaim {
  /** Number of the block whose hash is asked for. */
  number: bigint
  /** Number of the block after which the state is as proven. */
  stateBlock: bigint
}

/** What is proven about a contract, such as {@link historyContract}: the result of `verifyProof`, or these parts of it. */
export interface ProvenHistory {
  /** null if the contract is proven absent. */
  account: object | null
  /** The proven slots, in any order: the one that is read must be one of them. */
  storage: readonly {
    /** 32 bytes. */
    key: Hex
    /** 32 bytes. */
    value: Hex
  }[]
}

/** The first block whose hash the state after a block holds. */
export const firstInWindow = (stateBlock: bigint): bigint => (stateBlock > WINDOW ? stateBlock - WINDOW : 0n)

const reader = /* @__PURE__ */ readerOf('ARGUMENT_INVALID')

/**
 * The hash of a block, from a proven slot of {@link historyContract}. The state after block n holds the hashes of the blocks
 * n - 8191 to n - 1, and each slot is shared by blocks 8,191 apart: therefore both numbers count. The hash is committed by the
 * state root: the operator of the rollup vouches for it as for every other slot, an endpoint cannot change it.
 *
 * @param proven what `verifyProof` returned for the address {@link historyContract}
 * @param claim the block whose hash is asked for, and the block of the state
 * @returns 32 bytes
 * @throws ProofError `HISTORY_OUTSIDE_WINDOW`, `HISTORY_NO_CONTRACT`, `HISTORY_NO_HASH`; ArgumentError
 *
 * @example
 * ```ts
 * import { readBlockHash, historySlot } from 'rollup-state-proof/blocks'
 *
 * // In place of these two, pass what verifyProof returned for historyContract and [historySlot(99n)].
 * const [account, value] = [{}, `0x${'ab'.repeat(32)}`] as const
 * const hash = readBlockHash({ account, storage: [{ key: historySlot(99n), value }] }, { number: 99n, stateBlock: 100n })
 * console.log(hash === value) // true
 * ```
 */
export function readBlockHash(proven: ProvenHistory, claim: HistoryClaim): Hex {
  const { number, stateBlock } = decodeClaim(claim)
  const { account, value } = atPath('proven', () => decodeProven(proven, historySlot(number)))
  if (number >= stateBlock || stateBlock - number > WINDOW) {
    throw refusal('HISTORY_OUTSIDE_WINDOW', `a block from ${firstInWindow(stateBlock)} to ${stateBlock - 1n}`, number)
  }
  if (account === null) throw new ProofError('HISTORY_NO_CONTRACT', { expected: `an account ${historyContract}` })
  if (isZero(value)) throw refusal('HISTORY_NO_HASH', `the hash of block ${number}`, 'zero')
  return bytesToHex(value)
}

function decodeClaim(claim: HistoryClaim): HistoryClaim {
  const { number, stateBlock } = readOptions('', claim, ['number', 'stateBlock'])
  return { number: verifyUint('number', number, 64), stateBlock: verifyUint('stateBlock', stateBlock, 64) }
}

export function decodeProven(proven: ProvenHistory, slot: Hex): { account: object | null; value: Uint8Array } {
  const { account, storage } = readOptions('', proven, ['account', 'storage'])
  if (typeof account !== 'object') throw invalid('account', 'an account, or null', account)
  const slots = readItems('storage', storage, item => {
    const { key, value } = reader.fields(item, ['key', 'value'])
    return { key: readHex('key', key, 32), value: decodeArgument('value', value, 32) }
  })
  const found = slots.find(({ key }) => key === slot)
  if (found === undefined) throw invalid('storage', `the slot ${slot}`, storage)
  return { account, value: found.value }
}
