import {
  type BeaconNetwork,
  decodeNetwork,
  forkAt,
  periodOf,
  SLOTS_PER_EPOCH,
  SLOTS_PER_PERIOD,
} from '../beacon/network.ts'
import { rootOfUint } from '../beacon/ssz.ts'
import { type Hex, hexToBytes } from '../bytes.ts'
import { type BeaconBlock, makeBeaconBlock } from './beacon-block.ts'
import { type Block, ZERO_HASH } from './block.ts'
import { createBlockStore } from './block-store.ts'
import { createCommittees } from './committee.ts'
import type { L1 } from './simulated-l1.ts'

export type BeaconChain = ReturnType<typeof createBeaconChain>

/**
 * The number of slots between beacon blocks. A period has at least 8 beacon blocks, and enough that one of them can be
 * finalized in the state of another.
 */
function slotsPerBlock(unfinalized: number): bigint {
  const blocks = 2 ** Math.ceil(Math.log2(Math.max(8, unfinalized + 2)))
  return BigInt(Math.max(2, Number(SLOTS_PER_PERIOD) / blocks))
}

/**
 * The beacon blocks of the simulated L1, by L1 block number.
 *
 * @param unfinalized how many of the newest L1 blocks are not final
 */
export function createBeaconChain(l1: L1, network: BeaconNetwork, unfinalized: number) {
  const decoded = decodeNetwork(network)
  const committeeOf = createCommittees()
  const spacing = slotsPerBlock(unfinalized)
  const blocks = createBlockStore<BeaconBlock>(({ root }) => root)

  /** The beacon block that is final in the state of this L1 block's beacon block. */
  const finalizedIn = ({ number }: Block) => blocks.at(number - 1n - BigInt(unfinalized))

  function makeBlock(l1Block: Block): BeaconBlock {
    const slot = (l1Block.number + 1n) * spacing
    const fork = forkAt(decoded, slot)
    const finalized = finalizedIn(l1Block)
    const period = periodOf(slot)
    const state = new Map([
      [fork.layout.finalizedRoot ^ 1, rootOfUint((finalized?.slot ?? 0n) / SLOTS_PER_EPOCH)],
      [fork.layout.finalizedRoot, hexToBytes(finalized?.root ?? ZERO_HASH, 32)],
      [fork.layout.currentCommittee, committeeOf(period).root],
      [fork.layout.nextCommittee, committeeOf(period + 1).root],
    ])
    return makeBeaconBlock(l1Block, { slot, fork, parent: blocks.at(l1Block.number - 1n) }, state)
  }

  return {
    at: blocks.at,
    newest: blocks.newest,
    withRoot: (root: Hex) => blocks.at(blocks.numberOf(root) ?? -1n),
    network: decoded,
    committeeOf,
    /** Adds beacon blocks for new L1 blocks, and drops those of L1 blocks that have been pruned or replaced. */
    catchUp(): void {
      blocks.forget(l1.blocks.oldest())
      const isReplaced = (number: bigint) => blocks.at(number)?.l1Block.hash !== l1.blocks.at(number)?.block.hash
      let last = blocks.newest()
      while (last >= blocks.oldest() && isReplaced(last)) last--
      blocks.rewind(last)
      for (let next = l1.blocks.at(++last); next !== undefined; next = l1.blocks.at(++last))
        blocks.add(makeBlock(next.block))
    },
    /** The newest block of a period that can be attested. It may be the next block of all, with an empty L1 block. */
    attestedIn(period = Number.MAX_SAFE_INTEGER): BeaconBlock | undefined {
      const lastOfPeriod = (BigInt(period) + 1n) * (SLOTS_PER_PERIOD / spacing) - 2n
      return lastOfPeriod <= blocks.newest() ? blocks.at(lastOfPeriod) : makeBlock(l1.nextBlock())
    },
    finalizedIn,
    isFinal: ({ l1Block }: BeaconBlock): boolean => l1Block.number <= l1.blockNumber('finalized'),
    finalized: (): BeaconBlock | undefined => blocks.at(l1.blockNumber('finalized')),
    atSlot: (slot: bigint): BeaconBlock | undefined =>
      slot % spacing === 0n ? blocks.at(slot / spacing - 1n) : undefined,
  }
}
