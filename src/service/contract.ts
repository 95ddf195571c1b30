import { keccak_256 } from '@noble/hashes/sha3.js'
import { finalizedStateTopics, hashFinalizedState } from '../anchor/finalized-state.ts'
import { decodeInteger, decodeRlp, encodeInteger, encodeRlp } from '../anchor/rlp.ts'
import { lineaLayout, lineaStateLayout, type Rollup } from '../anchor/rollup.ts'
import { mappingSlot, slotKey } from '../anchor/slots.ts'
import { bigintToBytes, bytesToBigint, bytesToHex, concatBytes, type Hex, hexToBytes } from '../bytes.ts'
import { lookUp, putEntry, type Trie } from './growing-trie.ts'

/** The version of the rollup contract on the simulated L1. Version 8 added forced transactions. */
export type ContractVersion = 7 | 8

/** A finalization, as submitted to the rollup contract. */
export interface Finalization {
  /** The last L2 block that it finalizes. */
  readonly l2BlockNumber: bigint
  /** The root of the L2 state at that block, 32 bytes. */
  readonly stateRoot: Hex
  /** The time of that block, in seconds since 1970. Default: that of the newest L1 block. */
  readonly timestamp?: bigint | undefined
}

/** A finalization whose time is known. */
export type TimedFinalization = Finalization & { readonly timestamp: bigint }

/** A finalization, the L1 block that contains it, and the log of the contract. */
export interface StoredFinalization extends TimedFinalization {
  readonly l1BlockNumber: bigint
}

/** A slot and its new value. */
export type Write = readonly [key: Hex, value: bigint]

/** What a transaction does to the contract. */
export interface ContractChange {
  readonly writes: readonly Write[]
  /** Topics of 32 bytes each. */
  readonly logs: readonly { readonly topics: readonly Hex[]; readonly data: Hex }[]
}

/** A log of the contract, and the L1 block that contains it. */
export type ContractLog = ContractChange['logs'][number] & { readonly l1BlockNumber: bigint }

/** What a finalization writes about messages. */
export interface Anchored extends ContractChange {
  /** Number of the last message from L1 that L2 has received. */
  readonly messageNumber: bigint
}

/** What a chain with messages tells the contract. */
export interface Bridge {
  /** What is in its storage before the first message. */
  readonly begin: readonly Write[]
  /** What to anchor for the L2 blocks from `first` to `last`. */
  anchor(first: bigint, last: bigint): Anchored
}

/** The rollup contract: its finalizations, and its storage after the newest of them. */
export function createContract(rollup: Rollup, version: ContractVersion, bridge?: Bridge) {
  let finalizations: StoredFinalization[] = []
  let logs: ContractLog[] = []
  /** Number of finalizations so far on this branch of L1, including pruned ones. */
  let count = 0
  let storage: Trie = write(null, bridge?.begin ?? [])
  const change = (made: ContractChange, l1BlockNumber: bigint) => {
    storage = write(storage, made.writes)
    logs.push(...made.logs.map(log => ({ ...log, l1BlockNumber })))
  }
  return {
    storage: () => storage,
    finalizations: (): readonly StoredFinalization[] => finalizations,
    /** Oldest first. */
    logs: (): readonly ContractLog[] => logs,
    change,
    finalize(finalization: TimedFinalization, l1BlockNumber: bigint): void {
      const after = finalizations.at(-1)?.l2BlockNumber ?? -1n
      const anchored = bridge?.anchor(after + 1n, finalization.l2BlockNumber)
      if (anchored) change(anchored, l1BlockNumber)
      change(changeOf(storage, finalization, { rollup, version, count, anchored }), l1BlockNumber)
      finalizations.push({ ...finalization, l1BlockNumber })
      count++
    },
    /** Undoes the finalizations above an L1 block. @param before the storage at that block @returns the newest of them */
    rewind(l1BlockNumber: bigint, before: Trie): TimedFinalization | undefined {
      const undone = finalizations.filter(finalization => finalization.l1BlockNumber > l1BlockNumber)
      finalizations = finalizations.filter(finalization => finalization.l1BlockNumber <= l1BlockNumber)
      logs = logs.filter(log => log.l1BlockNumber <= l1BlockNumber)
      count -= undone.length
      storage = before
      return undone.at(-1)
    },
    /** Prunes the finalizations below an L1 block. */
    forget(l1BlockNumber: bigint): void {
      finalizations = finalizations.filter(finalization => finalization.l1BlockNumber >= l1BlockNumber)
      logs = logs.filter(log => log.l1BlockNumber >= l1BlockNumber)
    },
  }
}

