import { BOOTSTRAP_SHAPE, type Consensus, FINALITY_SHAPE, UPDATES_SHAPE } from '../anchor/consensus.ts'
import type { ProvenConsensus, TrustedBeaconBlock } from '../anchor/evidence.ts'
import { pickKnown, type Shape } from '../anchor/known-fields.ts'
import { ProofError } from '../errors.ts'
import { redactError } from './diagnose.ts'
import { RpcError } from './error.ts'
import type { BeaconApi } from './http.ts'
import { BEACON_STEP_LENGTH, MAX_UPDATES, MAX_UPDATES_AT_ONCE } from './limits.ts'
import { argumentInvalid, verifyFunction, verifySignal } from './options.ts'
import { admissionOf } from './partial-answers.ts'
import { redactorFor } from './redact.ts'

/** One period's update as JSON, in bytes: what a bundle grows by for each period since the checkpoint. */
const BYTES_PER_PERIOD = 64_000
const SLOTS_PER_PERIOD = 8192n
const LIGHT_CLIENT = '/eth/v1/beacon/light_client'

/** Asks for one document, and keeps what is known of it. */
async function fetchKnown(api: BeaconApi, path: string, shape: Shape, steps: number, signal?: AbortSignal) {
  const redact = redactorFor(api)
  try {
    const answer = await api.get(`${LIGHT_CLIENT}/${path}`, signal)
    return pickKnown(answer, shape, admissionOf(steps * BEACON_STEP_LENGTH, redact))
  } catch (error) {
    if (signal?.aborted) throw new RpcError('ABORTED')
    if (!(error instanceof RpcError)) throw new RpcError('UNREACHABLE', { layer: 'beacon' })
    const { code, found, status } = error
    throw status === 404
      ? new RpcError('BLOCK_MISSING', { found: found ?? 'HTTP status 404', status, layer: 'beacon' })
      : new RpcError(code, { found, status, layer: 'beacon' })
  }
}

export const fetchBootstrap = (api: BeaconApi, blockRoot: string, signal?: AbortSignal): Promise<unknown> =>
  fetchKnown(api, `bootstrap/${blockRoot}`, BOOTSTRAP_SHAPE, 1, signal)

export const fetchFinality = (api: BeaconApi, signal?: AbortSignal): Promise<unknown> =>
  fetchKnown(api, 'finality_update', FINALITY_SHAPE, 1, signal)

/** The updates of `count` periods, in order and none left out: the verifier sees whether they are. */
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
    if (!Array.isArray(answer) || answer.length === 0) {
      throw new RpcError('ANSWER_MALFORMED', {
        found: `no update of period ${start + updates.length}`,
        layer: 'beacon',
      })
    }
    updates.push(...answer.slice(0, wanted))
    onProgress?.(updates.length)
  }
  return updates
}

/** An integer where the path of names leads, as an endpoint says it. Nothing of it is proven. */
export function readClaimed(source: unknown, ...names: string[]): bigint {
  const value = names.reduce<unknown>(
    (holder, name) =>
      typeof holder === 'object' && holder !== null && Object.hasOwn(holder, name)
        ? Reflect.get(holder, name)
        : undefined,
    source,
  )
  if (typeof value === 'string' && /^\d{1,20}$/.test(value)) return BigInt(value)
  throw new RpcError('ANSWER_MALFORMED', { found: `no ${names.at(-1)}`, layer: 'beacon' })
}

/** The period that an answer says its slot is in. @throws RpcError when it would be beyond all counting */
export function periodOf(slot: bigint): number {
  const period = slot / SLOTS_PER_PERIOD
  if (period < 2n ** 32n) return Number(period)
  throw new RpcError('ANSWER_MALFORMED', { found: `slot ${slot}`, layer: 'beacon' })
}

/** How many updates lead from one period to another. @throws RpcError when it is more than are verified */
export function countPeriods(from: number, to: number): number {
  const count = Math.max(to - from, 0)
  if (count <= MAX_UPDATES) return count
  throw new RpcError('RESPONSE_TOO_LARGE', { found: `${count} periods, more than ${MAX_UPDATES}`, layer: 'beacon' })
}

/** What {@link fetchConsensus} tells while it is at work. */
export type ConsensusProgress =
  | {
      /** The size is known, before most of it is fetched. */
      step: 'size'
      /** How many periods lie between the checkpoint and now. */
      periods: number
      /** About how many bytes of JSON it will be. */
      length: number
    }
  | {
      /** Some of the updates are there. */
      step: 'updates'
      /** How many. */
      done: number
      /** Of how many. */
      periods: number
    }
  | {
      /** An endpoint failed, or what it sent does not verify: the next one is asked. */
      step: 'sourceFailed'
      /** Which of the endpoints, from 0. */
      index: number
      /** The code of its error. */
      code: string
    }

