import { keccak_256 } from '@noble/hashes/sha3.js'
import { decodeInteger, decodeRlp, encodeRlp } from '../anchor/rlp.ts'
import type { Rollup } from '../anchor/rollup.ts'
import { bytesToHex, type Hex, hexToBytes } from '../bytes.ts'
import { toQuantity } from '../rpc/provider.ts'
import { type Block, describeBlock, GENESIS_TIME, sealBlock, ZERO_HASH } from './block.ts'
import {
  type ContractVersion,
  type Finalization,
  type FinalizationLog,
  integer,
  writeFinalization,
} from './contract.ts'
import { getEntry, proveEntry, putEntry, type Trie, trieRoot } from './growing-trie.ts'

/** How the simulated L1 behaves. */
export interface L1Options {
  /** How many of the newest L1 blocks are not final. Default: 0. */
  l1Unfinalized?: number
  /** How many of the newest L1 blocks keep their state; unfinalized ones always do. Default: all. */
  l1History?: number
  /** Version of the rollup contract. Version 7 has no forced transactions. Default: 8. */
  contractVersion?: ContractVersion
  /** Returns the timestamp of a new block, in seconds since 1970. Default: counts up from a fixed time. */
  clock?: () => number
}

/** A finalization, and the L1 block that contains it. */
export interface L1Finalization extends Finalization {
  readonly l1BlockNumber: bigint
}

/** An L1 whose only account is the rollup contract. */
export interface SimulatedL1 {
  /**
   * Writes the root of an L2 block into the contract, in a new L1 block.
   *
   * @param l2BlockNumber must be above all finalized blocks
   * @param stateRoot 32 bytes
   * @param timestamp timestamp of the L2 block, in seconds since 1970. Default: that of the newest L1 block
   */
  finalize(l2BlockNumber: bigint, stateRoot: Hex, timestamp?: bigint): void
  /** Adds an empty block. */
  addBlock(): void
  /**
   * Replaces the newest blocks, and adds one more. Of the finalizations in the replaced blocks, only the newest is repeated, in
   * the added block; the roots of the others are lost.
   *
   * @param depth number of blocks to replace; final blocks stay
   * @returns the number of replaced blocks
   */
  reorganize(depth: number): number
  /**
   * The number of the block with this tag.
   *
   * @param tag Default: `latest`
   */
  blockNumber(tag?: 'latest' | 'safe' | 'finalized'): bigint
  /**
   * A block as an `eth_getBlockByNumber` result; null if it does not exist.
   *
   * @param number of the L1 block, from 0
   */
  getBlock(number: bigint): object | null
  /**
   * The number of the block with this hash; null if there is none.
   *
   * @param hash 32 bytes, lower case
   */
  numberOf(hash: Hex): bigint | null
  /**
   * A proof as an `eth_getProof` result; null if the block does not exist or its state has been pruned.
   *
   * @param address 20 bytes
   * @param storageKeys 32 bytes each
   * @param number of the L1 block, from 0
   */
  getProof(address: Hex, storageKeys: readonly Hex[], number: bigint): object | null
  /**
   * A slot's value; null if the block does not exist or its state has been pruned.
   *
   * @param address 20 bytes
   * @param key 32 bytes
   * @param number of the L1 block, from 0
   */
  getStorage(address: Hex, key: Hex, number: bigint): bigint | null
}

/** The L1 as the rest of the service uses it. */
export interface L1 extends SimulatedL1 {
  /** The address of the rollup contract, in lower case. */
  readonly contract: Hex
  /** All finalizations that are kept, oldest first. */
  finalizations(): readonly L1Finalization[]
  /** The logs of the contract in these blocks, oldest first. */
  logs(from: bigint, to: bigint): readonly L1Log[]
  block(number: bigint): Block | null
  /** The number of the oldest block that is kept. */
  oldest(): bigint
  /** The block that would come next if it were empty. */
  nextBlock(): Block
  /** Prunes the blocks, logs and finalizations below an L1 block. */
  forget(below: bigint): void
}

export interface L1Log extends FinalizationLog {
  readonly block: Block
}

interface StoredBlock {
  readonly block: Block
  /** The storage of the contract; undefined once it is pruned. */
  storage: Trie | undefined
}

interface StoredFinalization extends L1Finalization {
  readonly log: FinalizationLog
}

const EMPTY = new Uint8Array(0)
const SECONDS_PER_BLOCK = 12n

