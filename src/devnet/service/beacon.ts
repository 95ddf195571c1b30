import { byteAt, bytesToHex, type Hex, hexToBytes } from '../../base/bytes.ts'
import { lowerCase } from '../../base/hex.ts'
import { createCache } from '../../provider/cache.ts'
import { MAINNET_PRESET, periodOf } from '../../verify/beacon/clock.ts'
import { signingRoot } from '../../verify/beacon/committee.ts'
import type { BeaconNetwork } from '../../verify/beacon/network.ts'
import {
  type BeaconBlock,
  type BeaconChain,
  committeeOf,
  createBeaconChain,
  quickSlots,
  slotsByTime,
  sparseBranch,
} from './beacon-chain.ts'
import { zeros } from './block.ts'
import { MAX_REMEMBERED, MAX_UPDATES } from './limits.ts'
import type { L1, L1Options } from './simulated-l1.ts'

/** A response of the beacon API. */
export interface BeaconAnswer {
  /** The HTTP status code. */
  readonly status: number
  /** The body, to be sent as JSON. */
  readonly body: object
}

/**
 * The consensus layer of the simulated L1. On a network of its own, it has one beacon block per L1 block, many slots apart, so that
 * sync committee periods and forks pass quickly. It generates its sync committees on first use.
 */
export interface SimulatedBeacon {
  /** Its genesis and forks, as a verifier expects them. */
  readonly network: BeaconNetwork
  /**
   * The root of the beacon block that contains an L1 block, 32 bytes, to be trusted with `trustBeaconBlock`. Undefined if
   * there is no such L1 block, or if it is not the last in its slot.
   *
   * @param l1BlockNumber from 0
   */
  blockRoot(l1BlockNumber: bigint): Promise<Hex | undefined>
  /** Answers a GET request of the beacon API. @param path the path, starting with `/eth/v1` @param query the query parameters */
  answer(path: string, query?: URLSearchParams): Promise<BeaconAnswer>
}

const ownNetwork: BeaconNetwork = {
  name: 'devnet',
  genesisValidatorsRoot: `0x${'5e'.repeat(32)}`,
  genesisTime: 0x69000000,
  // Each fork lasts one and a half sync committee periods. A period has 256 epochs, or 8192 slots.
  forks: ['capella', 'deneb', 'electra', 'fulu', 'gloas'].map((name, index) => {
    return { name, version: `0x${index + 3}0000001`, epoch: 384 * index }
  }),
}

