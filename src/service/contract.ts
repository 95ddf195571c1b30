import { keccak_256 } from '@noble/hashes/sha3.js'
import { encodeRlp } from '../anchor/rlp.ts'
import { lineaLayout, type Rollup } from '../anchor/rollup.ts'
import { mappingSlot, slotKey } from '../anchor/slots.ts'
import { bigintToBytes, bytesToHex, concatBytes, type Hex, hexToBytes } from '../bytes.ts'
import { putEntry, type Trie } from './growing-trie.ts'

/** The version of the rollup contract on the simulated L1. Version 8 added forced transactions. */
export type ContractVersion = 7 | 8

/** A finalization, as submitted to the rollup contract. */
export interface Finalization {
  /** The last L2 block that it finalizes. */
  readonly l2BlockNumber: bigint
  /** The root of the L2 state at that block, 32 bytes. */
  readonly stateRoot: Hex
  /** The time of that block, in seconds since 1970. */
  readonly timestamp: bigint
}

/** The log that the contract emits for a finalization. */
export interface FinalizationLog {
  /** 32 bytes each. */
  readonly topics: readonly Hex[]
  readonly data: Hex
}

const EVENTS: Readonly<Record<ContractVersion, string>> = {
  7: 'FinalizedStateUpdated(uint256,uint256,uint256)',
  8: 'FinalizedStateUpdated(uint256,uint256,uint256,uint256)',
}

/**
 * The storage of the rollup contract after a finalization, and the log that the contract emits.
 *
 * @param count number of earlier finalizations; it determines how many messages have arrived from L1
 */
export function writeFinalization(
  storage: Trie,
  { l2BlockNumber, stateRoot, timestamp }: Finalization,
  { rollup, version, count }: { rollup: Rollup; version: ContractVersion; count: number },
): { storage: Trie; log: FinalizationLog } {
  const { stateRootHashes, currentL2BlockNumber, finalizedState: stated } = rollup.layout ?? lineaLayout
  const slots = stated ?? lineaLayout.finalizedState
  // Two finalizations in three bring a message from L1, and one in four a forced transaction.
  const messageNumber = BigInt(Math.floor((2 * count + 1) / 3))
  const forcedNumber = version === 8 ? BigInt(Math.floor(count / 4)) : 0n
  const messageHash = rollingHash('message', messageNumber)
  const forcedHash = rollingHash('forced transaction', forcedNumber)
  const forced = version === 8 ? [forcedNumber, forcedHash] : []
  const finalizedState = keccakWords([messageNumber, messageHash, ...forced, timestamp])

  const writes: [Hex, bigint][] = [
    [mappingSlot(stateRootHashes, l2BlockNumber), BigInt(stateRoot)],
    [slotKey(currentL2BlockNumber), l2BlockNumber],
    [slotKey(slots.currentFinalizedState), BigInt(finalizedState)],
    [mappingSlot(slots.rollingHashes, messageNumber), messageHash],
    [mappingSlot(slots.forcedTransactionRollingHashes, forcedNumber), forcedHash],
  ]
  // A zero slot is never stored.
  const changed = writes
    .filter(([, value]) => value !== 0n)
    .reduce((trie, [key, value]) => putEntry(trie, hexToBytes(key, 32), encodeRlp(integer(value))), storage)

  const numbers = version === 8 ? [timestamp, messageNumber, forcedNumber] : [timestamp, messageNumber]
  const topics = [bytesToHex(keccak_256(new TextEncoder().encode(EVENTS[version]))), slotKey(l2BlockNumber)]
  return { storage: changed, log: { topics, data: bytesToHex(concatBytes(...numbers.map(toWord))) } }
}

export const integer = (value: bigint): Uint8Array =>
  value === 0n ? new Uint8Array(0) : bigintToBytes(value, Math.ceil(value.toString(16).length / 2))

const toWord = (value: bigint): Uint8Array => bigintToBytes(value, 32)
const keccakWords = (words: readonly bigint[]): Hex => bytesToHex(keccak_256(concatBytes(...words.map(toWord))))

/** There are no actual messages, so their number is hashed in their place. Before the first one, the rolling hash is zero. */
const rollingHash = (kind: string, number: bigint): bigint =>
  number === 0n ? 0n : BigInt(bytesToHex(keccak_256(new TextEncoder().encode(`${kind} ${number}`))))
