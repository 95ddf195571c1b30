import { decodeArgument, invalid } from '../../base/arguments.ts'
import { bytesToHex, type Hex } from '../../base/bytes.ts'
import { ArgumentError, atPath, isProofError } from '../../base/errors.ts'
import { readOptions, verifyFunction } from '../../base/options.ts'
import { clockOf, periodOf } from '../../verify/beacon/clock.ts'
import type { Committee } from '../../verify/beacon/committee.ts'
import type { BeaconNetwork } from '../../verify/beacon/network.ts'
import type { BeaconLightClient } from '../../verify/beacon/trusted-block.ts'
import { EndpointError, isFailure } from '../transport/error.ts'
import { verifySignal } from '../transport/options.ts'
import {
  ageOf,
  type BeaconSource,
  DAY,
  fetchTrusted,
  readBeaconSource,
  verifySeconds,
  verifyTrustedAge,
} from './beacon.ts'
import { allFailed, type Chain, chainFrom, extendChain, type KnownBlock, openSession } from './beacon-chain.ts'

/** An endpoint that failed, lied or lags, and how. */
export interface BeaconFailure {
  /** Index of the endpoint. */
  index: number
  /** The code of the error. */
  code: string
}

/** The state of following a beacon chain: plain JSON, about 53 kB. Whoever can change it controls what is trusted next. */
export interface BeaconProgress {
  /** The version of this format. */
  version: 1
  /** The committee that signed for the finalized block, or that of the trusted block. */
  committee: Committee
  /** The newest proven finalized block, or the trusted block. */
  finalized: {
    /** Hash of the L1 block in it, 32 bytes. */
    l1BlockHash: Hex
    /** Its slot, decimal. */
    slot: string
  }
}

/** Where to start, and what is too old. */
export interface BeaconBlockHashOptions extends BeaconSource {
  /**
   * The last progress that `onProgress` received, to continue from there, with the network of `trusted`; null counts as none. Store
   * it where nobody else can change it.
   */
  resumeFrom?: BeaconProgress | null | undefined
  /** Called with every new progress: store it. If it throws or rejects, so does the current call. */
  onProgress?: ((progress: BeaconProgress) => void | Promise<void>) | undefined
  /** Called at each call with the endpoints that failed, lied or lag. */
  onFailure?: ((failures: readonly BeaconFailure[]) => void) | undefined
  /** Maximum age of the newest finalized block, in seconds. Default: 86,400, a day; `Infinity` for no limit. */
  maxAgeSeconds?: number | undefined
  /** Aborts the current call, and every later one. */
  signal?: AbortSignal | undefined
}

/**
 * Follows a beacon chain over several endpoints, none of which is trusted: a source of L1 block hashes for the verified
 * provider and for `verifyEvidence`. One honest endpoint suffices: the newest proven block counts, so an endpoint cannot hide
 * it. It never goes back to an older block. An endpoint has 10 seconds for an answer.
 *
 * @param options the beacon APIs, where to start, and what is too old
 * @returns a function that asks the endpoints at each call and returns the hash of the newest finalized L1 block. It throws an
 * EndpointError `BEACON_UNAVAILABLE` if nothing is proven, `BEACON_STALE` if the newest proven block is older than
 * `maxAgeSeconds`, `BEACON_CHECKPOINT_OLD`, `ABORTED`; ArgumentError, or `BEACON_COMMITTEE_ROOT` if the stored progress is damaged
 * @throws ArgumentError
 *
 * @example
 * ```ts
 * import { trustBeaconBlock } from 'rollup-state-proof/beacon'
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { createBeaconApi, beaconBlockHash } from 'rollup-state-proof/rpc'
 * import { addDemoBlocks, createService, demoWorld } from 'rollup-state-proof-devnet'
 *
 * const rollup = { address: '0x00000000000000000000000000000000000011ff' } as const
 * const service = createService({ genesis: demoWorld(poseidon2), rollup })
 * addDemoBlocks(service.chain)
 * const { beaconUrl } = await service.listen()
 *
 * const { network } = service.beacon
 * const trusted = trustBeaconBlock({ network, blockRoot: (await service.beacon.blockRoot(60n)) ?? '0x' })
 * const apis = [createBeaconApi(beaconUrl), createBeaconApi('http://127.0.0.1:1')]
 * const any = { maxAgeSeconds: Infinity, maxTrustedAgeSeconds: Infinity } // the clock of the demo stands still
 * const l1BlockHash = beaconBlockHash({ apis, trusted, ...any })
 * console.log((await l1BlockHash()).length) // 66
 * await service.close()
 * ```
 */
