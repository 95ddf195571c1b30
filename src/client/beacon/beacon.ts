import { decodeArgument, invalid, isArray, readItems } from '../../base/arguments.ts'
import { atPath } from '../../base/errors.ts'
import { hasMethod, readOptions, verifyFunction } from '../../base/options.ts'
import { clockOf } from '../../verify/beacon/clock.ts'
import type { BeaconNetwork } from '../../verify/beacon/network.ts'
import type { BeaconLightClient, ProvenConsensus, TrustedBeaconBlock } from '../../verify/beacon/trusted-block.ts'
import type { BundleConsensus } from '../../verify/evidence/consensus.ts'
import { EndpointError } from '../transport/error.ts'
import type { BeaconApi } from '../transport/http.ts'
import { BEACON_TOTAL_MS, BYTES_PER_PERIOD, SOURCE_TIMEOUT_MS } from '../transport/limits.ts'
import { verifySignal, verifyTimeout } from '../transport/options.ts'
import { claimedPeriod, extendChain, fetchBootstrap, type KnownBlock, type Steps } from './beacon-chain.ts'
import { unavailable, withSession } from './beacon-session.ts'

/** What {@link fetchConsensus} reports while it runs. */
export type ConsensusProgress =
  | {
      /** The size is known. Most of it is still to be fetched. */
      step: 'size'
      /** How many periods lie between the trusted block and now. */
      periods: number
      /** Approximate size of the JSON, in bytes. */
      length: number
    }
  | {
      /** Some of the updates were fetched. */
      step: 'updates'
      /** How many so far. */
      done: number
      /** How many in total. */
      periods: number
    }
  | {
      /** An endpoint failed, or its answer does not verify. The next endpoint is tried, if there is one. */
      step: 'endpointFailed'
      /** Index of the endpoint, from 0. */
      index: number
      /** The code of its error. */
      code: string
    }

/** Where to fetch what leads from which beacon block. */
export interface ConsensusOptions {
  /** One or more beacon APIs, none of which is trusted. */
  apis: readonly BeaconApi[]
  /** What `trustBeaconBlock` of `rollup-state-proof/beacon` returns. */
  trusted: TrustedBeaconBlock
  /** Called at every step. It may throw to end the fetch, for example if the size is too large. */
  onProgress?: ((progress: ConsensusProgress) => void) | undefined
  /** Maximum age of the trusted block, in seconds. Default: 14 days, 7 from Gloas on; `Infinity` for no limit. */
  maxTrustedAgeSeconds?: number | undefined
  /** How long an endpoint may take for one answer, in milliseconds. Default: 10,000. */
  timeoutMs?: number | undefined
  /** How long everything may take, in milliseconds. Default: 300,000. */
  totalTimeoutMs?: number | undefined
  /** Aborts the fetch. */
  signal?: AbortSignal | undefined
}

const CONSENSUS_OPTIONS = [
  ...['apis', 'trusted', 'onProgress', 'signal'],
  ...['maxTrustedAgeSeconds', 'timeoutMs', 'totalTimeoutMs'],
]

/** The consensus part of a bundle, and what it proves. */
export interface FetchedConsensus {
  /** Known fields only; verified. */
  consensus: BundleConsensus
  /** What `trusted.verifyConsensus` returns for it. */
  proven: ProvenConsensus
}

