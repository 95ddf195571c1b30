import { ProofError, plural } from '../../base/errors.ts'
import { pickKnown, readOwn, type Shape } from '../../base/json/known-fields.ts'
import { clockOf, periodOf } from '../../verify/beacon/clock.ts'
import type { Committee } from '../../verify/beacon/committee.ts'
import { MAX_UPDATES } from '../../verify/beacon/limits.ts'
import type { BeaconNetwork } from '../../verify/beacon/network.ts'
import type { TrustedBeaconBlock } from '../../verify/beacon/trusted-block.ts'
import type { BeaconBlock, VerifiedBootstrap, VerifiedFinality } from '../../verify/beacon/verify.ts'
import { BOOTSTRAP_SHAPE, FINALITY_SHAPE, UPDATE_SHAPE } from '../../verify/evidence/consensus.ts'
import { type Attempt, createPool, type Pool } from '../sources/endpoints.ts'
import { admissionOf } from '../transport/admission.ts'
import { redactError } from '../transport/diagnose.ts'
import { abortedBy, EndpointError, type Failure, isKnownError, isUnknownFork } from '../transport/error.ts'
import type { BeaconApi } from '../transport/http.ts'
import {
  BEACON_APIS_AT_ONCE,
  BEACON_STEP_LENGTH,
  FINALITY_LENGTH,
  MAX_UPDATES_AT_ONCE,
  SOURCE_TIMEOUT_MS,
  STRAGGLE_MS,
} from '../transport/limits.ts'
import { redactorFor } from '../transport/provider.ts'
import type { Redact } from '../transport/redact.ts'
import { createBudget, createFlights, inTime, partOf, sleep } from '../transport/waiting.ts'

interface OpenApi {
  readonly api: BeaconApi
  readonly redact: Redact
}

/** Fetches one document of at most `length` characters, and keeps its known fields. */
async function fetchKnown({ api, redact }: OpenApi, path: string, shape: Shape, length: number, signal: AbortSignal) {
  try {
    const get = async (own: AbortSignal) => api.get(`/eth/v1/beacon/light_client/${path}`, own, length)
    return pickKnown(await inTime(SOURCE_TIMEOUT_MS, get, signal), shape, admissionOf(length, redact))
  } catch (error) {
    if (signal.aborted) throw abortedBy(signal)
    if (!isKnownError(error)) throw new EndpointError('UNREACHABLE', { layer: 'beacon' })
    // An API of the caller need not know what the status means.
    const code = error.status === 404 && error.found === undefined ? 'BLOCK_MISSING' : error.code
    throw redactError(new EndpointError(code, { ...error, layer: 'beacon' }), redact)
  }
}

