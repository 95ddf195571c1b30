import { decodeArgument, invalid } from '../../base/arguments.ts'
import { bytesToHex, type Hex, hexToBytes } from '../../base/bytes.ts'
import { lowerCase } from '../../base/hex.ts'
import { readOptions, verifyUint, verifyWhole } from '../../base/options.ts'
import type { Rollup } from '../../verify/anchor/rollup.ts'
import { encodeInteger } from '../../verify/anchor/trie.ts'
import type { BeaconNetwork } from '../../verify/beacon/network.ts'
import {
  type Block,
  createBlockStore,
  describeStored,
  GENESIS_TIME,
  NO_CONTENT,
  sealBlock,
  ZERO_HASH,
} from './block.ts'
import {
  type Bridge,
  type ContractChange,
  type ContractVersion,
  createContract,
  type Finalization,
  type TimedFinalization,
} from './contract.ts'
import { CONTRACT_ACCOUNT, proveAccount, putAccount, slotIn, type Trie, trieRoot } from './trie.ts'

/** How the simulated L1 behaves. */
export interface L1Options {
  /** How many of the newest L1 blocks are not final. Default: 0. */
  l1Unfinalized?: number | undefined
  /** How many of the newest L1 blocks keep their state; unfinalized ones always do. Default: all. */
  l1History?: number | undefined
  /** Version of the rollup contract: 7, 8 or 9. Version 7 has no forced transactions, version 9 holds block hashes. Default: 8. */
  contractVersion?: ContractVersion | undefined
  /** Returns the timestamp of a new block, in seconds since 1970. Default: counts up from a fixed time. */
  clock?: (() => number) | undefined
  /**
   * The consensus layer: its slots are those of the blocks' timestamps. Default: a network of its own, in which forks and sync
   * committee periods pass quickly.
   */
  beacon?: BeaconNetwork | undefined
}

