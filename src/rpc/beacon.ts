import { decodeArgument, invalid } from '../arguments.ts'
import { MAX_UPDATES } from '../beacon/limits.ts'
import type { ProvenConsensus, TrustedBeaconBlock } from '../beacon/trusted-block.ts'
import type { ProofError } from '../errors.ts'
import { BOOTSTRAP_SHAPE, type BundleConsensus, FINALITY_SHAPE, UPDATES_SHAPE } from '../evidence/consensus.ts'
import { pickKnown, readOwn, type Shape } from '../json/known-fields.ts'
import { readOptions } from '../options.ts'
import { redactError } from './diagnose.ts'
import { abortedBy, EndpointError, isEndpointError, isFailure } from './error.ts'
import type { BeaconApi } from './http.ts'
import { BEACON_STEP_LENGTH, MAX_UPDATES_AT_ONCE } from './limits.ts'
import { verifyFunction, verifySignal } from './options.ts'
import { admissionOf } from './partial-answers.ts'
import { redactorFor } from './redact.ts'

/** One period's update as JSON, in bytes: a bundle grows by this for each period since the trusted block. */
const BYTES_PER_PERIOD = 64_000
const SLOTS_PER_PERIOD = 8192n
const LIGHT_CLIENT = '/eth/v1/beacon/light_client'

/** Fetches one document, and keeps its known fields. */
async function fetchKnown(api: BeaconApi, path: string, shape: Shape, steps: number, signal?: AbortSignal) {
  const redact = redactorFor(api)
  try {
    const answer = await api.get(`${LIGHT_CLIENT}/${path}`, signal)
    return pickKnown(answer, shape, admissionOf(steps * BEACON_STEP_LENGTH, redact))
  } catch (error) {
    if (signal?.aborted) throw abortedBy(signal)
    if (!isEndpointError(error)) throw new EndpointError('UNREACHABLE', { layer: 'beacon' })
    const { code, found, status } = error
    throw status === 404
      ? new EndpointError('BLOCK_MISSING', { found: found ?? 'HTTP status 404', status, layer: 'beacon' })
      : new EndpointError(code, { found, status, layer: 'beacon' })
  }
}

export const fetchBootstrap = (api: BeaconApi, blockRoot: string, signal?: AbortSignal): Promise<unknown> =>
  fetchKnown(api, `bootstrap/${blockRoot}`, BOOTSTRAP_SHAPE, 1, signal)

export const fetchFinality = (api: BeaconApi, signal?: AbortSignal): Promise<unknown> =>
  fetchKnown(api, 'finality_update', FINALITY_SHAPE, 1, signal)

/** The updates of `count` periods. The verifier checks that they are in order and without gaps. */
export async function fetchUpdates(
  api: BeaconApi,
  start: number,
  count: number,
  signal?: AbortSignal,
  onProgress?: (done: number) => void,
): Promise<unknown[]> {
  const updates: unknown[] = []
  while (updates.length < count) {
    const wanted = Math.min(count - updates.length, MAX_UPDATES_AT_ONCE)
    const path = `updates?start_period=${start + updates.length}&count=${wanted}`
    const answer = await fetchKnown(api, path, UPDATES_SHAPE, wanted + 1, signal)
    const found = `no update of period ${start + updates.length}`
    if (!Array.isArray(answer) || answer.length === 0)
      throw new EndpointError('ANSWER_MALFORMED', { found, layer: 'beacon' })
    updates.push(...answer.slice(0, wanted))
    onProgress?.(updates.length)
  }
  return updates
}

/** The integer at this path of names, as an endpoint claims it. Nothing of it is proven. */
export function readClaimed(source: unknown, ...names: string[]): bigint {
  const value = names.reduce((holder, name) => readOwn(Object(holder), name), source)
  if (typeof value === 'string' && /^\d{1,20}$/.test(value)) return BigInt(value)
  throw new EndpointError('ANSWER_MALFORMED', { found: `no ${names.at(-1)}`, layer: 'beacon' })
}

/** The period of a slot that an endpoint claims. @throws EndpointError if the slot is impossibly large */
export function periodOf(slot: bigint): number {
  const period = slot / SLOTS_PER_PERIOD
  if (period < 2n ** 32n) return Number(period)
  throw new EndpointError('ANSWER_MALFORMED', { found: `slot ${slot}`, layer: 'beacon' })
}

/** How many updates lead from one period to another. @throws EndpointError if there are more than are verified */
export function countPeriods(from: number, to: number): number {
  const count = Math.max(to - from, 0)
  if (count <= MAX_UPDATES) return count
  throw new EndpointError('RESPONSE_TOO_LARGE', {
    found: `${count} periods, more than ${MAX_UPDATES}`,
    layer: 'beacon',
  })
}

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
  /** Aborts the fetch. */
  signal?: AbortSignal | undefined
}