/** A zero slot is never stored. */
const write = (storage: Trie, writes: readonly Write[]): Trie =>
  writes
    .filter(([, value]) => value !== 0n)
    .reduce((trie, [key, value]) => putEntry(trie, hexToBytes(key, 32), encodeRlp(encodeInteger(value))), storage)

/** The value of a slot. */
export const readSlot = (storage: Trie, key: Hex): bigint => valueIn(lookUp(storage, hexToBytes(key, 32)).value)

/** @param entry what the trie holds; null if nothing */
export const valueIn = (entry: Uint8Array | null): bigint => (entry && decodeInteger(decodeRlp(entry), 32)) ?? 0n

interface Circumstances {
  readonly rollup: Rollup
  readonly version: ContractVersion
  /** Number of earlier finalizations. In a chain without messages, it determines how many have arrived from L1. */
  readonly count: number
  readonly anchored: Anchored | undefined
}

/** What a finalization writes about the state of L2, and the log that the contract emits. */
function changeOf(
  storage: Trie,
  { l2BlockNumber, stateRoot, timestamp }: TimedFinalization,
  { rollup, version, count, anchored }: Circumstances,
): ContractChange {
  const { layout = lineaLayout } = rollup
  const { stateRootHashes, currentL2BlockNumber, finalizedState: slots = lineaStateLayout } = layout
  // Two finalizations in three bring a message from L1, and one in four a forced transaction.
  const messageNumber = anchored?.messageNumber ?? BigInt(Math.floor((2 * count + 1) / 3))
  const forcedTransactionNumber = version === 8 ? BigInt(Math.floor(count / 4)) : undefined
  const messageSlot = mappingSlot({ slot: slots.rollingHashes, keys: [messageNumber] })
  const messageHash = anchored ? readSlot(storage, messageSlot) : rollingHash('message', messageNumber)
  const forcedHash = rollingHash('forced transaction', forcedTransactionNumber ?? 0n)
  const hashes = version === 8 ? [messageHash, forcedHash] : [messageHash]
  const state = hashFinalizedState({ messageNumber, forcedTransactionNumber, timestamp }, hashes)

  const writes: Write[] = [
    [mappingSlot({ slot: stateRootHashes, keys: [l2BlockNumber] }), BigInt(stateRoot)],
    [slotKey(currentL2BlockNumber), l2BlockNumber],
    [slotKey(slots.currentFinalizedState), bytesToBigint(state)],
    [messageSlot, messageHash],
    [mappingSlot({ slot: slots.forcedTransactionRollingHashes, keys: [forcedTransactionNumber ?? 0n] }), forcedHash],
  ]
  const [topic, olderTopic] = finalizedStateTopics
  const topics = [version === 8 ? topic : olderTopic, slotKey(l2BlockNumber)]
  const words = [timestamp, messageNumber, forcedTransactionNumber].filter(word => word !== undefined)
  return { writes, logs: [{ topics, data: bytesToHex(concatBytes(...words.map(word => bigintToBytes(word, 32)))) }] }
}

/** There are no actual messages, so their number is hashed in their place. Before the first one, the rolling hash is zero. */
const rollingHash = (kind: string, number: bigint): bigint =>
  number === 0n ? 0n : bytesToBigint(keccak_256(new TextEncoder().encode(`${kind} ${number}`)))