/** An L1 whose only account is the rollup contract. */
export interface SimulatedL1 {
  /**
   * Writes the root of an L2 block into the contract, or its hash since version 9, in a new L1 block. They may be of any state.
   *
   * @param finalization the block, which must be above all finalized blocks, and its root or hash
   * @throws ArgumentError
   */
  finalize(finalization: Finalization): void
  /** Adds an empty block. */
  addBlock(): void
  /**
   * Replaces the newest blocks, and adds one more. Of the finalizations in the replaced blocks, only the newest is repeated, in
   * the added block; the roots of the others are lost.
   *
   * @param depth number of blocks to replace; final blocks stay
   * @returns the number of replaced blocks
   * @throws ArgumentError
   */
  reorganize(depth: number): number
  /** The number of the block with this tag. @param tag Default: `latest` */
  blockNumber(tag?: 'latest' | 'safe' | 'finalized'): bigint
  /** A block as an `eth_getBlockByNumber` result; null if it does not exist. @param number of the L1 block, from 0 */
  getBlock(number: bigint): object | null
  /** The number of the block with this hash; undefined if there is none. @param hash 32 bytes, lower case */
  numberOf(hash: Hex): bigint | undefined
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

export type L1 = ReturnType<typeof createL1>

export interface StoredBlock {
  readonly block: Block
  /** The storage of the contract; undefined once it is pruned. */
  storage: Trie | undefined
}

const SECONDS_PER_BLOCK = 12n

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a reorganization changes blocks, logs and the contract at once.
export function createL1(rollup: Rollup, options: L1Options = {}, bridge?: Bridge) {
  const { l1Unfinalized = 0, l1History, contractVersion = 8, clock } = options
  const address = bytesToHex(hexToBytes(rollup.address, 20))
  const accounts = (storage: Trie) => putAccount(null, hexToBytes(address, 20), { ...CONTRACT_ACCOUNT, storage })
  const isContract = (target: Hex) => lowerCase(target) === address
  const contract = createContract(rollup, contractVersion, bridge)
  const blocks = createBlockStore<StoredBlock>(({ block }) => block.hash)
  const { newest } = blocks
  /** Number of reorganizations. It is part of each block, so that the blocks of different branches differ. */
  let branch = 0n

  function nextBlock(): Block {
    const parent = blocks.at(newest())?.block
    return sealBlock({
      number: newest() + 1n,
      parentHash: parent?.hash ?? ZERO_HASH,
      stateRoot: bytesToHex(trieRoot(accounts(contract.storage()))),
      timestamp: timestampAfter(parent, contract.finalizations().at(-1), clock),
      extraData: branch === 0n ? '0x' : bytesToHex(encodeInteger(branch)),
      content: NO_CONTENT,
    })
  }

  function addBlock(): void {
    blocks.add({ block: nextBlock(), storage: contract.storage() })
    if (l1History === undefined) return
    const old = blocks.at(newest() - BigInt(Math.max(l1History, l1Unfinalized + 1)))
    if (old) old.storage = undefined
  }

  function finalize(finalization: TimedFinalization): void {
    contract.finalize(finalization, newest() + 1n)
    addBlock()
  }

  const largestFinal = () => largest(newest() - BigInt(l1Unfinalized), blocks.oldest())

  function reorganize(depth: number): number {
    const replaced = Math.min(verifyWhole('depth', depth, 0), Number(newest() - largestFinal()))
    if (replaced === 0) return 0
    const fork = newest() - BigInt(replaced)
    blocks.rewind(fork)
    const undone = contract.rewind(fork, blocks.at(fork)?.storage ?? null)
    branch++
    for (let added = 0; added < replaced; added++) addBlock()
    if (undone) finalize(undone)
    else addBlock()
    return replaced
  }

  const ifKept = <T>(number: bigint, read: (storage: Trie) => T): T | null => {
    const storage = blocks.at(number)?.storage
    return storage === undefined ? null : read(storage)
  }

  return {
    /** The address of the rollup contract, in lower case. */
    contract: address,
    blocks,
    finalize(finalization: Finalization) {
      const { timestamp = blocks.at(newest())?.block.timestamp ?? GENESIS_TIME, ...own } =
        readFinalization(finalization)
      verifyHeld(own, contract.version())
      const finalized = contract.finalizations().at(-1)?.l2BlockNumber ?? -1n
      if (own.l2BlockNumber <= finalized) throw invalid('l2BlockNumber', `above ${finalized}`, own.l2BlockNumber)
      finalize({ ...own, timestamp })
    },
    addBlock,
    reorganize,
    upgrade() {
      contract.upgrade()
      addBlock()
    },
    blockNumber(tag: 'latest' | 'safe' | 'finalized' = 'latest') {
      const final = largestFinal()
      return tag === 'latest' ? newest() : tag === 'finalized' ? final : newest() - (newest() - final) / 2n
    },
    getBlock: (number: bigint) => describeStored(blocks.at(number)),
    numberOf: blocks.numberOf,
    getProof: (target: Hex, keys: readonly Hex[], number: bigint) =>
      ifKept(number, storage => {
        const account = isContract(target) ? { ...CONTRACT_ACCOUNT, storage } : null
        return proveAccount(accounts(storage), target, account, keys)
      }),
    getStorage: (target: Hex, key: Hex, number: bigint) =>
      ifKept(number, storage => (isContract(target) ? slotIn(storage, key).value : 0n)),
    finalizations: contract.finalizations,
    logs: contract.logs,
    /** The value of a slot of the contract, at the newest block. */
    read: (key: Hex) => slotIn(contract.storage(), key).value,
    write(change: ContractChange) {
      contract.change(change, newest() + 1n)
      addBlock()
    },
    /** The block that would come next if it were empty. */
    nextBlock,
    /** Prunes the blocks, logs and finalizations below an L1 block. */
    forget(below: bigint) {
      blocks.forget(below)
      contract.forget(below)
    },
  }
}

function readFinalization(finalization: Finalization): Finalization {
  const own = readOptions('', finalization, ['l2BlockNumber', 'stateRoot', 'blockHash', 'timestamp'])
  verifyUint('l2BlockNumber', own.l2BlockNumber, 64)
  for (const name of ['stateRoot', 'blockHash'] as const) {
    if (own[name] !== undefined) decodeArgument(name, own[name], 32)
  }
  if (own.timestamp !== undefined) verifyUint('timestamp', own.timestamp, 64)
  return own
}

function verifyHeld({ stateRoot, blockHash }: Finalization, version: ContractVersion): void {
  if (version === 9) decodeArgument('blockHash', blockHash, 32)
  else if (blockHash !== undefined)
    throw invalid('blockHash', `nothing: version ${version} holds state roots`, blockHash)
  else decodeArgument('stateRoot', stateRoot, 32)
}

/** A block is never older than its parent, nor than the L2 blocks that it finalizes. */
function timestampAfter(parent?: Block, finalized?: TimedFinalization, clock?: () => number): bigint {
  const steady = parent === undefined ? GENESIS_TIME : parent.timestamp + SECONDS_PER_BLOCK
  const now = clock ? largest(BigInt(clock()), parent ? parent.timestamp + 1n : 0n) : steady
  return largest(now, (finalized?.timestamp ?? 0n) + 1n)
}

const largest = (...values: readonly bigint[]): bigint => values.reduce((a, b) => (b > a ? b : a), 0n)