export function createBeacon(l1: L1, { l1Unfinalized = 0, beacon: network = ownNetwork }: L1Options): SimulatedBeacon {
  const slotOf = network === ownNetwork ? quickSlots(network, l1Unfinalized) : slotsByTime(network)
  const chain = createBeaconChain(l1, network, slotOf, l1Unfinalized)
  const lightClient = createLightClientApi(chain)

  /** @param id `head`, `finalized`, a slot or a root */
  function findBlock(id: string): BeaconBlock | undefined {
    if (id === 'head') return chain.newest()
    if (id === 'finalized') return chain.finalized()
    if (isRoot(id)) return chain.withRoot(lowerCase(id))
    if (!/^\d{1,20}$/.test(id)) throw new BadRequest('block_id: expected head, finalized, a slot or a root')
    return chain.atSlot(BigInt(id))
  }

  function describeBlock(kind: string, id: string): object | null {
    const block = findBlock(id)
    if (block === undefined) return null
    const { root } = block
    const header = { message: block.header, signature: zeros(96) }
    const data = kind === 'blocks' ? { root } : { root, canonical: true, header }
    return { execution_optimistic: false, finalized: chain.isFinal(block), data }
  }

  /** @returns null if there is no such path or block */
  function find(path: string, query: URLSearchParams): object | null | Promise<object> {
    if (path === '/eth/v1/beacon/light_client/updates') return findUpdates(lightClient.update, query)
    if (path === '/eth/v1/beacon/light_client/finality_update') return lightClient.finalityUpdate()
    if (path === '/eth/v1/beacon/genesis') return describeGenesis(network)
    const [, kind = '', id = '', rest = ''] =
      /^\/eth\/v1\/beacon\/(light_client\/bootstrap|headers|blocks)\/(\w{1,66})(\/root)?$/.exec(path) ?? []
    if (kind === 'light_client/bootstrap' && rest === '') {
      if (!isRoot(id)) throw new BadRequest('block_root: expected 32 bytes')
      return lightClient.bootstrap(lowerCase(id))
    }
    const isServed = kind === 'blocks' ? rest === '/root' : kind === 'headers' && rest === ''
    return isServed ? describeBlock(kind, id) : null
  }

  return {
    network,
    async blockRoot(l1BlockNumber) {
      chain.catchUp()
      return chain.withL1Block(l1BlockNumber)?.root
    },
    async answer(path, query = new URLSearchParams()) {
      chain.catchUp()
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

/** The updates of consecutive periods, up to the first period that has none. */
async function findUpdates(update: (period: number) => object | null, query: URLSearchParams): Promise<object[]> {
  const start = numberIn(query, 'start_period')
  const count = Math.min(numberIn(query, 'count'), MAX_UPDATES)
  const found: object[] = []
  while (found.length < count) {
    const next = update(start + found.length)
    if (next === null) break
    found.push(next)
    // Yield between signatures, so that other requests are answered.
    await new Promise(resolve => setImmediate(resolve))
  }
  return found
}

class BadRequest extends Error {}

const failure = (code: number, message: string): BeaconAnswer => ({ status: code, body: { code, message } })

const isRoot = (id: string): boolean => /^0x[0-9a-f]{64}$/i.test(id)

function numberIn(query: URLSearchParams, name: string): number {
  const text = query.get(name)
  if (text === null || !/^\d{1,9}$/.test(text)) throw new BadRequest(`${name}: expected a number`)
  return Number(text)
}

const describeGenesis = ({ genesisTime, genesisValidatorsRoot, forks }: BeaconNetwork) => ({
  data: {
    genesis_time: `${genesisTime}`,
    genesis_validators_root: genesisValidatorsRoot,
    genesis_fork_version: forks[0]?.version ?? '0x',
  },
})

/** The light-client part of the beacon API. Each answer is null if there is none. */
function createLightClientApi(chain: BeaconChain) {
  const kept = createCache<string, object>(MAX_REMEMBERED)
  /** The least recently used are evicted. */
  function remember(key: string, make: () => object): object {
    const answer = kept.get(key) ?? make()
    kept.delete(key)
    kept.set(key, answer, 1)
    return answer
  }

  /** The committee of the period of a block or of the next period, with its proof from the state of the block. */
  function describeCommittee({ slot, fork, state }: BeaconBlock, which: 'current' | 'next') {
    const { pubkeys, aggregate } = committeeOf(periodOf(chain.network, slot) + (which === 'next' ? 1 : 0))
    return {
      [`${which}_sync_committee`]: { pubkeys: pubkeys.map(bytesToHex), aggregate_pubkey: bytesToHex(aggregate) },
      [`${which}_sync_committee_branch`]: sparseBranch(state, fork.layout[`${which}Committee`]),
    }
  }

  /** An update: the attested header, the finalized one, and the signature in the next slot. */
  function attest(attested: BeaconBlock, finalized: BeaconBlock, isFinality: boolean): object {
    const { version, layout, name } = attested.fork
    const signatureSlot = attested.slot + 1n
    const signs = participation(attested)
    const message = signingRoot(hexToBytes(attested.root, 32), version, chain.network.genesisValidatorsRoot)
    const data = {
      attested_header: attested.lightHeader,
      ...(!isFinality && describeCommittee(attested, 'next')),
      finalized_header: finalized.lightHeader,
      finality_branch: sparseBranch(attested.state, layout.finalizedRoot),
      sync_aggregate: {
        sync_committee_bits: bytesToHex(bitsOf(signs)),
        sync_committee_signature: bytesToHex(committeeOf(periodOf(chain.network, signatureSlot)).sign(message, signs)),
      },
      signature_slot: `${signatureSlot}`,
    }
    return { version: name, data }
  }

  function newestOf(period?: number) {
    const attested = chain.attestedIn(period)
    return [attested, attested && chain.finalizedIn(attested.l1Block)] as const
  }

  return {
    /** The best update of a period: that of its newest attested block. Null if the finalized block is in another period. */
    update(period: number): object | null {
      const [attested, finalized] = newestOf(period)
      if (!attested || !finalized) return null
      if (periodOf(chain.network, attested.slot) !== period || periodOf(chain.network, finalized.slot) !== period)
        return null
      return remember(`update ${attested.root}`, () => attest(attested, finalized, false))
    },
    finalityUpdate(): object | null {
      const [attested, finalized] = newestOf()
      if (!attested || !finalized) return null
      return remember(`finality ${attested.root}`, () => attest(attested, finalized, true))
    },
    bootstrap(root: Hex): object | null {
      const block = chain.withRoot(root)
      if (block === undefined || !chain.isFinal(block)) return null
      return { version: block.fork.name, data: { header: block.lightHeader, ...describeCommittee(block, 'current') } }
    },
  }
}

/** Which members sign a block. Some are absent, but never so many that the signature is invalid. */
function participation({ slot, l1Block }: BeaconBlock): (index: number) => boolean {
  const absent = Number((l1Block.number + 1n) % 40n)
  return index => index % 13 !== Number(slot % 13n) || Math.floor(index / 13) >= absent
}

function bitsOf(signs: (index: number) => boolean): Uint8Array {
  const bits = new Uint8Array(MAINNET_PRESET.committeeSize / 8)
  for (let index = 0; index < MAINNET_PRESET.committeeSize; index++) {
    if (signs(index)) bits[index >> 3] = byteAt(bits, index >> 3) | (1 << (index & 7))
  }
  return bits
}