/**
 * Fetches what leads from a beacon block that you trust to the newest finalized L1 block, and verifies it. Asks the endpoints
 * one after another until one sends an answer that verifies. None of them is trusted.
 *
 * @param options the beacon APIs, and the beacon block
 * @throws EndpointError if the endpoint fails, `BEACON_CHECKPOINT_OLD`, `CLOCK_BEHIND`; ProofError if its answer does not verify. With several endpoints:
 * `BEACON_UNAVAILABLE`, which lists each by its index. `ABORTED`. ArgumentError
 *
 * @example
 * ```ts
 * import { trustBeaconBlock } from 'rollup-state-proof/beacon'
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { createBeaconApi, fetchConsensus } from 'rollup-state-proof/rpc'
 * import { addDemoBlocks, createService, demoWorld } from 'rollup-state-proof-devnet'
 *
 * const rollup = { address: '0x00000000000000000000000000000000000011ff' } as const
 * const service = createService({ genesis: demoWorld(poseidon2), rollup })
 * addDemoBlocks(service.chain)
 * const { beaconUrl } = await service.listen()
 *
 * const blockRoot = await service.beacon.blockRoot(60n)
 * if (blockRoot === undefined) throw new Error('no such block')
 * const trusted = trustBeaconBlock({ network: service.beacon.network, blockRoot })
 * const any = { maxTrustedAgeSeconds: Infinity } // the clock of the demo stands still
 * const { proven } = await fetchConsensus({ apis: [createBeaconApi(beaconUrl)], trusted, ...any })
 * console.log(proven.signers >= 342) // true
 * await service.close()
 * ```
 */
export async function fetchConsensus(options: ConsensusOptions): Promise<FetchedConsensus> {
  const own = readOptions('', options, CONSENSUS_OPTIONS)
  const { trusted, onProgress, maxTrustedAgeSeconds } = own
  const { beacon, sources, limits } = readBeaconSource(own)
  verifyFunction('onProgress', onProgress)
  verifySeconds({ maxTrustedAgeSeconds: maxTrustedAgeSeconds ?? 0 })
  const report = (progress: ConsensusProgress) => onProgress?.(progress)
  const onFailure = (index: number, code: string) => {
    if (sources.apis.length > 1) report({ step: 'endpointFailed', index, code })
  }
  return withSession(sources, { ...limits, onFailure }, async session => {
    const { bootstrap, block } = await session.race(
      (api, signal) => fetchBootstrap(api, trusted.beaconBlockRoot, signal),
      async bootstrap => ({ bootstrap, block: verifyTrusted(bootstrap, trusted) }),
      true,
    )
    verifyTrustedAge(block, beacon.network, maxTrustedAgeSeconds)
    const collected = collectorOf(block, beacon.network, report)
    const chain = { best: block, newestSlot: block.slot - 1n, committees: [block.committee] }
    await extendChain(session, chain, beacon, () => true, collected.steps)
    const found = collected.result()
    if (found === undefined) throw unavailable(sources.apis.length, session.failures)
    const { updates, finality, proven } = found
    return { consensus: { network: trusted.network, bootstrap, updates, finality }, proven }
  })
}

function collectorOf(block: KnownBlock, network: BeaconNetwork, report: (progress: ConsensusProgress) => void) {
  const updates: unknown[] = []
  let newest: { readonly finality: unknown; readonly proven: ProvenConsensus } | undefined
  let periods = -1
  const start = block.committee.period
  // No endpoint can claim more periods than the clock allows for.
  const passed = Math.max(Math.floor(Date.now() / 1000) - Number(block.slotTimestamp), 0)
  const today = claimedPeriod(network, block.slot + BigInt(passed) / BigInt(clockOf(network).secondsPerSlot))
  const steps: Steps = {
    onClaim(claimed) {
      const count = Math.max(Math.min(claimed, today) - start, 0)
      if (count <= periods) return
      periods = count
      report({ step: 'size', periods, length: BYTES_PER_PERIOD * (periods + 1) })
    },
    onUpdate(update) {
      updates.push(update)
      periods = Math.max(periods, updates.length)
      report({ step: 'updates', done: updates.length, periods })
    },
    onFinality(finality, { l1BlockHash, blockRoot, slot, slotTimestamp, signers, period }) {
      const trustedSlotTimestamp = block.slotTimestamp
      newest = {
        finality,
        proven: { l1BlockHash, blockRoot, slot, slotTimestamp, trustedSlotTimestamp, signers, period },
      }
    },
  }
  const result = () => newest && { ...newest, updates: updates.slice(0, newest.proven.period - start) }
  return { steps, result }
}

const BEACON_FIELDS = ['beaconBlockRoot', 'network', 'verifyConsensus', 'lightClient']

