import { invalid } from '../../base/arguments.ts'
import type { Hex } from '../../base/bytes.ts'
import { ArgumentError, atPath, isProofError } from '../../base/errors.ts'
import { readOptions, verifyFunction } from '../../base/options.ts'
import { clockOf, periodOf } from '../../verify/beacon/clock.ts'
import type { Committee } from '../../verify/beacon/committee.ts'
import type { BeaconNetwork } from '../../verify/beacon/network.ts'
import type { BeaconLightClient, TrustedBeaconBlock } from '../../verify/beacon/trusted-block.ts'
import { EndpointError, isFailure } from '../transport/error.ts'
import type { BeaconApi } from '../transport/http.ts'
import { ageOf, DAY, readBeaconSource, verifySeconds, verifyTrusted, verifyTrustedAge } from './beacon.ts'
import { type Chain, extendChain, fetchBootstrap, type KnownBlock } from './beacon-chain.ts'
import { allFailed, type Session, withSession } from './beacon-session.ts'

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
    /** Root of the beacon block, 32 bytes. */
    blockRoot: Hex
    /** Decimal. */
    slot: string
    /** When the slot began, in seconds since 1970. Decimal. */
    slotTimestamp: string
  }
}

/** Where to start, and what is too old. */
export interface BeaconBlockHashOptions {
  /** One or more beacon APIs, none of which is trusted. */
  apis: readonly BeaconApi[]
  /** What `trustBeaconBlock` of `rollup-state-proof/beacon` returns. With `resumeFrom`, only its network is used. */
  trusted: TrustedBeaconBlock
  /**
   * The last progress that `onProgress` received, to continue from there; null counts as none. Store it where nobody else can
   * change it.
   */
  resumeFrom?: BeaconProgress | null | undefined
  /** Called with every new progress: store it. If it throws or rejects, so does the current call. */
  onProgress?: ((progress: BeaconProgress) => void | Promise<void>) | undefined
  /** Called at each call with the endpoints that failed, lied or lag. */
  onFailure?: ((failures: readonly BeaconFailure[]) => void) | undefined
  /** Maximum age of the newest finalized block, in seconds. Default: 86,400, a day; `Infinity` for no limit. */
  maxAgeSeconds?: number | undefined
  /**
   * Maximum age of the block that everything is proven from, in seconds: the trusted block, later the newest proven one, checked
   * at each call. Default: two weeks, and one week from Gloas on; `Infinity` for no limit.
   */
  maxTrustedAgeSeconds?: number | undefined
  /** How long an endpoint may take for one answer, in milliseconds. Default: 10,000. */
  timeoutMs?: number | undefined
  /** How long one call may take, in milliseconds. Default: 300,000. What was proven by then counts at the next call. */
  totalTimeoutMs?: number | undefined
  /** Aborts the current call, and every later one. */
  signal?: AbortSignal | undefined
}

/**
 * Follows a beacon chain over several endpoints, none of which is trusted: a source of L1 block hashes for the verified
 * provider and for `verifyEvidence`. One honest endpoint suffices: the newest proven block counts, so an endpoint cannot hide
 * it. It never goes back to an older block.
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
  const settings = verifyOptions(options)
  const { trusted, beacon, sources, onProgress, onFailure, maxAgeSeconds, maxTrustedAgeSeconds } = settings
  const resumed = settings.resumeFrom && readBeaconProgress(settings.resumeFrom, beacon)
  let chain = resumed && chainFrom(resumed)
  let kept = resumed
  /** Whether a block was proven from the trusted one, now or before. */
  let hasProven = resumed !== undefined
  let running: Promise<Hex> | undefined

  async function keep(next: KnownBlock): Promise<void> {
    if (next === kept) return
    await onProgress?.(writeBeaconProgress(next))
    kept = next
  }

  async function begin(session: Session): Promise<Chain> {
    const trust = async (bootstrap: unknown) => verifyTrusted(bootstrap, trusted)
    const begun = await session
      .race((api, signal) => fetchBootstrap(api, trusted.beaconBlockRoot, signal), trust, true)
      .catch(error => {
        report(session)
        throw isFailure(error) ? allFailed(session.failures) : error
      })
    verifyTrustedAge(begun, beacon.network, maxTrustedAgeSeconds)
    await keep(begun)
    return chainFrom(begun)
  }

  function report({ failures }: Session): void {
    const found = [...failures].map(([index, { code }]) => ({ index, code }))
    if (found.length > 0) onFailure?.(found.sort((a, b) => a.index - b.index))
  }

  async function refresh(): Promise<Hex> {
    return withSession(sources, settings.limits, async session => {
      chain ??= await begin(session)
      // Checked at every call: the newest block may have been proven long ago.
      verifyTrustedAge(chain.best, beacon.network, maxTrustedAgeSeconds)
      const isRecent = (block: KnownBlock) => ageOf(block) <= maxAgeSeconds
      const { newestSlot: before } = chain
      const current = chain
      await extendChain(session, current, beacon, () => isRecent(current.best))
      const { best } = current
      await keep(best)
      report(session)
      const hasFailed = session.failures.size === sources.apis.length && current.newestSlot === before
      // A failure that passes does not matter while the known block is recent.
      if (hasFailed && !(hasProven && isRecent(best))) throw allFailed(session.failures)
      hasProven = true
      if (isRecent(best)) return best.l1BlockHash
      const found = `${Math.round(ageOf(best))} seconds old`
      throw new EndpointError('BEACON_STALE', { found, layer: 'beacon' })
    })
  }

  const end = () => {
    running = undefined
  }
  // Concurrent calls share one refresh.
  return () => (running ??= refresh().finally(end))
}