/** The consensus part of a bundle, and what it proves. */
export interface FetchedConsensus {
  /** Known fields only; verified. */
  consensus: BundleConsensus
  /** What `trusted.verifyConsensus` returned. */
  proven: ProvenConsensus
}

/**
 * Fetches what leads from a beacon block that you trust to the newest finalized L1 block, and verifies it. Asks the endpoints
 * one after another until one sends an answer that verifies. None of them is trusted.
 *
 * @param options the beacon APIs, and the beacon block
 * @throws EndpointError if the endpoint fails, ProofError if its answer does not verify. With several endpoints:
 * `BEACON_UNAVAILABLE`, which lists each by its index. `ABORTED`. ArgumentError
 *
 * @example
 * ```ts
 * import { trustBeaconBlock } from 'rollup-state-proof/beacon'
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { createBeaconApi, fetchConsensus } from 'rollup-state-proof/rpc'
 * import { createService } from 'rollup-state-proof/service'
 * import { addDemoBlocks, demoWorld } from 'rollup-state-proof/service/demo'
 *
 * const rollup = { address: '0x00000000000000000000000000000000000011ff' } as const
 * const service = createService({ genesis: demoWorld(poseidon2), rollup })
 * addDemoBlocks(service.chain)
 * const { beaconUrl } = await service.listen()
 *
 * const blockRoot = await service.beacon.blockRoot(60n)
 * if (blockRoot === undefined) throw new Error('no such block')
 * const trusted = trustBeaconBlock({ network: service.beacon.network, blockRoot })
 * const { proven } = await fetchConsensus({ apis: [createBeaconApi(beaconUrl)], trusted })
 * console.log(proven.signers >= 342) // true
 * await service.close()
 * ```
 */
export async function fetchConsensus(options: ConsensusOptions): Promise<FetchedConsensus> {
  const { apis, trusted, onProgress, signal } = readOptions('', options, ['apis', 'trusted', 'onProgress', 'signal'])
  verifyBeaconSource({ apis, trusted })
  verifyFunction('onProgress', onProgress)
  verifySignal(signal)
  let isReporting = false
  const report = (progress: ConsensusProgress) => {
    isReporting = true
    onProgress?.(progress)
    isReporting = false
  }
  const failures: (EndpointError | ProofError)[] = []
  for (const [index, api] of apis.entries()) {
    try {
      return await fetchFrom(api, trusted, report, signal)
    } catch (error) {
      // What onProgress throws is no failure of the endpoint, whatever its class.
      if (isReporting || !isFailure(error)) throw error
      failures.push(redactError(error, redactorFor(api)))
      if (apis.length > 1) report({ step: 'endpointFailed', index, code: error.code })
    }
  }
  const [only] = failures
  if (only !== undefined && failures.length === 1) throw only
  throw unavailable(failures.map(({ code }) => code))
}

/** @param codes what each source answered */
export function unavailable(codes: readonly string[]): EndpointError {
  const found = codes.map((code, index) => `source ${index}: ${code}`).join('; ')
  return new EndpointError('BEACON_UNAVAILABLE', { found, layer: 'beacon' })
}

const BEACON_FIELDS = ['beaconBlockRoot', 'network', 'verifyConsensus', 'lightClient']

/** @param place of the two in the caller's options @throws ArgumentError */
export function verifyBeaconSource({ apis, trusted }: Pick<ConsensusOptions, 'apis' | 'trusted'>, place = ''): void {
  if (!Array.isArray(apis) || apis.length === 0 || Array.from(apis).some(api => typeof api?.get !== 'function')) {
    throw invalid(`${place}apis`, 'an array of one or more beacon APIs', apis)
  }
  const expected = 'what trustBeaconBlock of rollup-state-proof/beacon returns'
  if (typeof trusted?.verifyConsensus !== 'function') throw invalid(`${place}trusted`, expected, trusted)
  readOptions(`${place}trusted`, trusted, BEACON_FIELDS)
  decodeArgument(`${place}trusted.beaconBlockRoot`, trusted.beaconBlockRoot, 32)
}

async function fetchFrom(
  api: BeaconApi,
  trusted: TrustedBeaconBlock,
  report: (progress: ConsensusProgress) => void,
  signal: AbortSignal | undefined,
): Promise<FetchedConsensus> {
  const bootstrap = await fetchBootstrap(api, trusted.beaconBlockRoot, signal)
  const start = periodOf(readClaimed(bootstrap, 'data', 'header', 'beacon', 'slot'))
  const finality = await fetchFinality(api, signal)
  const periods = countPeriods(start, periodOf(readClaimed(finality, 'data', 'signature_slot')))
  report({ step: 'size', periods, length: BYTES_PER_PERIOD * (periods + 1) })
  const updates = await fetchUpdates(api, start, periods, signal, done => report({ step: 'updates', done, periods }))
  const answers = { bootstrap, updates, finality }
  const proven = trusted.verifyConsensus(answers, trusted.beaconBlockRoot)
  return { consensus: { network: trusted.network, ...answers }, proven }
}