/** @param place of the two in the caller's options @throws ArgumentError */
export function verifyBeaconSource({ apis, trusted }: Pick<ConsensusOptions, 'apis' | 'trusted'>, place = ''): void {
  atPath(`${place}apis`, () => {
    if (isArray(apis) && apis.length > 0 && readItems('', apis, api => hasMethod(api, 'get')).every(Boolean)) return
    throw invalid('', 'an array of one or more beacon APIs', apis)
  })
  const expected = 'what trustBeaconBlock of rollup-state-proof/beacon returns'
  if (!hasMethod(trusted, 'verifyConsensus')) throw invalid(`${place}trusted`, expected, trusted)
  readOptions(`${place}trusted`, trusted, BEACON_FIELDS)
  decodeArgument(`${place}trusted.beaconBlockRoot`, trusted.beaconBlockRoot, 32)
}

/** The endpoints, what verifies their answers, and how long to wait for them. @throws ArgumentError */
export function readBeaconSource(
  own: Pick<ConsensusOptions, 'apis' | 'trusted' | 'timeoutMs' | 'totalTimeoutMs' | 'signal'>,
) {
  const { apis, trusted, timeoutMs = SOURCE_TIMEOUT_MS, totalTimeoutMs = BEACON_TOTAL_MS, signal } = own
  verifyBeaconSource({ apis, trusted })
  const beacon = lightClientOf(trusted)
  verifyTimeout(timeoutMs)
  verifyTimeout(totalTimeoutMs, 'totalTimeoutMs')
  verifySignal(signal)
  return {
    beacon,
    sources: { apis: Array.from(apis), demoted: new Map<number, number>() },
    limits: { timeoutMs, totalTimeoutMs, signal },
  }
}

const FUNCTIONS = ['verifyCommittee', 'verifyBootstrap', 'verifyUpdate', 'verifyFinality'] as const

/** @throws ArgumentError */
function lightClientOf({ lightClient }: TrustedBeaconBlock): BeaconLightClient {
  const beacon = readOptions('trusted.lightClient', lightClient, ['network', ...FUNCTIONS])
  for (const name of FUNCTIONS) {
    if (typeof beacon[name] !== 'function') throw invalid(`trusted.lightClient.${name}`, 'a function', beacon[name])
  }
  return beacon
}

/** @throws ArgumentError */
export function verifySeconds(options: Readonly<Record<string, unknown>>): void {
  for (const [name, seconds] of Object.entries(options)) {
    if (typeof seconds !== 'number' || !(seconds >= 0)) throw invalid(name, 'a number of seconds', seconds)
  }
}

export const verifyTrusted = (
  bootstrap: unknown,
  { beaconBlockRoot, lightClient: { network, verifyBootstrap } }: TrustedBeaconBlock,
): KnownBlock => verifyBootstrap(bootstrap, { network, blockRoot: beaconBlockRoot })

export const DAY = 86_400

/** The age of a block in seconds, by the clock of this machine. */
export const ageOf = ({ slotTimestamp }: Pick<KnownBlock, 'slotTimestamp'>): number =>
  Date.now() / 1000 - Number(slotTimestamp)

/** @param limit in seconds. Default: two weeks; one from Gloas on, where validators leave faster (EIP-8061) */
export function verifyTrustedAge(
  block: Pick<KnownBlock, 'slot' | 'slotTimestamp'>,
  network: BeaconNetwork,
  limit: number | undefined,
): void {
  const age = ageOf(block)
  const gloas = network.forks.find(({ name }) => name === 'gloas')?.epoch ?? Number.POSITIVE_INFINITY
  const { secondsPerSlot, slotsPerEpoch } = clockOf(network)
  const epoch = (Number(block.slot) + age / secondsPerSlot) / slotsPerEpoch
  if (age > (limit ?? (epoch < gloas ? 14 : 7) * DAY)) {
    throw new EndpointError('BEACON_CHECKPOINT_OLD', { found: `${Math.round(age / DAY)} days`, layer: 'beacon' })
  }
}
