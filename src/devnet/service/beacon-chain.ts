import { normalizeZ } from '@noble/curves/abstract/curve.js'
import { bls12_381 } from '@noble/curves/bls12-381.js'
import { bigintToBytes, byteAt, bytesToBigint, bytesToHex, type Hex, hexToBytes } from '../../base/bytes.ts'
import { atPath } from '../../base/errors.ts'
import { EMPTY_TRIE_ROOT } from '../../verify/anchor/trie.ts'
import { clockOf, MAINNET_PRESET, periodOf } from '../../verify/beacon/clock.ts'
import { decodeBeacon, executionOf } from '../../verify/beacon/decode.ts'
import { type BeaconNetwork, decodeNetwork, forkAt, type Layout } from '../../verify/beacon/network.ts'
import { hashPair, merkleize, rootOfBytes, rootOfUint } from '../../verify/beacon/ssz.ts'
import { keccak256 } from '../../verify/hash/keccak/index.ts'
import { BASE_FEE, type Block, GAS_LIMIT, ZERO_HASH, zeros } from './block.ts'
import { asArgument } from './content.ts'
import type { L1 } from './simulated-l1.ts'

const { committeeSize } = MAINNET_PRESET
/** More keys than a committee has members, so that the members change with each period. */
const POOL_SIZE = 640
const STEP = 37
const DOMAIN = 'BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_'

const { Point, Fn } = { Point: bls12_381.G1.Point, Fn: bls12_381.fields.Fr }

type SimulatedCommittee = ReturnType<typeof makeCommittee>

/** Computed once and shared by all services in this process: the public keys, and at most {@link POOL_SIZE} committees. */
let pool: readonly Uint8Array[] | undefined
const made = /* @__PURE__ */ new Map<number, SimulatedCommittee>()

function createPool(): readonly Uint8Array[] {
  const points = [Point.BASE.multiply(firstSecret())]
  for (let index = 1; index < POOL_SIZE; index++) points.push((points[index - 1] ?? Point.BASE).add(Point.BASE))
  return normalizeZ(Point, points).map(encodeKey)
}

/** In 48 bytes. The point's own `toBytes` first checks its subgroup, which takes a hundred times as long; multiples of the base are in it. */
export function encodeKey(point: { toAffine(): { x: bigint; y: bigint } }): Uint8Array {
  const { x, y } = point.toAffine()
  const bytes = bigintToBytes(x, 48)
  // The flags: compressed, and which of the two points with this x.
  bytes[0] = byteAt(bytes, 0) | (2n * y > bls12_381.fields.Fp.ORDER ? 0xa0 : 0x80)
  return bytes
}

const firstSecret = (): bigint =>
  Fn.create(bytesToBigint(keccak256(new TextEncoder().encode('the committees of a devnet'))))

/**
 * The secret keys are consecutive numbers. So each public key is one addition away from the previous one, and the aggregate
 * signature of many members is a single signature by the sum of their keys. This is a simulation: everybody knows these keys.
 */
function makeCommittee(shift: number) {
  const first = firstSecret()
  pool ??= createPool()
  const keys = pool
  const members = Array.from({ length: committeeSize }, (_, index) => (shift + index) % POOL_SIZE)
  const pubkeys = members.map(member => keys[member] ?? new Uint8Array(48))
  const secretOf = (signs: (index: number) => boolean): bigint =>
    members.reduce((sum, member, index) => (signs(index) ? Fn.add(sum, first + BigInt(member)) : sum), 0n)
  const aggregate = Point.BASE.multiply(secretOf(() => true)).toBytes()
  return {
    /** 48 bytes each, like the aggregate. */
    pubkeys,
    aggregate,
    root: hashPair(merkleize(pubkeys.map(rootOfBytes)), rootOfBytes(aggregate)),
    /** @param signs whether the member at this index signs @returns 96 bytes */
    sign(message: Uint8Array, signs: (index: number) => boolean): Uint8Array {
      const { longSignatures } = bls12_381
      const signature = longSignatures.sign(longSignatures.hash(message, DOMAIN), Fn.toBytes(secretOf(signs)))
      return longSignatures.Signature.toBytes(signature)
    },
  }
}

export function committeeOf(period: number): SimulatedCommittee {
  const shift = (period * STEP) % POOL_SIZE
  const committee = made.get(shift) ?? makeCommittee(shift)
  made.set(shift, committee)
  return committee
}

export type BeaconChain = ReturnType<typeof createBeaconChain>

/** The slots between beacon blocks: a period has at least 8 blocks, and enough that one can be finalized in the state of another. */
function slotsPerBlock(slotsPerPeriod: number, unfinalized: number): bigint {
  const blocks = 2 ** Math.ceil(Math.log2(Math.max(8, unfinalized + 2)))
  return BigInt(Math.max(2, slotsPerPeriod / blocks))
}

/** Which slot a new L1 block has. */
type SlotOf = (l1Block: Pick<Block, 'number' | 'timestamp'>) => bigint

