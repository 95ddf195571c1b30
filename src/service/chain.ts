import type { Rollup } from '../anchor/rollup.ts'
import type { World } from '../world/world.ts'
import { type Block, EMPTY_TRIE, GENESIS_TIME, sealBlock, ZERO_HASH } from './block.ts'
import { createL1, type L1, type L1Options, type SimulatedL1 } from './simulated-l1.ts'

/** How the chain behaves. */
export interface ChainOptions extends L1Options {
  /** How many finalizations the proofs lag behind L1, as they sometimes do on real endpoints. Default: 0. */
  proofLag?: number
  /**
   * How many of the newest finalizations to keep, with the states, blocks and logs of the L2 and its L1. Older data is pruned,
   * so that a chain can run for years without growing. Default: all.
   */
  keep?: number
}

/** An L2 with its states, and the L1 on which it is finalized. Block 0 is finalized from the start. */
export interface Chain {
  /** The state of the next block. Write your changes to it. */
  readonly pending: World
  /** The L1 that holds the roots of finalized blocks. */
  readonly l1: SimulatedL1
  /** Turns the pending state into a new block. @returns its number */
  addBlock(): bigint
  /** Finalizes all blocks up to the newest on L1. Does nothing if there is no new block. */
  finalize(): void
  /** The number of the newest block. */
  latest(): bigint
  /** The number of the newest finalized block. */
  finalized(): bigint
  /** The number of the newest block with proofs; -1 if there is none. */
  provable(): bigint
  /**
   * The state at a block; do not write to it. Undefined if the block does not exist or has been pruned.
   *
   * @param number from 0
   */
  at(number: bigint): World | undefined
  /**
   * The timestamp of a block, in seconds since 1970. Undefined if the block does not exist or has been pruned.
   *
   * @param number from 0
   */
  timestamp(number: bigint): bigint | undefined
}

/** The chain as the rest of the service uses it. */
export interface FullChain extends Chain {
  readonly l1: L1
  block(number: bigint): Block | null
  numberOf(hash: string): bigint | null
}

const SECONDS_PER_BLOCK = 2n

/** @param genesis the state of block 0; the chain keeps a fork of it */
export function createChain(genesis: World, rollup: Rollup, options: ChainOptions = {}): FullChain {
  const { proofLag = 0, keep, clock } = options
  const pending = genesis.fork()
  const blocks = new Map<bigint, { readonly block: Block; readonly state: World }>()
  const numbers = new Map<string, bigint>()
  const l1 = createL1(rollup, options)
  let latest = -1n
  let oldest = 0n
  const finalized = () => l1.finalizations().at(-1)?.l2BlockNumber ?? -1n

  function addBlock(): bigint {
    const parent = blocks.get(latest)?.block
    const number = latest + 1n
    const steady = parent === undefined ? GENESIS_TIME : parent.timestamp + SECONDS_PER_BLOCK
    const now = clock ? BigInt(clock()) : steady
    const block = sealBlock({
      number,
      parentHash: parent?.hash ?? ZERO_HASH,
      // A real header holds the root of another tree, which is not simulated.
      stateRoot: EMPTY_TRIE,
      timestamp: parent && now <= parent.timestamp ? parent.timestamp + 1n : now,
      extraData: '0x',
    })
    blocks.set(number, { block, state: pending.fork() })
    numbers.set(block.hash, number)
    latest = number
    return number
  }

  function finalize(): void {
    const newest = blocks.get(latest)
    if (newest === undefined || finalized() === latest) return
    l1.finalize(latest, newest.state.stateRoot(), newest.block.timestamp)
    const oldestKept = keep === undefined ? undefined : l1.finalizations().at(-keep)
    if (oldestKept) forget(oldestKept.l2BlockNumber, oldestKept.l1BlockNumber)
  }

  function forget(l2BlockNumber: bigint, l1BlockNumber: bigint): void {
    for (; oldest < l2BlockNumber; oldest++) {
      numbers.delete(blocks.get(oldest)?.block.hash ?? ZERO_HASH)
      blocks.delete(oldest)
    }
    l1.forget(l1BlockNumber)
  }

  addBlock()
  finalize()
  return {
    pending,
    l1,
    addBlock,
    finalize,
    latest: () => latest,
    finalized,
    provable: () => l1.finalizations().at(-1 - proofLag)?.l2BlockNumber ?? -1n,
    at: number => blocks.get(number)?.state,
    timestamp: number => blocks.get(number)?.block.timestamp,
    block: number => blocks.get(number)?.block ?? null,
    numberOf: hash => numbers.get(hash) ?? null,
  }
}