export function beaconBlockHash(options: BeaconBlockHashOptions): () => Promise<Hex> {
  const { source, resumed, onProgress, onFailure, maxAgeSeconds, signal } = readFollowing(options)
  const { apis, trusted, maxTrustedAgeSeconds } = source
  const { lightClient } = trusted
  const session = openSession(apis)
  const { failures } = session
  let chain = resumed && chainFrom(resumed)
  let kept = resumed
  /** Whether a block was proven from the trusted one, now or before. */
  let hasProven = resumed !== undefined
  let running: Promise<Hex> | undefined

  async function keep(next: KnownBlock): Promise<void> {
    if (next === kept) return
    await onProgress?.(writeProgress(next))
    kept = next
  }

  function report(): void {
    const found = [...failures].map(([index, { code }]) => ({ index, code }))
    if (found.length > 0) onFailure?.(found.sort((a, b) => a.index - b.index))
  }

  async function begin(): Promise<Chain> {
    const { block } = await fetchTrusted(session, source, signal).catch(error => {
      report()
      throw isFailure(error) ? allFailed(failures) : error
    })
    await keep(block)
    return chainFrom(block)
  }

  async function refresh(): Promise<Hex> {
    failures.clear()
    const current = await (chain ?? begin())
    chain = current
    // Checked at every call: the newest block may have been proven long ago.
    verifyTrustedAge(current.best, lightClient.network, maxTrustedAgeSeconds)
    const isRecent = () => ageOf(current.best) <= maxAgeSeconds
    const { newestSlot: before } = current
    await extendChain(session, current, lightClient, { signal, isEnough: isRecent })
    await keep(current.best)
    report()
    const hasFailed = failures.size === apis.length && current.newestSlot === before
    // A failure that passes does not matter while the known block is recent.
    if (hasFailed && !(hasProven && isRecent())) throw allFailed(failures)
    hasProven = true
    if (isRecent()) return current.best.l1BlockHash
    const found = `${Math.round(ageOf(current.best))} seconds old`
    throw new EndpointError('BEACON_STALE', { found, layer: 'beacon' })
  }

  const end = () => {
    running = undefined
  }
  // Concurrent calls share one refresh.
  return () => (running ??= refresh().finally(end))
}

const OPTIONS = [
  'apis',
  'trusted',
  'resumeFrom',
  'onProgress',
  'onFailure',
  'maxAgeSeconds',
  'maxTrustedAgeSeconds',
  'signal',
]

function readFollowing(options: BeaconBlockHashOptions) {
  const own = readOptions('', options, OPTIONS)
  const { resumeFrom, onProgress, onFailure, maxAgeSeconds = DAY, signal } = own
  const source = readBeaconSource(own)
  verifyFunction('onProgress', onProgress)
  verifyFunction('onFailure', onFailure)
  verifySeconds('maxAgeSeconds', maxAgeSeconds)
  verifySignal(signal)
  const resumed = resumeFrom ? readProgress(resumeFrom, source.trusted.lightClient) : undefined
  return { source, resumed, onProgress, onFailure, maxAgeSeconds, signal }
}

const writeProgress = ({ committee, l1BlockHash, slot }: KnownBlock): BeaconProgress => ({
  version: 1,
  committee,
  finalized: { l1BlockHash, slot: `${slot}` },
})

/** Uses the caller's network, whose fork table may have grown since. @throws ArgumentError */
function readProgress(state: BeaconProgress, { network, verifyCommittee }: BeaconLightClient): KnownBlock {
  const { version, committee, finalized } = readOptions('resumeFrom', state, ['version', 'committee', 'finalized'])
  if (version !== 1) throw invalid('resumeFrom.version', '1', version)
  const { l1BlockHash, slot: text } = readOptions('resumeFrom.finalized', finalized, ['l1BlockHash', 'slot'])
  const hash = decodeArgument('resumeFrom.finalized.l1BlockHash', l1BlockHash, 32)
  if (typeof text !== 'string' || !/^\d{1,20}$/.test(text)) {
    throw invalid('resumeFrom.finalized.slot', 'a decimal number', text)
  }
  const slot = BigInt(text)
  const fields = ['network', 'period', 'root', 'pubkeys', 'aggregatePubkey']
  const stored = { ...readOptions('resumeFrom.committee', committee, fields), network }
  const rootOf = (network: BeaconNetwork) => network?.genesisValidatorsRoot?.toLowerCase?.()
  if (rootOf(committee.network) !== rootOf(network)) throw invalid('resumeFrom', 'one of the same network', state)
  verifyStored(() => verifyCommittee(stored))
  const ahead = stored.period - periodOf(network, slot)
  // A committee signs for a block of its own period or, at its beginning, of the one before.
  if (ahead !== 0 && ahead !== 1) {
    throw invalid('resumeFrom.committee.period', 'the period of the slot, or the next', stored.period)
  }
  const slotTimestamp = BigInt(network.genesisTime) + slot * BigInt(clockOf(network).secondsPerSlot)
  return { committee: stored, l1BlockHash: bytesToHex(hash), slot, slotTimestamp }
}

/** @throws ArgumentError, also for a check that fails: whoever stored the committee is at fault */
function verifyStored(work: () => void): void {
  try {
    atPath('resumeFrom', work)
  } catch (error) {
    if (!isProofError(error)) throw error
    const { path, expected, found } = error
    throw new ArgumentError({ path, expected, found })
  }
}
