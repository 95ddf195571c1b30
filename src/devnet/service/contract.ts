import { bigintToBytes, bytesToBigint, bytesToHex, concatBytes, type Hex, hexToBytes } from '../../base/bytes.ts'
import { mappingSlot, slotKey } from '../../verify/anchor/contract.ts'
import { finalizedStateTopics, hashFinalizedState } from '../../verify/anchor/finalized-state.ts'
import { IMPLEMENTATION_KEY, lineaLayout, lineaStateLayout, type Rollup } from '../../verify/anchor/rollup.ts'
import { keccak256 } from '../../verify/hash/keccak/index.ts'
import { ZERO_HASH } from './block.ts'
import { putSlot, slotIn, type Trie } from './trie.ts'

/**
 * The version of the rollup contract on the simulated L1. Version 8 added forced transactions. Version 9 holds the hashes of L2
 * blocks in place of state roots.
 */
export type ContractVersion = 7 | 8 | 9

/** A finalization, as submitted to the rollup contract. */
export interface Finalization {
  /** The last L2 block that it finalizes. */
  readonly l2BlockNumber: bigint
  /** The root of the L2 state at that block, 32 bytes. Up to version 8 of the contract. */
  readonly stateRoot?: Hex | undefined
  /** The hash of that block, 32 bytes. Since version 9. */
  readonly blockHash?: Hex | undefined
  /** The time of that block, in seconds since 1970. Default: that of the newest L1 block. */
  readonly timestamp?: bigint | undefined
}

export type TimedFinalization = Finalization & { readonly timestamp: bigint }

/** A finalization, the L1 block that contains it, and the log of the contract. */
export interface StoredFinalization extends TimedFinalization {
  readonly l1BlockNumber: bigint
}

export type Write = readonly [key: Hex, value: bigint]

export interface ContractChange {
  readonly writes: readonly Write[]
  /** Topics of 32 bytes each. */
  readonly logs: readonly { readonly topics: readonly Hex[]; readonly data: Hex }[]
}

/** A log of the contract, and the L1 block that contains it. */
export type ContractLog = ContractChange['logs'][number] & { readonly l1BlockNumber: bigint }

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

/** The address of the code behind the proxy. There is no such code. */
export const implementationOf = (version: ContractVersion): Hex => `0x${'c0de'.repeat(9)}000${version}`

/** The rollup contract: its finalizations, and its storage after the newest of them. */
export function createContract(rollup: Rollup, first: ContractVersion, bridge?: Bridge) {
  let finalizations: StoredFinalization[] = []
  let logs: ContractLog[] = []
  /** Number of finalizations so far on this branch of L1, including pruned ones. */
  let count = 0
  let version = first
  const implement = (storage: Trie) => write(storage, [[IMPLEMENTATION_KEY, BigInt(implementationOf(version))]])
  let storage: Trie = implement(write(null, bridge?.begin ?? []))
  const change = (made: ContractChange, l1BlockNumber: bigint) => {
    storage = write(storage, made.writes)
    logs.push(...made.logs.map(log => ({ ...log, l1BlockNumber })))
  }
  return {
    version: () => version,
    storage: () => storage,
    finalizations: (): readonly StoredFinalization[] => finalizations,
    logs: (): readonly ContractLog[] => logs,
    change,
    finalize(finalization: TimedFinalization, l1BlockNumber: bigint): void {
      const after = finalizations.at(-1)
      const anchored = bridge?.anchor((after?.l2BlockNumber ?? -1n) + 1n, finalization.l2BlockNumber)
      if (anchored) change(anchored, l1BlockNumber)
      change(changeOf(storage, finalization, { rollup, version, count, after, anchored }), l1BlockNumber)
      finalizations.push({ ...finalization, l1BlockNumber })
      count++
    },
    /** Replaces the code. What is held stays. */
    upgrade(): void {
      version = 9
      storage = implement(storage)
    },
    /** Undoes the finalizations above an L1 block, but not an upgrade. @param before the storage at that block @returns the newest of them */
    rewind(l1BlockNumber: bigint, before: Trie): TimedFinalization | undefined {
      const undone = finalizations.filter(finalization => finalization.l1BlockNumber > l1BlockNumber)
      finalizations = finalizations.filter(finalization => finalization.l1BlockNumber <= l1BlockNumber)
      logs = logs.filter(log => log.l1BlockNumber <= l1BlockNumber)
      count -= undone.length
      storage = implement(before)
      return undone.at(-1)
    },
    /** Prunes the finalizations below an L1 block. */
    forget(l1BlockNumber: bigint): void {
      finalizations = finalizations.filter(finalization => finalization.l1BlockNumber >= l1BlockNumber)
      logs = logs.filter(log => log.l1BlockNumber >= l1BlockNumber)
    },
  }
}

const write = (storage: Trie, writes: readonly Write[]): Trie =>
  writes.reduce((trie, [key, value]) => putSlot(trie, hexToBytes(key, 32), value), storage)

