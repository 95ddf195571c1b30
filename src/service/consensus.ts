import type { BeaconNetwork } from '../beacon/network.ts'
import { byteAt, bytesToHex, type Hex, hexLength, hexToBytes } from '../bytes.ts'
import type { BeaconAnswer } from './beacon.ts'
import { BASE_FEE, type Block, EMPTY_TRIE, GAS_LIMIT } from './block.ts'
import { COMMITTEE_SIZE, type Committee, createCommittees } from './committee.ts'
import type { L1 } from './simulated-l1.ts'
import {
  bytesRoot,
  chunksOf,
  hashPair,
  integerChunk,
  merkleize,
  type SparseTree,
  sparseBranch,
  sparseRoot,
  ZERO_CHUNK,
} from './ssz.ts'

/** The consensus layer, once it is loaded. */
export interface Consensus {
  blockRoot(l1BlockNumber: bigint): Hex | null
  answer(path: string, query: URLSearchParams): Promise<BeaconAnswer>
}

interface BeaconHeader {
  readonly slot: bigint
  readonly parentRoot: Uint8Array
  readonly stateRoot: Uint8Array
  readonly bodyRoot: Uint8Array
}

/** The beacon block that contains an L1 block, with the trees for its proofs. */
interface BeaconBlock {
  readonly header: BeaconHeader
  readonly root: Uint8Array
  readonly l1Block: Block
  readonly state: SparseTree
  readonly body: SparseTree
}

/** A fork's generalized indices in the beacon state and in the block body. */
interface Layout {
  readonly finalized: number
  readonly current: number
  readonly next: number
  readonly execution: number
  readonly executionKind: 'capella' | 'deneb' | 'gloas'
}

const early = { finalized: 105, current: 54, next: 55, execution: 25 }
const electra = { finalized: 169, current: 86, next: 87, execution: 25 }
const layouts: Readonly<Record<string, Layout>> = {
  capella: { ...early, executionKind: 'capella' },
  deneb: { ...early, executionKind: 'deneb' },
  electra: { ...electra, executionKind: 'deneb' },
  fulu: { ...electra, executionKind: 'deneb' },
  gloas: { finalized: 735, current: 2945, next: 2946, execution: 2856, executionKind: 'gloas' },
}

const SLOTS_PER_EPOCH = 32n
const SLOTS_PER_PERIOD = 8192
/** The limit that the beacon API specifies. */
const MAX_UPDATES = 128
/** Limit on cached answers. They are cached because each signature takes some 50 ms. */
const MAX_REMEMBERED = 256
/** The roots of a payload without transactions and withdrawals. */
const NO_TRANSACTIONS: Hex = '0x7ffe241ea60187fdb0187bfa22de35d1f9bed7ab061d9401fd47e34a54fbede1'
const NO_WITHDRAWALS: Hex = '0x792930bbd5baac43bcc798ee49aa8185ef76bb3b44ba62b91d86ae569e4bb535'
const DOMAIN_SYNC_COMMITTEE = Uint8Array.of(7, 0, 0, 0)

/**
 * The number of slots between beacon blocks. A period has at least 8 beacon blocks, and enough that one of them can be
 * finalized in the state of another.
 *
 * @param unfinalized how many of the newest L1 blocks are not final
 */
function slotsPerBlock(unfinalized: number): number {
  const blocks = 2 ** Math.ceil(Math.log2(Math.max(8, unfinalized + 2)))
  return Math.max(2, SLOTS_PER_PERIOD / blocks)
}

