import { keccak_256 } from '@noble/hashes/sha3.js'
import { finalizedStateTopics, hashFinalizedState } from '../anchor/finalized-state.ts'
import { encodeInteger, encodeRlp } from '../anchor/rlp.ts'
import { lineaLayout, lineaStateLayout, type Rollup } from '../anchor/rollup.ts'
import { mappingSlot, slotKey } from '../anchor/slots.ts'
import { bigintToBytes, bytesToBigint, bytesToHex, concatBytes, type Hex, hexToBytes } from '../bytes.ts'
import { putEntry, type Trie } from './growing-trie.ts'

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
  /** Topics of 32 bytes each. */
  readonly log: { readonly topics: readonly Hex[]; readonly data: Hex }
}

/** The rollup contract: its finalizations, and its storage after the newest of them. */
export function createContract(rollup: Rollup, version: ContractVersion) {
  let finalizations: StoredFinalization[] = []
  /** Number of finalizations so far on this branch of L1, including pruned ones. */
  let count = 0
  let storage: Trie = null
  return {
    storage: () => storage,
    finalizations: (): readonly StoredFinalization[] => finalizations,
    finalize(finalization: TimedFinalization, l1BlockNumber: bigint): void {
      const written = writeFinalization(storage, finalization, { rollup, version, count })
      storage = written.storage
      finalizations.push({ ...finalization, l1BlockNumber, log: written.log })
      count++
    },
    /** Undoes the finalizations above an L1 block. @param before the storage at that block @returns the newest of them */
    rewind(l1BlockNumber: bigint, before: Trie): TimedFinalization | undefined {
      const undone = finalizations.filter(finalization => finalization.l1BlockNumber > l1BlockNumber)
      finalizations = finalizations.filter(finalization => finalization.l1BlockNumber <= l1BlockNumber)
      count -= undone.length
      storage = before
      return undone.at(-1)
    },
    /** Prunes the finalizations below an L1 block. */
    forget(l1BlockNumber: bigint): void {
      finalizations = finalizations.filter(finalization => finalization.l1BlockNumber >= l1BlockNumber)
    },
  }
}

/**
 * The storage of the rollup contract after a finalization, and the log that the contract emits.
 *
 * @param count number of earlier finalizations; it determines how many messages have arrived from L1
 */
function writeFinalization(
  storage: Trie,
  { l2BlockNumber, stateRoot, timestamp }: TimedFinalization,
  { rollup, version, count }: { rollup: Rollup; version: ContractVersion; count: number },
): { storage: Trie; log: StoredFinalization['log'] } {
  const { layout = lineaLayout } = rollup
  const { stateRootHashes, currentL2BlockNumber, finalizedState: slots = lineaStateLayout } = layout
  // Two finalizations in three bring a message from L1, and one in four a forced transaction.
  const messageNumber = BigInt(Math.floor((2 * count + 1) / 3))
  const forcedTransactionNumber = version === 8 ? BigInt(Math.floor(count / 4)) : undefined
  const messageHash = rollingHash('message', messageNumber)
  const forcedHash = rollingHash('forced transaction', forcedTransactionNumber ?? 0n)
  const hashes = version === 8 ? [messageHash, forcedHash] : [messageHash]
  const state = hashFinalizedState({ messageNumber, forcedTransactionNumber, timestamp }, hashes)

  const writes: [Hex, bigint][] = [
    [mappingSlot({ slot: stateRootHashes, keys: [l2BlockNumber] }), BigInt(stateRoot)],
    [slotKey(currentL2BlockNumber), l2BlockNumber],
    [slotKey(slots.currentFinalizedState), bytesToBigint(state)],
    [mappingSlot({ slot: slots.rollingHashes, keys: [messageNumber] }), messageHash],
    [mappingSlot({ slot: slots.forcedTransactionRollingHashes, keys: [forcedTransactionNumber ?? 0n] }), forcedHash],
  ]
  // A zero slot is never stored.
  const changed = writes
    .filter(([, value]) => value !== 0n)
    .reduce((trie, [key, value]) => putEntry(trie, hexToBytes(key, 32), encodeRlp(encodeInteger(value))), storage)

  const [topic, olderTopic] = finalizedStateTopics
  const topics = [version === 8 ? topic : olderTopic, slotKey(l2BlockNumber)]
  const words = [timestamp, messageNumber, forcedTransactionNumber].filter(word => word !== undefined)
  return {
    storage: changed,
    log: { topics, data: bytesToHex(concatBytes(...words.map(word => bigintToBytes(word, 32)))) },
  }
}

/** There are no actual messages, so their number is hashed in their place. Before the first one, the rolling hash is zero. */
const rollingHash = (kind: string, number: bigint): bigint =>
  number === 0n ? 0n : bytesToBigint(keccak_256(new TextEncoder().encode(`${kind} ${number}`)))