interface Circumstances {
  readonly rollup: Rollup
  readonly version: ContractVersion
  /** Number of earlier finalizations. In a chain without messages, it determines how many have arrived from L1. */
  readonly count: number
  readonly after: Finalization | undefined
  readonly anchored: Anchored | undefined
}

/** What a finalization writes about the state of L2, and the logs that the contract emits. */
function changeOf(
  storage: Trie,
  finalization: TimedFinalization,
  { rollup, version, count, after, anchored }: Circumstances,
): ContractChange {
  const { l2BlockNumber, stateRoot = ZERO_HASH, blockHash = ZERO_HASH, timestamp } = finalization
  const { layout = lineaLayout } = rollup
  const { stateRootHashes, blockHashes, currentL2BlockNumber, finalizedState: slots = lineaStateLayout } = layout
  // Two finalizations in three bring a message from L1, and one in four a forced transaction.
  const messageNumber = anchored?.messageNumber ?? BigInt(Math.floor((2 * count + 1) / 3))
  const forcedTransactionNumber = version === 7 ? undefined : BigInt(Math.floor(count / 4))
  const messageSlot = mappingSlot({ slot: slots.rollingHashes, keys: [messageNumber] })
  const messageHash = anchored ? slotIn(storage, messageSlot).value : rollingHash('message', messageNumber)
  const forcedHash = rollingHash('forced transaction', forcedTransactionNumber ?? 0n)
  const hashes = version === 7 ? [messageHash] : [messageHash, forcedHash]
  const state = hashFinalizedState({ messageNumber, forcedTransactionNumber, timestamp }, hashes)

  const writes: Write[] = [
    [mappingSlot({ slot: stateRootHashes, keys: [l2BlockNumber] }), BigInt(stateRoot)],
    [mappingSlot({ slot: blockHashes ?? HASHES, keys: [l2BlockNumber] }), BigInt(blockHash)],
    [slotKey(currentL2BlockNumber), l2BlockNumber],
    [slotKey(slots.currentFinalizedState), bytesToBigint(state)],
    [messageSlot, messageHash],
    [mappingSlot({ slot: slots.forcedTransactionRollingHashes, keys: [forcedTransactionNumber ?? 0n] }), forcedHash],
  ]
  const [topic, olderTopic] = finalizedStateTopics
  const topics = [version === 7 ? olderTopic : topic, slotKey(l2BlockNumber)]
  const words = [timestamp, messageNumber, forcedTransactionNumber].filter(word => word !== undefined)
  return { writes, logs: [{ topics, data: wordsOf(words) }, dataFinalized(finalization, { version, count, after })] }
}

/** Slot of the block hashes in a layout that has none. */
const HASHES = 456n

const wordsOf = (words: readonly bigint[]): Hex =>
  bytesToHex(concatBytes(...words.map(word => bigintToBytes(word, 32))))

/** The contract's other log of a finalization. There is no data, so its hash is that of a number. */
function dataFinalized(
  finalization: Finalization,
  { version, count, after }: Pick<Circumstances, 'version' | 'count' | 'after'>,
): ContractChange['logs'][number] {
  const hasHashes = version === 9
  const heldOf = (one: Finalization | undefined) => BigInt((hasHashes ? one?.blockHash : one?.stateRoot) ?? 0)
  const start = after === undefined ? 0n : after.l2BlockNumber + 1n
  const places = [start, finalization.l2BlockNumber, rollingHash('data', BigInt(count + 1))].map(slotKey)
  // The offset in the data, since version 9; that of the parent, which the first root lacks, and the first hash; its own.
  const words = [...(hasHashes ? [0n] : []), heldOf(after), heldOf(finalization)]
  return { topics: [hasHashes ? DATA_FINALIZED : OLDER_DATA_FINALIZED, ...places], data: wordsOf(words) }
}

/**
 * `DataFinalizedV4(uint256 indexed startBlockNumber, uint256 indexed endBlockNumber, bytes32 indexed endDataRollingHash,
 * uint256 endOffset, bytes32 parentBlockHash, bytes32 finalBlockHash)`
 */
const DATA_FINALIZED: Hex = '0x86710ea04c20fbcfc0b7200362c5174c71b7183bbc324b36a83f61824be0cdef'

/**
 * Before version 9, `DataFinalizedV3(uint256 indexed startBlockNumber, uint256 indexed endBlockNumber, bytes32 indexed shnarf,
 * bytes32 parentStateRootHash, bytes32 finalStateRootHash)`
 */
const OLDER_DATA_FINALIZED: Hex = '0xa0262dc79e4ccb71ceac8574ae906311ae338aa4a2044fd4ec4b99fad5ab60cb'

/** There are no actual messages, so their number is hashed in their place. Before the first one, the rolling hash is zero. */
const rollingHash = (kind: string, number: bigint): bigint =>
  number === 0n ? 0n : bytesToBigint(keccak256(new TextEncoder().encode(`${kind} ${number}`)))
