import type { Rollup } from '../anchor/rollup.ts'
import type { World } from '../world/world.ts'
import { createL1, type SimulatedL1 } from './simulated-l1.ts'

/** An L2 of which every block is held, and the L1 on which it is finalized. Block 0 is, from the start. */
export interface Chain {
  /** The state that the next block will have: write to it. */
  readonly pending: World
  /** Where the roots of finalized blocks are written. */
  readonly l1: SimulatedL1
  /** Makes the pending state a block. @returns its number */
  addBlock(): bigint
  /** Finalizes every block up to the newest on L1. Without a new one it changes nothing. */
  finalize(): void
  /** The number of the newest block. */
  latest(): bigint
  /** The number of the newest finalized block. */
  finalized(): bigint
  /** The newest block that proofs are served of; -1 when there is none. */
  provable(): bigint
  /**
   * The state at a block, to read; undefined when there is no such block.
   *
   * @param number from 0
   */
  at(number: bigint): World | undefined
}

/**
 * @param genesis the state of block 0; the chain keeps a fork of it
 * @param proofLag how many finalizations the proofs are behind
 */
export function createChain(genesis: World, rollup: Rollup, proofLag = 0): Chain {
  const pending = genesis.fork()
  const blocks = [pending.fork()]
  const l1 = createL1(rollup)
  const latest = () => BigInt(blocks.length - 1)
  const finalizations: bigint[] = []
  const finalized = () => finalizations.at(-1) ?? -1n

  function finalize(): void {
    if (finalized() === latest()) return
    finalizations.push(latest())
    const newest = blocks.at(-1) ?? pending
    l1.finalize(latest(), newest.stateRoot())
  }

  finalize()
  return {
    pending,
    l1,
    addBlock: () => BigInt(blocks.push(pending.fork()) - 1),
    finalize,
    latest,
    finalized,
    provable: () => finalizations.at(-1 - proofLag) ?? -1n,
    at: number => blocks[Number(number)],
  }
}