const chainFrom = (best: KnownBlock): Chain => ({ best, newestSlot: best.slot, committees: [best.committee] })

const OPTIONS = [
  ...['apis', 'trusted', 'resumeFrom', 'onProgress', 'onFailure'],
  ...['maxAgeSeconds', 'maxTrustedAgeSeconds', 'timeoutMs', 'totalTimeoutMs', 'signal'],
]

function verifyOptions(options: BeaconBlockHashOptions) {
  const own = readOptions('', options, OPTIONS)
  const { trusted, onProgress, onFailure, maxAgeSeconds = DAY, maxTrustedAgeSeconds, resumeFrom } = own
  const source = readBeaconSource(own)
  verifyFunction('onProgress', onProgress)
  verifyFunction('onFailure', onFailure)
  verifySeconds({ maxAgeSeconds, maxTrustedAgeSeconds: maxTrustedAgeSeconds ?? 0 })
  const ages = { maxAgeSeconds, maxTrustedAgeSeconds }
  const trust = { ...trusted, lightClient: source.beacon }
  return { ...source, ...ages, trusted: trust, resumeFrom: resumeFrom ?? undefined, onProgress, onFailure }
}

function writeBeaconProgress({ committee, l1BlockHash, blockRoot, slot, slotTimestamp }: KnownBlock): BeaconProgress {
  const finalized = { l1BlockHash, blockRoot, slot: `${slot}`, slotTimestamp: `${slotTimestamp}` }
  return { version: 1, committee, finalized }
}

/** Uses the caller's network, whose fork table may have grown since. @throws ArgumentError */
function readBeaconProgress(state: BeaconProgress, beacon: BeaconLightClient): KnownBlock {
  const { network } = beacon
  const { version, committee, finalized } = readOptions('resumeFrom', state, ['version', 'committee', 'finalized'])
  if (version !== 1) throw invalid('resumeFrom.version', '1', version)
  const names = ['l1BlockHash', 'blockRoot', 'slot', 'slotTimestamp'] as const
  const { l1BlockHash, blockRoot, slot, slotTimestamp } = readOptions('resumeFrom.finalized', finalized, names)
  for (const [name, text] of Object.entries({ l1BlockHash, blockRoot, slot, slotTimestamp })) {
    const isHash = name === 'l1BlockHash' || name === 'blockRoot'
    const expected = isHash ? 'hexadecimal of 32 bytes' : 'a decimal number'
    const form = isHash ? /^0x[0-9a-f]{64}$/ : /^\d{1,20}$/
    if (typeof text !== 'string' || !form.test(text)) throw invalid(`resumeFrom.finalized.${name}`, expected, text)
  }
  const fields = ['network', 'period', 'root', 'pubkeys', 'aggregatePubkey']
  const stored = { ...readOptions('resumeFrom.committee', committee, fields), network }
  const rootOf = (network: BeaconNetwork) => network?.genesisValidatorsRoot?.toLowerCase?.()
  if (rootOf(committee.network) !== rootOf(network)) throw invalid('resumeFrom', 'one of the same network', state)
  verifyStored(() => beacon.verifyCommittee(stored))
  const known = { committee: stored, l1BlockHash, blockRoot, slot: BigInt(slot), slotTimestamp: BigInt(slotTimestamp) }
  const time = BigInt(network.genesisTime) + known.slot * BigInt(clockOf(network).secondsPerSlot)
  if (known.slotTimestamp !== time) throw invalid('resumeFrom.finalized.slotTimestamp', `${time}`, known.slotTimestamp)
  const ahead = stored.period - periodOf(network, known.slot)
  // A committee signs for a block of its own period or, at its beginning, of the one before.
  if (ahead !== 0 && ahead !== 1) {
    throw invalid('resumeFrom.committee.period', 'the period of the slot, or the next', stored.period)
  }
  return known
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
