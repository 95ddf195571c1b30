import { keccak_256 } from '@noble/hashes/sha3.js'
import { mappingSlot } from '../../src/anchor/slots.ts'
import { encodeHeader } from '../../src/anchor.ts'
import { bytesToHex } from '../../src/bytes.ts'
import type { Hex } from '../../src/index.ts'
import { createL1, named } from './l1.ts'
import { BLOCK, keccakOf, rollup, rootSlot, type Truth, toBytes } from './truth.ts'

/** What a contract hashed when it last finalized. */
export interface Numbers {
  message: bigint
  /** Left out for a contract before version 8. */
  forced?: bigint
  timestamp: bigint
}

const word = (value: bigint): string => value.toString(16).padStart(64, '0')
const quantity = (value: bigint): Hex => `0x${value.toString(16)}`

/** As a bundle spells it. */
export const stated = ({ message, forced, timestamp }: Numbers) => ({
  messageNumber: quantity(message),
  ...(forced !== undefined && { forcedTransactionNumber: quantity(forced) }),
  timestamp: quantity(timestamp),
})

const hashSlot = 447n
const messageSlot = (message: bigint) => BigInt(mappingSlot(334n, message))
const forcedSlot = (forced: bigint) => BigInt(mappingSlot(452n, forced))

/** A message or forced transaction has a rolling hash; number 0 stands for none. */
const rollingHash = (kind: string, number: bigint): bigint => (number === 0n ? 0n : BigInt(named(`${kind} ${number}`)))

/** An L1 whose contract keeps the hash of these numbers for its newest finalization, by default of {@link BLOCK}. */
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
  /** The honest `eth_getProof` answer for whoever states these numbers. */
  const prove = (stated: Numbers = numbers) => {
    const keys = [hashSlot, messageSlot(stated.message)]
    if (stated.forced !== undefined) keys.push(forcedSlot(stated.forced))
    return l1.getProof(rollup.address, [rootSlot(BLOCK), 281n, ...keys])
  }
  return { stateRoot: l1.stateRoot, header, blockHash: keccakOf(header), prove }
}
