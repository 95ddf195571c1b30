import { invalid } from '../arguments.ts'
import type { Committee } from '../beacon/committee.ts'
import type { BeaconNetwork } from '../beacon/network.ts'
import type { BeaconLightClient, TrustedBeaconBlock } from '../beacon/trusted-block.ts'
import type { VerifiedBootstrap } from '../beacon/verify.ts'
import type { Hex } from '../bytes.ts'
import { readOptions } from '../options.ts'
import {
  countPeriods,
  fetchBootstrap,
  fetchFinality,
  fetchUpdates,
  periodOf,
  readClaimed,
  unavailable,
  verifyBeaconSource,
} from './beacon.ts'
import { abortedBy, EndpointError, isFailure } from './error.ts'
import type { BeaconApi } from './http.ts'
import { verifyFunction, verifySignal, verifyTimeout } from './options.ts'
import { inTime } from './waiting.ts'

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

/** A proven block, and the committee to continue with. */
type KnownBlock = Omit<VerifiedBootstrap, 'l1BlockNumber' | 'l1Timestamp'>

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
  /** Maximum age of the trusted block or stored progress, in seconds. Default: 1,209,600, two weeks; `Infinity` for no limit. */
  maxTrustedAgeSeconds?: number | undefined
  /** How long an endpoint may take for one answer, in milliseconds. Default: 10,000. */
  timeoutMs?: number | undefined
  /** Aborts the current call, and every later one. */
  signal?: AbortSignal | undefined
}

/** One request to an endpoint. */
type Ask = (api: BeaconApi, signal: AbortSignal) => Promise<unknown>

const DAY = 86_400

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
 * import { createService } from 'rollup-state-proof/service'
 * import { addDemoBlocks, demoWorld } from 'rollup-state-proof/service/demo'
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
  const { apis, blockRoot, beacon, onProgress, onFailure, maxAgeSeconds, maxTrustedAgeSeconds, signal } = settings
  const { network } = beacon
  const ask = createAsker(apis, settings.timeoutMs, signal)
  let known = settings.resumeFrom && readBeaconProgress(settings.resumeFrom, network)
  /** Whether the age of the starting point was checked. What is proven from it later needs no such check. */
  let hasBegun = false
  let running: Promise<Hex> | undefined

  async function begin(): Promise<KnownBlock> {
    const verify = (bootstrap: unknown): KnownBlock => beacon.verifyBootstrap(bootstrap, { network, blockRoot })
    const begun = known ?? (await ask.each((api, signal) => fetchBootstrap(api, blockRoot, signal), verify))
    const days = `${Math.round(ageOf(begun) / DAY)} days`
    if (ageOf(begun) > maxTrustedAgeSeconds)
      throw new EndpointError('BEACON_CHECKPOINT_OLD', { found: days, layer: 'beacon' })
    hasBegun = true
    if (known === undefined) await keep(begun)
    return begun
  }

  async function keep(next: KnownBlock): Promise<void> {
    await onProgress?.(writeBeaconProgress(next))
    known = next
  }

  async function refresh(): Promise<Hex> {
    if (signal?.aborted) throw abortedBy(signal)
    const begun = hasBegun && known !== undefined ? known : await begin()
    const failures: BeaconFailure[] = []
    const fail = (index: number, error: unknown) => failures.push({ index, code: codeOf(error) })
    let at = begun
    for (const { api, index, finality, slot, period } of await fetchClaims(apis, ask.one, fail)) {
      // Claims are sorted: no later one is newer.
      if (slot < at.slot) failures.push({ index, code: 'BEACON_OLDER_THAN_CHECKPOINT' })
      if (slot <= at.slot) continue
      try {
        // Keep nothing unless finality is proven. Otherwise a lie about the period would make us leave the current
        // committee while it still signs.
        const next = await advance(at, period, api, ask, beacon)
        const finalized = beacon.verifyFinality(finality, next.committee)
        at = finalized.slot > next.slot ? { ...finalized, committee: next.committee } : next
      } catch (error) {
        fail(index, error)
      }
    }
    if (at !== begun) await keep(at)
    if (failures.length > 0) onFailure?.(failures.sort((a, b) => a.index - b.index))
    if (failures.length === apis.length && at.slot === begun.slot) throw unavailable(failures.map(({ code }) => code))
    const seconds = `${Math.round(ageOf(at))} seconds old`
    if (ageOf(at) > maxAgeSeconds) throw new EndpointError('BEACON_STALE', { found: seconds, layer: 'beacon' })
    return at.l1BlockHash
  }

  const end = () => {
    running = undefined
  }
  // Concurrent calls share one refresh.
  return () => (running ??= refresh().finally(end))
}

const OPTIONS = [
  ...['apis', 'trusted', 'resumeFrom', 'onProgress', 'onFailure'],
  ...['maxAgeSeconds', 'maxTrustedAgeSeconds', 'timeoutMs', 'signal'],
]

