import { decodeArgument, invalid, isArray, readItems } from '../../base/arguments.ts'
import { atPath } from '../../base/errors.ts'
import { hasMethod, readOptions } from '../../base/options.ts'
import { clockOf, periodOf } from '../../verify/beacon/clock.ts'
import type { BeaconNetwork } from '../../verify/beacon/network.ts'
import type { ProvenConsensus, TrustedBeaconBlock } from '../../verify/beacon/trusted-block.ts'
import type { VerifiedFinality } from '../../verify/beacon/verify.ts'
import type { BundleConsensus } from '../../verify/evidence/consensus.ts'
import { EndpointError } from '../transport/error.ts'
import type { BeaconApi } from '../transport/http.ts'
import { BYTES_PER_PERIOD } from '../transport/limits.ts'
import { scoped } from '../transport/waiting.ts'
import {
  chainFrom,
  extendChain,
  fetchBootstrap,
  type KnownBlock,
  openSession,
  type Session,
  unavailable,
} from './beacon-chain.ts'

/** A step of fetching the consensus part of a bundle. */
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

/** Where to fetch what leads from a trusted beacon block to L1. */
export interface BeaconSource {
  /** One or more beacon APIs, none of which is trusted. */
  apis: readonly BeaconApi[]
  /** What `trustBeaconBlock` of `rollup-state-proof/beacon` returns. */
  trusted: TrustedBeaconBlock
  /**
   * Maximum age of the block that everything is proven from, in seconds: the trusted block; for `beaconBlockHash`, later the newest
   * proven one, at each call. Default: two weeks, and one week from Gloas on; `Infinity` for no limit.
   */
  maxTrustedAgeSeconds?: number | undefined
}

const FUNCTIONS = ['verifyCommittee', 'verifyBootstrap', 'verifyUpdate', 'verifyFinality'] as const

/** A copy. @param place of its fields in the caller's options @throws ArgumentError */
export const readBeaconSource = ({ apis, trusted, maxTrustedAgeSeconds }: BeaconSource, place = ''): BeaconSource =>
  atPath(place, () => {
    const isApi = (api: unknown) => hasMethod(api, 'get')
    const areApis = isArray(apis) && apis.length > 0 && readItems('apis', apis, isApi).every(Boolean)
    if (!areApis) throw invalid('apis', 'an array of one or more beacon APIs', apis)
    const expected = 'what trustBeaconBlock of rollup-state-proof/beacon returns'
    if (!hasMethod(trusted, 'verifyConsensus')) throw invalid('trusted', expected, trusted)
    const own = readOptions('trusted', trusted, ['beaconBlockRoot', 'network', 'verifyConsensus', 'lightClient'])
    decodeArgument('trusted.beaconBlockRoot', own.beaconBlockRoot, 32)
    const lightClient = readOptions('trusted.lightClient', own.lightClient, ['network', ...FUNCTIONS])
    for (const name of FUNCTIONS) {
      const verify = lightClient[name]
      if (typeof verify !== 'function') throw invalid(`trusted.lightClient.${name}`, 'a function', verify)
    }
    verifySeconds('maxTrustedAgeSeconds', maxTrustedAgeSeconds)
    return { apis: [...apis], trusted: { ...own, lightClient }, maxTrustedAgeSeconds }
  })

/** @throws ArgumentError */
export function verifySeconds(name: string, seconds: unknown = 0): void {
  if (typeof seconds !== 'number' || !(seconds >= 0)) throw invalid(name, 'a number of seconds', seconds)
}

/** The trusted block, proven by its bootstrap from the first endpoint that sends the right one. */
export async function fetchTrusted(
  { pool }: Session,
  { trusted, maxTrustedAgeSeconds }: BeaconSource,
  signal: AbortSignal | undefined,
): Promise<{ bootstrap: unknown; block: KnownBlock }> {
  const { beaconBlockRoot: blockRoot, lightClient } = trusted
  const { network, verifyBootstrap } = lightClient
  const found = await pool.run(async (api, attempt) => {
    const bootstrap = await fetchBootstrap(api, blockRoot, attempt.signal)
    return { bootstrap, block: verifyBootstrap(bootstrap, { network, blockRoot }) }
  }, signal)
  verifyTrustedAge(found.block, network, maxTrustedAgeSeconds)
  return found
}

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

/** The consensus part of a bundle, and what it proves. */
export interface FetchedConsensus {
  /** Known fields only; verified. */
  readonly consensus: BundleConsensus
  readonly proven: ProvenConsensus
}

/**
 * Fetches what leads from a beacon block that is trusted to the newest finalized L1 block that any endpoint knows, and verifies it.
 *
 * @param onProgress may throw to end the fetch
 * @throws EndpointError if the only endpoint fails, `BEACON_CHECKPOINT_OLD`, `CLOCK_BEHIND`, `ABORTED`; ProofError if its answer does
 * not verify; of several, `BEACON_UNAVAILABLE`, which lists each by its index
 */
export const fetchConsensus = (
  source: BeaconSource,
  onProgress: (progress: ConsensusProgress) => void,
  whole: AbortSignal | undefined,
): Promise<FetchedConsensus> =>
  scoped(whole, async ({ signal, stop }) => {
    const { apis, trusted } = source
    const tell = (progress: ConsensusProgress) => {
      try {
        onProgress(progress)
      } catch (error) {
        // It is no failure of an endpoint.
        throw stop(error)
      }
    }
    const session = openSession(apis, (index, code) => {
      if (apis.length > 1) tell({ step: 'endpointFailed', index, code })
    })
    const { bootstrap, block } = await fetchTrusted(session, source, signal)
    const { lightClient, network } = trusted
    const { steps, result } = collectorOf(block, lightClient.network, tell)
    await extendChain(session, chainFrom(block), lightClient, { signal, isEnough: () => true, ...steps })
    const found = result()
    if (found === undefined) throw unavailable(apis.length, session.failures)
    const { proven, ...parts } = found
    return { consensus: { network, bootstrap, ...parts }, proven }
  })

/** Keeps what a bundle needs, and tells how far it is. */
function collectorOf(block: KnownBlock, network: BeaconNetwork, tell: (progress: ConsensusProgress) => void) {
  const updates: unknown[] = []
  let newest: { readonly finality: unknown; readonly proven: ProvenConsensus } | undefined
  let periods = -1
  const start = block.committee.period
  // No endpoint can claim more periods than the clock allows for.
  const passed = Math.floor(Math.max(ageOf(block), 0) / clockOf(network).secondsPerSlot)
  const today = periodOf(network, block.slot + BigInt(passed))
  const steps = {
    onClaim(claimed: number) {
      const count = Math.max(Math.min(claimed, today) - start, 0)
      if (count <= periods) return
      periods = count
      tell({ step: 'size', periods, length: BYTES_PER_PERIOD * (periods + 1) })
    },
    onUpdate(update: unknown) {
      updates.push(update)
      periods = Math.max(periods, updates.length)
      tell({ step: 'updates', done: updates.length, periods })
    },
    onFinality(finality: unknown, verified: VerifiedFinality) {
      const { l1BlockHash, blockRoot, slot, slotTimestamp, signers, period } = verified
      const trustedSlotTimestamp = block.slotTimestamp
      newest = {
        finality,
        proven: { l1BlockHash, blockRoot, slot, slotTimestamp, trustedSlotTimestamp, signers, period },
      }
    },
  }
  return { steps, result: () => newest && { ...newest, updates: updates.slice(0, newest.proven.period - start) } }
}
