import { decodeBeacon, executionOf } from '../beacon/decode.ts'
import type { forkAt, Layout } from '../beacon/network.ts'
import { hashPair } from '../beacon/ssz.ts'
import { bytesToHex, type Hex } from '../bytes.ts'
import { BASE_FEE, type Block, EMPTY_TRIE, GAS_LIMIT, zeros } from './block.ts'

export type Fork = ReturnType<typeof forkAt>

/** The beacon block that contains an L1 block. */
export interface BeaconBlock {
  readonly slot: bigint
  readonly fork: Fork
  readonly l1Block: Block
  readonly root: Hex
  /** The state, for proofs of its parts. */
  readonly state: SparseTree
  /** As the beacon API describes it. */
  readonly header: object
  /** The header with its execution block, as light clients get it. */
  readonly lightHeader: object
}

/** @param state the parts of its state that are filled in */
export function makeBeaconBlock(
  l1Block: Block,
  { slot, fork, parent }: { slot: bigint; fork: Fork; parent: BeaconBlock | undefined },
  state: SparseTree,
): BeaconBlock {
  const { layout } = fork
  const isGloas = layout.executionKind === 'gloas'
  const execution = isGloas ? l1Block.hash : describePayload(l1Block, layout)
  const body = new Map([[layout.execution, executionOf(layout)(execution).root]])
  const header = {
    slot: `${slot}`,
    proposer_index: '0',
    parent_root: parent?.root ?? zeros(32),
    state_root: bytesToHex(sparseRoot(state)),
    body_root: bytesToHex(sparseRoot(body)),
  }
  const lightHeader = {
    beacon: header,
    [isGloas ? 'execution_block_hash' : 'execution']: execution,
    execution_branch: sparseBranch(body, layout.execution),
  }
  return { slot, fork, l1Block, root: bytesToHex(decodeBeacon(header).root), state, header, lightHeader }
}

/** The header of the execution payload. */
const describePayload = (block: Block, { executionKind }: Layout) => ({
  parent_hash: block.parentHash,
  fee_recipient: zeros(20),
  state_root: block.stateRoot,
  receipts_root: EMPTY_TRIE,
  logs_bloom: zeros(256),
  prev_randao: zeros(32),
  block_number: `${block.number}`,
  gas_limit: `${GAS_LIMIT}`,
  gas_used: '0',
  timestamp: `${block.timestamp}`,
  extra_data: block.extraData,
  base_fee_per_gas: `${BASE_FEE}`,
  block_hash: block.hash,
  // The roots of no transactions and no withdrawals.
  transactions_root: '0x7ffe241ea60187fdb0187bfa22de35d1f9bed7ab061d9401fd47e34a54fbede1',
  withdrawals_root: '0x792930bbd5baac43bcc798ee49aa8185ef76bb3b44ba62b91d86ae569e4bb535',
  ...(executionKind === 'deneb' && { blob_gas_used: '0', excess_blob_gas: '0' }),
})

/** A container with only a few parts filled in, by generalized index. The rest is zero. */
type SparseTree = ReadonlyMap<number, Uint8Array>

function sparseRoot(tree: SparseTree, index = 1): Uint8Array {
  const leaf = tree.get(index)
  if (leaf !== undefined) return leaf
  const isAbove = [...tree.keys()].some(below => {
    const distance = Math.floor(Math.log2(below)) - Math.floor(Math.log2(index))
    return distance > 0 && Math.floor(below / 2 ** distance) === index
  })
  return isAbove ? hashPair(sparseRoot(tree, 2 * index), sparseRoot(tree, 2 * index + 1)) : new Uint8Array(32)
}

/** The sibling hashes from `index` up to the root, lowest first. */
export function sparseBranch(tree: SparseTree, index: number): Hex[] {
  return index === 1 ? [] : [bytesToHex(sparseRoot(tree, index ^ 1)), ...sparseBranch(tree, index >> 1)]
}