/** How to fetch. */
export interface ConsensusOptions {
  /** Told of every step. It may throw, to end it: when the size is more than is wanted, for instance. */
  onProgress?: (progress: ConsensusProgress) => void
  /** Ends it. */
  signal?: AbortSignal | undefined
}

/** The consensus part of a bundle, and what it proves. */
export interface FetchedConsensus {
  /** Known fields only; verified. */
  consensus: Consensus
  /** What `trusted.verifyConsensus` made of it. */
  proven: ProvenConsensus
}

/**
 * Fetches what leads from a beacon block that you trust to the newest finalized L1 block, and verifies it. The endpoints are
 * asked one after the other until one has sent what verifies: none of them is believed.
 *
 * @param apis one or more beacon APIs
 * @param trusted what `checkpoint` of `rollup-state-proof/beacon` returns
 * @param options who is told, and what ends it
 * @throws RpcError of the endpoint's failure, or ProofError of what does not verify; with several endpoints
 * `BEACON_UNAVAILABLE`, which names each by its place; `ARGUMENT_INVALID`
 *
 * @example
 * ```ts
 * import { checkpoint } from 'rollup-state-proof/beacon'
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { createBeaconApi, fetchConsensus } from 'rollup-state-proof/rpc'
 * import { addDemoBlocks, createService, demoWorld } from 'rollup-state-proof/service'
 *
 * const rollup = { address: '0x00000000000000000000000000000000000011ff' } as const
 * const service = createService({ genesis: demoWorld(poseidon2), rollup })
 * addDemoBlocks(service.chain)
 * const { beaconUrl } = await service.listen()
 *
 * const blockRoot = await service.beacon.blockRoot(60n)
 * if (blockRoot === null) throw new Error('no such block')
 * const trusted = checkpoint(blockRoot, service.beacon.network)
 * const { proven } = await fetchConsensus([createBeaconApi(beaconUrl)], trusted)
 * console.log(proven.signers >= 342) // true
 * await service.close()
 * ```
 */
export async function fetchConsensus(
  apis: readonly BeaconApi[],
  trusted: TrustedBeaconBlock,
  options: ConsensusOptions = {},
): Promise<FetchedConsensus> {
  const { onProgress, signal } = options
  verifyApis(apis)
  verifyFunction('onProgress', onProgress)
  verifySignal(signal)
  if (typeof trusted?.verifyConsensus !== 'function') {
    throw argumentInvalid('trusted', 'what checkpoint of rollup-state-proof/beacon returns', trusted)
  }
  const failures: (RpcError | ProofError)[] = []
  for (const [index, api] of apis.entries()) {
    try {
      return await fetchFrom(api, trusted, onProgress, signal)
    } catch (error) {
      if (!(error instanceof RpcError || error instanceof ProofError) || error.code === 'ABORTED') throw error
      failures.push(error instanceof ProofError ? redactError(error, redactorFor(api)) : error)
      if (apis.length > 1) onProgress?.({ step: 'sourceFailed', index, code: error.code })
    }
  }
  const [only] = failures
  if (only !== undefined && failures.length === 1) throw only
  throw new RpcError('BEACON_UNAVAILABLE', {
    found: describeFailures(failures.map(({ code }) => code)),
    layer: 'beacon',
  })
}

export const describeFailures = (codes: readonly string[]): string =>
  codes.map((code, index) => `source ${index}: ${code}`).join('; ')

export function verifyApis(apis: readonly BeaconApi[]): void {
  if (!Array.isArray(apis) || apis.length === 0 || apis.some(api => typeof api?.get !== 'function')) {
    throw argumentInvalid('apis', 'an array of one or more beacon APIs', apis)
  }
}

async function fetchFrom(
  api: BeaconApi,
  trusted: TrustedBeaconBlock,
  onProgress: ConsensusOptions['onProgress'],
  signal: AbortSignal | undefined,
): Promise<FetchedConsensus> {
  const bootstrap = await fetchBootstrap(api, trusted.beaconBlockRoot, signal)
  const start = periodOf(readClaimed(bootstrap, 'data', 'header', 'beacon', 'slot'))
  const finality = await fetchFinality(api, signal)
  const periods = countPeriods(start, periodOf(readClaimed(finality, 'data', 'signature_slot')))
  onProgress?.({ step: 'size', periods, length: BYTES_PER_PERIOD * (periods + 1) })
  const updates = await fetchUpdates(api, start, periods, signal, done =>
    onProgress?.({ step: 'updates', done, periods }),
  )
  const answers = { bootstrap, updates, finality }
  const proven = trusted.verifyConsensus(answers)
  return { consensus: { network: trusted.network, ...answers }, proven }
}