/** Each L1 block is many slots after its parent, so that sync committee periods and forks pass quickly. */
export function quickSlots(network: BeaconNetwork, unfinalized: number): SlotOf {
  const spacing = slotsPerBlock(clockOf(network).slotsPerPeriod, unfinalized)
  return ({ number }) => (number + 1n) * spacing
}

/**
 * The slots of a real network: the last whole one before the block. Blocks may be a few seconds ahead of the clock, and the signature
 * is of the next slot: it must not be of a time that is still to come.
 */
export function slotsByTime(network: BeaconNetwork): SlotOf {
  const { secondsPerSlot } = clockOf(network)
  return ({ timestamp }) => (timestamp - BigInt(network.genesisTime)) / BigInt(secondsPerSlot) - 1n
}

/** Oldest first. Of L1 blocks in the same slot, only the last has a beacon block. @param unfinalized how many of the newest L1 blocks */
export function createBeaconChain(l1: L1, network: BeaconNetwork, slotOf: SlotOf, unfinalized: number) {
  const decoded = decodeNetwork(network)
  const { slotsPerEpoch } = clockOf(network)
  const first = l1.blocks.at(l1.blocks.oldest())?.block
  // Throws now, and not as an answer, if the network has no fork at this time.
  if (first !== undefined) asArgument(() => atPath('beacon', () => forkAt(decoded, slotOf(first))))
  let blocks: BeaconBlock[] = []

  const newestUpTo = (l1BlockNumber: bigint) => blocks.findLast(({ l1Block }) => l1Block.number <= l1BlockNumber)
  /** The beacon block that is final in the state of this L1 block's beacon block. */
  const finalizedIn = ({ number }: Block) => newestUpTo(number - 1n - BigInt(unfinalized))

  function makeBlock(l1Block: Block): BeaconBlock {
    const slot = slotOf(l1Block)
    const fork = forkAt(decoded, slot)
    const finalized = finalizedIn(l1Block)
    const period = periodOf(network, slot)
    const state = new Map([
      [fork.layout.finalizedRoot ^ 1, rootOfUint((finalized?.slot ?? 0n) / BigInt(slotsPerEpoch))],
      [fork.layout.finalizedRoot, hexToBytes(finalized?.root ?? ZERO_HASH, 32)],
      [fork.layout.currentCommittee, committeeOf(period).root],
      [fork.layout.nextCommittee, committeeOf(period + 1).root],
    ])
    return makeBeaconBlock({ slot, fork, l1Block, state }, blocks.at(-1))
  }

  const isNew = (l1Block: Block): boolean => slotOf(l1Block) > (blocks.at(-1)?.slot ?? -1n)

  function addBlock(l1Block: Block): void {
    if (!isNew(l1Block)) blocks.pop()
    blocks.push(makeBlock(l1Block))
  }

  /** The next L1 block may still take the slot of the newest one. */
  function lastFinal(): bigint {
    const last = blocks.at(-1)
    const final = l1.blockNumber('finalized')
    return last?.l1Block.number === final && !isNew(l1.nextBlock()) ? final - 1n : final
  }

  return {
    newest: () => blocks.at(-1),
    withRoot: (root: Hex) => blocks.find(block => block.root === root),
    withL1Block: (number: bigint) => blocks.find(({ l1Block }) => l1Block.number === number),
    atSlot: (slot: bigint) => blocks.find(block => block.slot === slot),
    network: decoded,
    /** Adds beacon blocks for new L1 blocks, and drops those of L1 blocks that have been pruned or replaced. */
    catchUp(): void {
      blocks = blocks.filter(({ l1Block }) => l1.blocks.at(l1Block.number)?.block.hash === l1Block.hash)
      let number = blocks.at(-1)?.l1Block.number ?? l1.blocks.oldest() - 1n
      for (let next = l1.blocks.at(++number); next !== undefined; next = l1.blocks.at(++number)) addBlock(next.block)
    },
    /** The newest block of a period that can be attested. It may be the next block of all, with an empty L1 block. */
    attestedIn(period = Number.MAX_SAFE_INTEGER): BeaconBlock | undefined {
      const next = l1.nextBlock()
      if (isNew(next) && periodOf(network, slotOf(next)) <= period) return makeBlock(next)
      return blocks.findLast(({ slot }) => periodOf(network, slot) <= period)
    },
    finalizedIn,
    isFinal: ({ l1Block }: BeaconBlock): boolean => l1Block.number <= lastFinal(),
    finalized: () => newestUpTo(lastFinal()),
  }
}

/** The beacon block that contains an L1 block. */
export interface BeaconBlock {
  readonly slot: bigint
  readonly fork: ReturnType<typeof forkAt>
  readonly l1Block: Block
  readonly root: Hex
  /** The parts of the state that are filled in, for proofs of them. */
  readonly state: SparseTree
  /** As the beacon API describes it. */
  readonly header: object
  /** The header with its execution block, as light clients get it. */
  readonly lightHeader: object
}

function makeBeaconBlock(
  { slot, fork, l1Block, state }: Pick<BeaconBlock, 'slot' | 'fork' | 'l1Block' | 'state'>,
  parent: BeaconBlock | undefined,
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
  receipts_root: EMPTY_TRIE_ROOT,
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