/** The integer at this path of names, as an endpoint claims it. Nothing of it is proven. */
function readClaimed(source: unknown, ...names: string[]): bigint {
  const value = names.reduce((holder, name) => readOwn(Object(holder), name), source)
  if (typeof value === 'string' && /^\d{1,20}$/.test(value)) return BigInt(value)
  throw new EndpointError('ANSWER_MALFORMED', { found: `no ${names.at(-1)}`, layer: 'beacon' })
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

interface Proven {
  readonly bootstrap: unknown
  readonly trusted: VerifiedBootstrap
  /** The newest block. */
  best: BeaconBlock
  /** The finality update with the newest slot. */
  newest?: { readonly finality: unknown; readonly verified: VerifiedFinality }
  /** The newest committee, and the one before it: the newest may not sign yet. */
  committees: readonly Committee[]
}

interface Told {
  failed(failures: ReadonlyMap<number, Failure>): Failure
  /** An endpoint failed for the first time since `failing` was cleared. What this throws ends what is under way. */
  readonly onFailure?: (index: number, error: Failure) => void
  /** How many updates are needed now, as far as is known; one that is verified. */
  readonly onUpdate?: (left: number, update?: unknown) => void
}

/** What is proven so far, over beacon APIs of which none is trusted. */
type BeaconChain = ReturnType<typeof openBeaconChain>

export function openBeaconChain(source: BeaconSource, { failed, onFailure, onUpdate }: Told) {
  /** The first failure of each endpoint, until they are cleared. */
  const failing = new Map<number, Failure>()
  const note = (index: number, error: Failure) => {
    if (failing.has(index)) return
    failing.set(index, error)
    onFailure?.(index, error)
  }
  const apis = source.apis.map((api): OpenApi => ({ api, redact: redactorFor(api) }))
  const pool: Pool<OpenApi> = createPool(apis, {
    layer: 'beacon',
    onFailure: (_, index, error) => note(index, error),
    onSilence: index => note(index, new EndpointError('TIMEOUT', { layer: 'beacon' })),
    failed,
  })
  return { source, pool, failing, onUpdate, proven: undefined as Proven | undefined }
}

/**
 * Asks all endpoints for their newest finalized block, and proves the newest of them that it can. What is proven stays, even if it is
 * not enough. Once one is proven and `isEnough`, the others have {@link STRAGGLE_MS} since the last committee was proven, and those
 * that failed lately are not waited for.
 *
 * @returns what is proven, and what all endpoints failed with, unless one of them named a block that is
 */
export async function extendChain(
  chain: BeaconChain,
  whole: AbortSignal | undefined,
  isEnough: (best: BeaconBlock) => boolean,
) {
  const { pool, source } = chain
  const { beaconBlockRoot: blockRoot, lightClient } = source.trusted
  chain.proven ??= await pool.run<Proven>(async (api, { signal }) => {
    const bootstrap = await fetchKnown(api, `bootstrap/${blockRoot}`, BOOTSTRAP_SHAPE, BEACON_STEP_LENGTH, signal)
    const trusted = lightClient.verifyBootstrap(bootstrap, { network: lightClient.network, blockRoot })
    return { bootstrap, trusted, best: trusted, committees: [trusted.committee] }
  }, whole)
  const { proven } = chain
  const { slot: oldest } = proven.best
  // Checked each time: the newest block may have been proven long ago.
  verifyTrustedAge(proven.best, source)
  const ending = partOf(whole)
  const awaited = new Set([...pool.sources.keys()].filter(index => !pool.isDemoted(index)))
  const failures = new Map<number, Failure>()
  let timer: ReturnType<typeof setTimeout> | undefined
  const settle = () => {
    clearTimeout(timer)
    if (!hasSucceeded || !isEnough(proven.best)) return
    if (awaited.size === 0) round.end()
    else timer = setTimeout(round.end, STRAGGLE_MS)
  }
  let hasSucceeded = false
  const prove = createProver(chain, proven, ending.signal, settle)
  const work = async (api: OpenApi, { signal, heard }: Attempt) => {
    const finality = await fetchKnown(api, 'finality_update', FINALITY_SHAPE, FINALITY_LENGTH, signal)
    heard()
    await prove(finality, oldest)
  }
  const round = pool.each(work, { signal: ending.signal, atOnce: BEACON_APIS_AT_ONCE })
  try {
    for await (const outcome of round) {
      awaited.delete(outcome.index)
      if ('error' in outcome) failures.set(outcome.index, outcome.error)
      else hasSucceeded = true
      settle()
    }
    for (const index of round.running.keys()) pool.blame(index, new EndpointError('TIMEOUT', { layer: 'beacon' }))
  } finally {
    clearTimeout(timer)
    ending.forget()
    ending.abort()
  }
  return { proven, failures: hasSucceeded ? null : failures }
}

/** Proves what endpoints name as finalized. Other work of the program runs between two verifications. */
function createProver(chain: BeaconChain, proven: Proven, signal: AbortSignal, onStep: () => void) {
  const { pool, source, onUpdate } = chain
  const { network, verifyUpdate, verifyFinality } = source.trusted.lightClient
  const { run: inTurn } = createBudget(1)
  const { run: share } = createFlights<string>()
  /** There is always one. */
  const lastCommittee = (): Committee => proven.committees.at(-1) ?? proven.trusted.committee

  function improve(verified: VerifiedFinality, sent: unknown): void {
    // It is signed. Nothing proves the slot of the signature.
    verifyClock(network, verified, readClaimed(sent, 'data', 'attested_header', 'beacon', 'slot'))
    if (verified.slot > proven.best.slot) proven.best = verified
  }

  /** Takes as many of these updates as verify, in order and without gaps. @throws if not even the first does */
  async function take(updates: readonly unknown[], to: number): Promise<void> {
    for (const [index, update] of updates.entries()) {
      const signing = lastCommittee()
      await sleep(0, signal)
      try {
        const verified = verifyUpdate(update, signing)
        proven.committees = [signing, verified.committee]
        improve(verified, update)
      } catch (error) {
        if (index === 0) throw error
        return
      }
      onStep()
      onUpdate?.(to - lastCommittee().period, update)
    }
  }

  function step(to: number): Promise<void> {
    const first = lastCommittee().period
    onUpdate?.(to - first)
    const count = Math.min(to - first, MAX_UPDATES_AT_ONCE)
    const path = `updates?start_period=${first}&count=${count}`
    return pool.run(async (api, attempt) => {
      const updates = await fetchKnown(api, path, { items: UPDATE_SHAPE }, count * BEACON_STEP_LENGTH, attempt.signal)
      if (!Array.isArray(updates)) throw new EndpointError('ANSWER_MALFORMED', { found: 'no list', layer: 'beacon' })
      const found = `no update of period ${first}`
      if (updates.length === 0) throw new EndpointError('BLOCK_MISSING', { found, layer: 'beacon' })
      attempt.heard()
      // Those of another endpoint may have been taken meanwhile.
      await inTurn(async () => (lastCommittee().period === first ? take(updates.slice(0, count), to) : undefined))
    }, signal)
  }

  return async (finality: unknown, oldest: bigint): Promise<void> => {
    const slot = readClaimed(finality, 'data', 'finalized_header', 'beacon', 'slot')
    const period = periodOf(network, readClaimed(finality, 'data', 'signature_slot'))
    if (slot < oldest) throw new ProofError('BEACON_OLDER_THAN_CHECKPOINT')
    const count = period - lastCommittee().period
    if (count > MAX_UPDATES) {
      const found = `${count} periods, more than ${MAX_UPDATES}`
      throw new EndpointError('RESPONSE_TOO_LARGE', { found, layer: 'beacon' })
    }
    // The updates are fetched once for all who need them.
    while (lastCommittee().period < period) await share('step', undefined, () => step(period))
    await sleep(0, signal)
    // Another endpoint may have proven it meanwhile.
    if (proven.newest && slot <= proven.newest.verified.slot) return
    const committee = proven.committees.find(committee => committee.period === period) ?? lastCommittee()
    const verified = verifyFinality(finality, committee)
    improve(verified, finality)
    proven.newest = { finality, verified }
  }
}

export function allFailed(failures: ReadonlyMap<number, Failure>): Failure {
  const [first] = failures.values()
  // Asking again does not help.
  if (first && [...failures.values()].every(isUnknownFork)) return first
  const sorted = [...failures].sort(([a], [b]) => a - b)
  const found = sorted.map(([index, { code }]) => `source ${index + 1}: ${code}`).join('; ')
  return new EndpointError('BEACON_UNAVAILABLE', { found, layer: 'beacon' })
}

/** Checks that the time of what is signed is not after that of this machine. @throws EndpointError `CLOCK_BEHIND` */
function verifyClock(network: BeaconNetwork, { slot, slotTimestamp }: VerifiedFinality, signedSlot: bigint): void {
  const { secondsPerSlot } = clockOf(network)
  const ahead = Number(slotTimestamp + (signedSlot - slot) * BigInt(secondsPerSlot)) - Date.now() / 1000
  if (ahead > secondsPerSlot) {
    throw new EndpointError('CLOCK_BEHIND', { found: `by ${plural(Math.round(ahead), 'second')}` })
  }
}

export const DAY = 86_400

/** The age of a block in seconds, by the clock of this machine. */
export const ageOf = ({ slotTimestamp }: BeaconBlock): number => Date.now() / 1000 - Number(slotTimestamp)

/** By default two weeks; one from Gloas on, where validators leave faster (EIP-8061). */
function verifyTrustedAge(block: BeaconBlock, { trusted, maxTrustedAgeSeconds: limit }: BeaconSource): void {
  const age = ageOf(block)
  const { network } = trusted.lightClient
  const gloas = network.forks.find(({ name }) => name === 'gloas')?.epoch ?? Number.POSITIVE_INFINITY
  const { secondsPerSlot, slotsPerEpoch } = clockOf(network)
  const epoch = (Number(block.slot) + age / secondsPerSlot) / slotsPerEpoch
  if (age > (limit ?? (epoch < gloas ? 14 : 7) * DAY)) {
    throw new EndpointError('BEACON_CHECKPOINT_OLD', { found: `${Math.round(age / DAY)} days`, layer: 'beacon' })
  }
}
