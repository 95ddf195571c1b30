import type { Layout } from '../beacon/network.ts'
import { merkleize, rootOfBytes, rootOfShortList, rootOfUint } from '../beacon/ssz.ts'
import { bytesToHex, type Hex, hexLength, hexToBytes } from '../bytes.ts'
import { BASE_FEE, type Block, EMPTY_TRIE, GAS_LIMIT } from './block.ts'
import { type SparseTree, sparseBranch, sparseRoot, ZERO_CHUNK } from './ssz.ts'

/** The fork that a beacon block is in. */
export interface Fork {
  readonly name: string
  /** 4 bytes. */
  readonly version: Uint8Array
  readonly layout: Layout
}

/** The beacon block that contains an L1 block, with the trees for its proofs. All roots are 32 bytes. */
export interface BeaconBlock {
  readonly slot: bigint
  readonly fork: Fork
  readonly parentRoot: Uint8Array
  readonly stateRoot: Uint8Array
  readonly bodyRoot: Uint8Array
  readonly root: Uint8Array
  readonly l1Block: Block
  readonly state: SparseTree
  readonly body: SparseTree
}

/** @param state the parts of its state that are filled in */
export function makeBeaconBlock(
  l1Block: Block,
  { slot, fork, parentRoot = ZERO_CHUNK }: { slot: bigint; fork: Fork; parentRoot: Uint8Array | undefined },
  state: SparseTree,
): BeaconBlock {
  const { layout } = fork
  const isGloas = layout.executionKind === 'gloas'
  const execution = isGloas
    ? hexToBytes(l1Block.hash, 32)
    : merkleize(payloadFields(l1Block, layout).map(([, , root]) => root))
  const body = new Map([[layout.execution, execution]])
  const [stateRoot, bodyRoot] = [sparseRoot(state), sparseRoot(body)]
  const root = merkleize([rootOfUint(slot), rootOfUint(0n), parentRoot, stateRoot, bodyRoot])
  return { slot, fork, parentRoot, stateRoot, bodyRoot, root, l1Block, state, body }
}

/** The header as the beacon API describes it. */
export const describeBeaconHeader = ({ slot, parentRoot, stateRoot, bodyRoot }: BeaconBlock) => ({
  slot: `${slot}`,
  proposer_index: '0',
  parent_root: bytesToHex(parentRoot),
  state_root: bytesToHex(stateRoot),
  body_root: bytesToHex(bodyRoot),
})

/** The header with its execution block, as light clients get it. */
export function describeHeader(block: BeaconBlock): object {
  const { l1Block, body } = block
  const { layout } = block.fork
  const isGloas = layout.executionKind === 'gloas'
  const payload = () => Object.fromEntries(payloadFields(l1Block, layout).map(([name, value]) => [name, value]))
  return {
    beacon: describeBeaconHeader(block),
    ...(isGloas ? { execution_block_hash: l1Block.hash } : { execution: payload() }),
    execution_branch: sparseBranch(body, layout.execution).map(bytesToHex),
  }
}

/** The roots of a payload without transactions and withdrawals. */
const NO_TRANSACTIONS: Hex = '0x7ffe241ea60187fdb0187bfa22de35d1f9bed7ab061d9401fd47e34a54fbede1'
const NO_WITHDRAWALS: Hex = '0x792930bbd5baac43bcc798ee49aa8185ef76bb3b44ba62b91d86ae569e4bb535'

/** A field of a payload header: its name, JSON value and root. */
type PayloadField = [name: string, value: string, root: Uint8Array]

/** All fields of an execution payload header. */
function payloadFields(block: Block, { executionKind }: Layout): PayloadField[] {
  const bytes = (name: string, value: Hex): PayloadField => [
    name,
    value,
    rootOfBytes(hexToBytes(value, hexLength(value))),
  ]
  const zeros = (name: string, length: number) => bytes(name, `0x${'00'.repeat(length)}`)
  const number = (name: string, value: bigint): PayloadField => [name, `${value}`, rootOfUint(value)]
  const extra = hexToBytes(block.extraData, hexLength(block.extraData))
  return [
    bytes('parent_hash', block.parentHash),
    zeros('fee_recipient', 20),
    bytes('state_root', block.stateRoot),
    bytes('receipts_root', EMPTY_TRIE),
    zeros('logs_bloom', 256),
    zeros('prev_randao', 32),
    number('block_number', block.number),
    number('gas_limit', GAS_LIMIT),
    number('gas_used', 0n),
    number('timestamp', block.timestamp),
    ['extra_data', block.extraData, rootOfShortList(extra)],
    number('base_fee_per_gas', BASE_FEE),
    bytes('block_hash', block.hash),
    bytes('transactions_root', NO_TRANSACTIONS),
    bytes('withdrawals_root', NO_WITHDRAWALS),
    ...(executionKind === 'deneb' ? [number('blob_gas_used', 0n), number('excess_blob_gas', 0n)] : []),
  ]
}
