import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex } from '../../src/base/bytes.ts'
import { encodeHeader } from '../../src/entry/anchor.ts'
import type { Hex } from '../../src/entry/index.ts'
import { mappingSlot } from '../../src/verify/anchor/contract.ts'
import { createL1, named } from './l1.ts'
import { BLOCK, keccakOf, rollup, rootSlot, type Truth, toBytes } from './truth.ts'

/** The numbers that a contract hashed in its last finalization. */
export interface Numbers {
  message: bigint
  /** Absent in contracts before version 8. */
  forced?: bigint
  timestamp: bigint
}

const word = (value: bigint): string => value.toString(16).padStart(64, '0')
const quantity = (value: bigint): Hex => `0x${value.toString(16)}`

/** The numbers in the form of a bundle. */
export const stated = ({ message, forced, timestamp }: Numbers) => ({
  messageNumber: quantity(message),
  ...(forced !== undefined && { forcedTransactionNumber: quantity(forced) }),
  timestamp: quantity(timestamp),
})

const hashSlot = 447n
const messageSlot = (message: bigint) => BigInt(mappingSlot({ slot: 334n, keys: [message] }))
const forcedSlot = (forced: bigint) => BigInt(mappingSlot({ slot: 452n, keys: [forced] }))

/** The rolling hash of a message or forced transaction. Number 0 means none. */
const rollingHash = (kind: string, number: bigint): bigint => (number === 0n ? 0n : BigInt(named(`${kind} ${number}`)))

/** An L1 whose contract keeps the hash of these numbers for its newest finalization. Default block: {@link BLOCK}. */
export async function makeFinalized({ stateRoot, storage }: Truth, numbers: Numbers, current = BLOCK) {
  const { message, forced, timestamp } = numbers
  const slots: [bigint, bigint][] = [[messageSlot(message), rollingHash('message', message)]]
  if (forced !== undefined) slots.push([forcedSlot(forced), rollingHash('forced transaction', forced)])
  const words = [message, rollingHash('message', message)]
  if (forced !== undefined) words.push(forced, rollingHash('forced transaction', forced))
  const hash = bytesToHex(keccak_256(toBytes(`0x${[...words, timestamp].map(word).join('')}`)))
  const nonZero = slots.filter(([, value]) => value !== 0n)
  const l1 = await createL1(
    rollup.address,
    new Map([...storage, [rootSlot(BLOCK), BigInt(stateRoot)], [281n, current], [hashSlot, BigInt(hash)], ...nonZero]),
  )
  const header = encodeHeader(l1.block)
  /** The honest `eth_getProof` answer for these stated numbers. */
  const prove = (stated: Numbers = numbers) => {
    const keys = [hashSlot, messageSlot(stated.message)]
    if (stated.forced !== undefined) keys.push(forcedSlot(stated.forced))
    return l1.getProof(rollup.address, [rootSlot(BLOCK), 281n, ...keys])
  }
  return { stateRoot: l1.stateRoot, header, blockHash: keccakOf(header), prove }
}