function verifyOptions(options: BeaconBlockHashOptions) {
  const { apis, trusted, onProgress, onFailure, signal, ...own } = readOptions('', options, OPTIONS)
  const { maxAgeSeconds = DAY, maxTrustedAgeSeconds = 14 * DAY, timeoutMs = 10_000, resumeFrom } = own
  verifyBeaconSource({ apis, trusted })
  const functions = ['verifyBootstrap', 'verifyUpdate', 'verifyFinality'] as const
  const beacon = readOptions('trusted.lightClient', trusted.lightClient, ['network', ...functions])
  for (const name of functions) {
    if (typeof beacon[name] !== 'function') throw invalid(`trusted.lightClient.${name}`, 'a function', beacon[name])
  }
  verifyTimeout(timeoutMs)
  verifyFunction('onProgress', onProgress)
  verifyFunction('onFailure', onFailure)
  verifySignal(signal)
  for (const [name, seconds] of Object.entries({ maxAgeSeconds, maxTrustedAgeSeconds })) {
    if (typeof seconds !== 'number' || !(seconds >= 0)) throw invalid(name, 'a number of seconds', seconds)
  }
  const source = { apis: Array.from(apis), blockRoot: trusted.beaconBlockRoot, beacon }
  const limits = { maxAgeSeconds, maxTrustedAgeSeconds, timeoutMs }
  return { ...source, ...limits, resumeFrom: resumeFrom ?? undefined, onProgress, onFailure, signal }
}

/** Asks within the time limit, and verifies the answers. */
function createAsker(apis: readonly BeaconApi[], timeout: number, signal: AbortSignal | undefined) {
  const one = async <T>(api: BeaconApi, ask: Ask, verify: (answer: unknown) => T): Promise<T> =>
    verify(await inTime(timeout, limit => ask(api, limit), signal))
  return {
    one,
    /** The first answer that `verify` accepts. Asks one endpoint after another. */
    async each<T>(ask: Ask, verify: (answer: unknown) => T): Promise<T> {
      const codes: string[] = []
      for (const api of apis) {
        try {
          return await one(api, ask, verify)
        } catch (error) {
          codes.push(codeOf(error))
        }
      }
      throw unavailable(codes)
    },
  }
}

/** Advances from committee to committee, with the updates of `first` or, if they fail, of any endpoint. */
async function advance(
  from: KnownBlock,
  period: number,
  first: BeaconApi,
  ask: ReturnType<typeof createAsker>,
  beacon: BeaconLightClient,
): Promise<KnownBlock> {
  let at = from
  countPeriods(at.committee.period, period)
  while (at.committee.period < period) {
    const { committee } = at
    const fetch: Ask = async (api, signal) => (await fetchUpdates(api, committee.period, 1, signal))[0]
    const verify = (update: unknown) => beacon.verifyUpdate(update, committee)
    const update = await ask.one(first, fetch, verify).catch(error => {
      if (!isFailure(error)) throw error
      return ask.each(fetch, verify)
    })
    // The block of an update may be older than the newest known block.
    at = update.slot > at.slot ? update : { ...at, committee: update.committee }
  }
  return at
}

/** What each endpoint claims to be its newest finality, newest first. */
async function fetchClaims(
  apis: readonly BeaconApi[],
  ask: ReturnType<typeof createAsker>['one'],
  onFailure: (index: number, error: unknown) => void,
) {
  const claims = await Promise.all(
    apis.map((api, index) =>
      ask(api, fetchFinality, finality => {
        const slot = readClaimed(finality, 'data', 'finalized_header', 'beacon', 'slot')
        return { api, index, finality, slot, period: periodOf(readClaimed(finality, 'data', 'signature_slot')) }
      }).catch(error => void onFailure(index, error)),
    ),
  )
  return claims.filter(claim => claim !== undefined).sort((a, b) => (a.slot < b.slot ? 1 : a.slot > b.slot ? -1 : 0))
}

/** @throws the error itself if no endpoint is to blame for it */
function codeOf(error: unknown): string {
  if (isFailure(error)) return error.code
  throw error
}

const ageOf = ({ slotTimestamp }: KnownBlock): number => Date.now() / 1000 - Number(slotTimestamp)

function writeBeaconProgress({ committee, l1BlockHash, blockRoot, slot, slotTimestamp }: KnownBlock): BeaconProgress {
  const finalized = { l1BlockHash, blockRoot, slot: `${slot}`, slotTimestamp: `${slotTimestamp}` }
  return { version: 1, committee, finalized }
}

/** Uses the caller's network, whose fork table may have grown since. The committee is verified when it is used. */
function readBeaconProgress(state: BeaconProgress, network: BeaconNetwork): KnownBlock {
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
  return { committee: stored, l1BlockHash, blockRoot, slot: BigInt(slot), slotTimestamp: BigInt(slotTimestamp) }
}