export function createL1(rollup: Rollup, options: L1Options = {}): L1 {
  const { l1Unfinalized = 0, l1History, contractVersion = 8, clock } = options
  const contract = hexToBytes(rollup.address, 20)
  const codeHash = keccak_256(EMPTY)
  /** By number, in ascending order. */
  const blocks = new Map<bigint, StoredBlock>()
  const numbers = new Map<Hex, bigint>()
  let finalizations: StoredFinalization[] = []
  /** Number of finalizations so far on this branch, including pruned ones. */
  let count = 0
  /** Number of reorganizations. It is part of each block, so that the blocks of different branches differ. */
  let branch = 0n
  let newest = -1n
  let oldest = 0n
  let storage: Trie = null

  const accountsOf = (trie: Trie): Trie =>
    putEntry(null, contract, encodeRlp([integer(1n), EMPTY, trieRoot(trie), codeHash]))

  function nextBlock(trie: Trie = storage): Block {
    const parent = blocks.get(newest)?.block
    const earliest = parent === undefined ? GENESIS_TIME : parent.timestamp + (clock ? 1n : SECONDS_PER_BLOCK)
    const finalized = finalizations.at(-1)?.timestamp ?? 0n
    return sealBlock({
      number: newest + 1n,
      parentHash: parent?.hash ?? ZERO_HASH,
      stateRoot: bytesToHex(trieRoot(accountsOf(trie))),
      // A block is never older than its parent, nor than the L2 blocks that it finalizes.
      timestamp: largest(clock ? BigInt(clock()) : 0n, parent || !clock ? earliest : 0n, finalized + 1n),
      extraData: branch === 0n ? '0x' : bytesToHex(integer(branch)),
    })
  }

  function addBlock(): void {
    const block = nextBlock()
    newest = block.number
    blocks.set(newest, { block, storage })
    numbers.set(block.hash, newest)
    const old =
      l1History === undefined ? undefined : blocks.get(newest - BigInt(Math.max(l1History, l1Unfinalized + 1)))
    if (old) old.storage = undefined
  }

  function finalize(finalization: Finalization): void {
    const written = writeFinalization(storage, finalization, { rollup, version: contractVersion, count })
    storage = written.storage
    finalizations.push({ ...finalization, l1BlockNumber: newest + 1n, log: written.log })
    count++
    addBlock()
  }

  const isContract = (address: Hex) => address.toLowerCase() === bytesToHex(contract)
  const largestFinal = () => largest(newest - BigInt(l1Unfinalized), oldest)

  function reorganize(depth: number): number {
    const replaced = Math.max(0, Math.min(Math.trunc(depth), Number(newest - largestFinal())))
    if (replaced === 0) return 0
    const fork = newest - BigInt(replaced)
    for (; newest > fork; newest--) {
      numbers.delete(blocks.get(newest)?.block.hash ?? ZERO_HASH)
      blocks.delete(newest)
    }
    storage = blocks.get(fork)?.storage ?? null
    const dropped = finalizations.filter(({ l1BlockNumber }) => l1BlockNumber > fork)
    finalizations = finalizations.filter(({ l1BlockNumber }) => l1BlockNumber <= fork)
    count -= dropped.length
    branch++
    for (let added = 0; added < replaced; added++) addBlock()
    const last = dropped.at(-1)
    if (last) finalize({ l2BlockNumber: last.l2BlockNumber, stateRoot: last.stateRoot, timestamp: last.timestamp })
    else addBlock()
    return replaced
  }

  const valueAt = (trie: Trie, key: Hex): bigint => {
    const entry = getEntry(trie, hexToBytes(key, 32))
    return (entry && decodeInteger(decodeRlp(entry), 32)) ?? 0n
  }

  return {
    contract: bytesToHex(contract),
    finalize(l2BlockNumber, stateRoot, timestamp = blocks.get(newest)?.block.timestamp ?? GENESIS_TIME) {
      finalize({ l2BlockNumber, stateRoot, timestamp })
    },
    addBlock,
    reorganize,
    getStorage(address, key, number) {
      const trie = blocks.get(number)?.storage
      return trie === undefined ? null : isContract(address) ? valueAt(trie, key) : 0n
    },
    blockNumber(tag = 'latest') {
      const final = largestFinal()
      return tag === 'latest' ? newest : tag === 'finalized' ? final : newest - (newest - final) / 2n
    },
    getBlock: number => {
      const stored = blocks.get(number)
      return stored ? describeBlock(stored.block) : null
    },
    numberOf: hash => numbers.get(hash) ?? null,
    getProof(address, storageKeys, number) {
      const contractStorage = blocks.get(number)?.storage
      if (contractStorage === undefined) return null
      const trie = isContract(address) ? contractStorage : null
      return {
        address: address.toLowerCase(),
        accountProof: proveEntry(accountsOf(contractStorage), hexToBytes(address, 20)).map(bytesToHex),
        balance: '0x0',
        nonce: isContract(address) ? '0x1' : '0x0',
        codeHash: bytesToHex(codeHash),
        storageHash: bytesToHex(trieRoot(trie)),
        storageProof: storageKeys.map(key => ({
          key,
          value: toQuantity(valueAt(trie, key)),
          proof: proveEntry(trie, hexToBytes(key, 32)).map(bytesToHex),
        })),
      }
    },
    finalizations: () => finalizations,
    logs: (from, to) =>
      finalizations.flatMap(({ l1BlockNumber, log }) => {
        const block = l1BlockNumber >= from && l1BlockNumber <= to ? blocks.get(l1BlockNumber)?.block : undefined
        return block ? [{ ...log, block }] : []
      }),
    block: number => blocks.get(number)?.block ?? null,
    oldest: () => oldest,
    nextBlock: () => nextBlock(),
    forget(below) {
      for (; oldest < below && oldest < newest; oldest++) {
        numbers.delete(blocks.get(oldest)?.block.hash ?? ZERO_HASH)
        blocks.delete(oldest)
      }
      finalizations = finalizations.filter(({ l1BlockNumber }) => l1BlockNumber >= oldest)
    },
  }
}

const largest = (...values: readonly bigint[]): bigint => values.reduce((a, b) => (b > a ? b : a), 0n)