export function createConsensus(l1: L1, network: BeaconNetwork, unfinalized: number): Consensus {
  const committeeOf = createCommittees()
  const spacing = BigInt(slotsPerBlock(unfinalized))
  /** By L1 block number, in ascending order. */
  const blocks = new Map<bigint, BeaconBlock>()
  const byRoot = new Map<Hex, bigint>()
  const signed = new Map<string, object>()

  const slotOf = (l1BlockNumber: bigint) => (l1BlockNumber + 1n) * spacing
  const periodAt = (slot: bigint) => Number(slot / BigInt(SLOTS_PER_PERIOD))
  const forkAt = (slot: bigint) => {
    const fork = network.forks.findLast(({ epoch }) => epoch !== null && slot / SLOTS_PER_EPOCH >= BigInt(epoch))
    const layout = layouts[fork?.name ?? '']
    // Unreachable: the first fork starts at slot 0, and every fork of the network has a layout.
    if (fork === undefined || layout === undefined) throw new RangeError(`no fork at slot ${slot}`)
    return { ...fork, layout }
  }

  /** The number of the L1 block that is final in the state of this L1 block's beacon block. */
  const finalizedIn = (l1BlockNumber: bigint) => l1BlockNumber - 1n - BigInt(unfinalized)

  function makeBlock(l1Block: Block): BeaconBlock {
    const slot = slotOf(l1Block.number)
    const { layout } = forkAt(slot)
    const finalized = blocks.get(finalizedIn(l1Block.number))
    const period = periodAt(slot)
    const state = new Map([
      [layout.finalized ^ 1, integerChunk((finalized?.header.slot ?? 0n) / SLOTS_PER_EPOCH)],
      [layout.finalized, finalized?.root ?? ZERO_CHUNK],
      [layout.current, committeeOf(period).root],
      [layout.next, committeeOf(period + 1).root],
    ])
    const isGloas = layout.executionKind === 'gloas'
    const execution = isGloas ? hexToBytes(l1Block.hash, 32) : payloadRoot(l1Block, layout)
    const body = new Map([[layout.execution, execution]])
    const parentRoot = blocks.get(l1Block.number - 1n)?.root ?? ZERO_CHUNK
    const header = { slot, parentRoot, stateRoot: sparseRoot(state), bodyRoot: sparseRoot(body) }
    return { header, root: headerRoot(header), l1Block, state, body }
  }

  /** Adds beacon blocks for new L1 blocks, and drops those of L1 blocks that have been pruned or replaced. */
  function catchUp(): void {
    const newest = l1.blockNumber()
    const drop = (number: bigint, { root }: BeaconBlock) => {
      blocks.delete(number)
      byRoot.delete(bytesToHex(root))
    }
    for (const [number, block] of blocks) {
      if (number >= l1.oldest()) break
      drop(number, block)
    }
    let last = [...blocks.keys()].at(-1) ?? l1.oldest() - 1n
    for (; last >= l1.oldest(); last--) {
      const block = blocks.get(last)
      if (block === undefined || block.l1Block.hash === l1.block(last)?.hash) break
      drop(last, block)
    }
    for (let number = last + 1n; number <= newest; number++) {
      const l1Block = l1.block(number)
      if (l1Block === null) continue
      const block = makeBlock(l1Block)
      blocks.set(number, block)
      byRoot.set(bytesToHex(block.root), number)
    }
  }

  /** The beacon block of an L1 block. For the number after the newest, a preview with an empty L1 block. */
  const blockOver = (l1BlockNumber: bigint): BeaconBlock | undefined =>
    l1BlockNumber === l1.blockNumber() + 1n ? makeBlock(l1.nextBlock()) : blocks.get(l1BlockNumber)

  /** The signed part of an update: the attested header, the finalized one, and the signature in the next slot. */
  function attest(attested: BeaconBlock, finalized: BeaconBlock): object {
    const { slot } = attested.header
    const { layout, version } = forkAt(slot)
    const signatureSlot = slot + 1n
    const forkData = hashPair(chunkOf(hexToBytes(version, 4)), hexToBytes(network.genesisValidatorsRoot, 32))
    const domain = new Uint8Array(32)
    domain.set(DOMAIN_SYNC_COMMITTEE)
    domain.set(forkData.subarray(0, 28), 4)
    // Some members are absent, but never so many that the signature is invalid.
    const absent = Number((slot / spacing) % 40n)
    const signs = (index: number) => index % 13 !== Number(slot % 13n) || Math.floor(index / 13) >= absent
    const committee = committeeOf(periodAt(signatureSlot))
    const bits = new Uint8Array(COMMITTEE_SIZE / 8)
    for (let index = 0; index < COMMITTEE_SIZE; index++) {
      if (signs(index)) bits[index >> 3] = byteAt(bits, index >> 3) | (1 << (index & 7))
    }
    return {
      attested_header: describeHeader(attested),
      finalized_header: describeHeader(finalized),
      finality_branch: sparseBranch(attested.state, layout.finalized).map(bytesToHex),
      sync_aggregate: {
        sync_committee_bits: bytesToHex(bits),
        sync_committee_signature: bytesToHex(committee.sign(hashPair(attested.root, domain), signs)),
      },
      signature_slot: `${signatureSlot}`,
    }
  }

  function describeHeader({ header, l1Block, body }: BeaconBlock): object {
    const { layout } = forkAt(header.slot)
    const isGloas = layout.executionKind === 'gloas'
    return {
      beacon: describeBeaconHeader(header),
      ...(isGloas ? { execution_block_hash: l1Block.hash } : { execution: describePayload(l1Block, layout) }),
      execution_branch: sparseBranch(body, layout.execution).map(bytesToHex),
    }
  }

  const nameAt = (slot: bigint) => forkAt(slot).name

  /** Caches signed answers, and evicts the least recently used. */
  function remember(key: string, make: () => object): object {
    const answer = signed.get(key) ?? make()
    signed.delete(key)
    signed.set(key, answer)
    for (const oldest of signed.keys()) {
      if (signed.size <= MAX_REMEMBERED) break
      signed.delete(oldest)
    }
    return answer
  }

  /** The best update of a period: that of its newest attested block. Null if the finalized block is in another period. */
  function updateOf(period: number): object | null {
    const perPeriod = BigInt(SLOTS_PER_PERIOD) / spacing
    const lastOfPeriod = (BigInt(period) + 1n) * perPeriod - 2n
    const newest = l1.blockNumber() + 1n
    const attested = blockOver(lastOfPeriod < newest ? lastOfPeriod : newest)
    const finalized = attested && blocks.get(finalizedIn(attested.l1Block.number))
    if (!attested || !finalized) return null
    if (periodAt(attested.header.slot) !== period || periodAt(finalized.header.slot) !== period) return null
    const { layout, name } = forkAt(attested.header.slot)
    return remember(`update ${bytesToHex(attested.root)}`, () => {
      const { attested_header, ...rest } = attest(attested, finalized) as Record<string, unknown>
      return {
        version: name,
        data: {
          attested_header,
          next_sync_committee: describeCommittee(committeeOf(period + 1)),
          next_sync_committee_branch: sparseBranch(attested.state, layout.next).map(bytesToHex),
          ...rest,
        },
      }
    })
  }

  function finalityUpdate(): object | null {
    const attested = blockOver(l1.blockNumber() + 1n)
    const finalized = attested && blocks.get(finalizedIn(attested.l1Block.number))
    if (!attested || !finalized) return null
    return remember(`finality ${bytesToHex(attested.root)}`, () => ({
      version: nameAt(attested.header.slot),
      data: attest(attested, finalized),
    }))
  }

  function bootstrap(root: Hex): object | null {
    const block = finalBlock(root)
    if (block === null) return null
    const { layout, name } = forkAt(block.header.slot)
    return {
      version: name,
      data: {
        header: describeHeader(block),
        current_sync_committee: describeCommittee(committeeOf(periodAt(block.header.slot))),
        current_sync_committee_branch: sparseBranch(block.state, layout.current).map(bytesToHex),
      },
    }
  }

  const isFinal = (number: bigint) => number <= l1.blockNumber('finalized')

  function finalBlock(root: Hex): BeaconBlock | null {
    const number = byRoot.get(root)
    return (number !== undefined && isFinal(number) && blocks.get(number)) || null
  }

  /** @param id `head`, `finalized`, a slot or a root */
  function findBlock(id: string): BeaconBlock | null {
    if (id === 'head') return blocks.get(l1.blockNumber()) ?? null
    if (id === 'finalized') return blocks.get(l1.blockNumber('finalized')) ?? null
    if (/^0x[0-9a-f]{64}$/i.test(id)) return blocks.get(byRoot.get(`0x${id.slice(2).toLowerCase()}`) ?? -1n) ?? null
    if (!/^\d{1,20}$/.test(id)) throw new BadRequest('block_id: expected head, finalized, a slot or a root')
    const slot = BigInt(id)
    return slot % spacing === 0n ? (blocks.get(slot / spacing - 1n) ?? null) : null
  }

  const canonical = (block: BeaconBlock, data: object) => ({
    execution_optimistic: false,
    finalized: isFinal(block.l1Block.number),
    data,
  })

  async function updates(query: URLSearchParams): Promise<object[]> {
    const start = numberOf('start_period', query.get('start_period'))
    const count = Math.min(numberOf('count', query.get('count')), MAX_UPDATES)
    const found: object[] = []
    for (let period = start; period < start + count; period++) {
      const update = updateOf(period)
      if (update === null) break
      found.push(update)
      // Yield between signatures, so that other requests are answered.
      await new Promise(resolve => setImmediate(resolve))
    }
    return found
  }

  /** @returns null if there is no such path or block */
  function find(path: string, query: URLSearchParams): object | null | Promise<object> {
    if (path === '/eth/v1/beacon/light_client/updates') return updates(query)
    if (path === '/eth/v1/beacon/light_client/finality_update') return finalityUpdate()
    if (path === '/eth/v1/beacon/genesis') {
      const { genesisTime, genesisValidatorsRoot, forks } = network
      const genesis_fork_version = forks[0]?.version ?? '0x'
      return {
        data: { genesis_time: `${genesisTime}`, genesis_validators_root: genesisValidatorsRoot, genesis_fork_version },
      }
    }
    const [, kind = '', id = '', rest = ''] =
      /^\/eth\/v1\/beacon\/(light_client\/bootstrap|headers|blocks)\/(\w{1,66})(\/root)?$/.exec(path) ?? []
    if (kind === 'light_client/bootstrap' && rest === '') {
      if (!/^0x[0-9a-f]{64}$/i.test(id)) throw new BadRequest('block_root: expected 32 bytes')
      return bootstrap(`0x${id.slice(2).toLowerCase()}`)
    }
    if ((kind === 'headers') === (rest === '/root') || kind === '') return null
    const block = findBlock(id)
    if (block === null) return null
    const root = bytesToHex(block.root)
    if (kind === 'blocks') return canonical(block, { root })
    const header = { message: describeBeaconHeader(block.header), signature: `0x${'00'.repeat(96)}` }
    return canonical(block, { root, canonical: true, header })
  }

  return {
    blockRoot(l1BlockNumber) {
      catchUp()
      const block = blocks.get(l1BlockNumber)
      return block ? bytesToHex(block.root) : null
    },
    async answer(path, query) {
      catchUp()
      try {
        const body = await find(path, query)
        return body === null ? failure(404, 'not found') : { status: 200, body }
      } catch (error) {
        if (error instanceof BadRequest) return failure(400, error.message)
        throw error
      }
    },
  }
}

class BadRequest extends Error {}

const failure = (code: number, message: string): BeaconAnswer => ({ status: code, body: { code, message } })

function numberOf(name: string, text: string | null): number {
  if (text === null || !/^\d{1,9}$/.test(text)) throw new BadRequest(`${name}: expected a number`)
  return Number(text)
}

const chunkOf = (bytes: Uint8Array): Uint8Array => chunksOf(bytes)[0] ?? ZERO_CHUNK

const headerRoot = ({ slot, parentRoot, stateRoot, bodyRoot }: BeaconHeader): Uint8Array =>
  merkleize([integerChunk(slot), integerChunk(0n), parentRoot, stateRoot, bodyRoot])

const describeBeaconHeader = ({ slot, parentRoot, stateRoot, bodyRoot }: BeaconHeader) => ({
  slot: `${slot}`,
  proposer_index: '0',
  parent_root: bytesToHex(parentRoot),
  state_root: bytesToHex(stateRoot),
  body_root: bytesToHex(bodyRoot),
})

const describeCommittee = ({ pubkeys, aggregate }: Committee) => ({
  pubkeys: pubkeys.map(bytesToHex),
  aggregate_pubkey: bytesToHex(aggregate),
})

const ZEROS = new Uint8Array(256)

/** The fields of an execution payload header: name, JSON value and root. */
function payloadFields(block: Block, { executionKind }: Layout): [string, string, Uint8Array][] {
  const hash = (name: string, value: Hex): [string, string, Uint8Array] => [name, value, hexToBytes(value, 32)]
  const number = (name: string, value: bigint): [string, string, Uint8Array] => [name, `${value}`, integerChunk(value)]
  const fixed = (name: string, value: Uint8Array): [string, string, Uint8Array] => [
    name,
    bytesToHex(value),
    bytesRoot(value),
  ]
  const extra = hexToBytes(block.extraData, hexLength(block.extraData))
  return [
    hash('parent_hash', block.parentHash),
    fixed('fee_recipient', ZEROS.slice(0, 20)),
    hash('state_root', block.stateRoot),
    hash('receipts_root', EMPTY_TRIE),
    fixed('logs_bloom', ZEROS),
    fixed('prev_randao', ZEROS.slice(0, 32)),
    number('block_number', block.number),
    number('gas_limit', GAS_LIMIT),
    number('gas_used', 0n),
    number('timestamp', block.timestamp),
    ['extra_data', block.extraData, hashPair(chunkOf(extra), integerChunk(BigInt(extra.length)))],
    number('base_fee_per_gas', BASE_FEE),
    hash('block_hash', block.hash),
    hash('transactions_root', NO_TRANSACTIONS),
    hash('withdrawals_root', NO_WITHDRAWALS),
    ...(executionKind === 'deneb' ? [number('blob_gas_used', 0n), number('excess_blob_gas', 0n)] : []),
  ]
}

const payloadRoot = (block: Block, layout: Layout): Uint8Array =>
  merkleize(payloadFields(block, layout).map(([, , root]) => root))

const describePayload = (block: Block, layout: Layout): object =>
  Object.fromEntries(payloadFields(block, layout).map(([name, value]) => [name, value]))
