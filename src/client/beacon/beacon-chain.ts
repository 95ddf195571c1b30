import { ProofError } from '../../base/errors.ts'
import { pickKnown, readOwn, type Shape } from '../../base/json/known-fields.ts'
import { clockOf, periodOf } from '../../verify/beacon/clock.ts'
import type { Committee } from '../../verify/beacon/committee.ts'
import { MAX_UPDATES } from '../../verify/beacon/limits.ts'
import type { BeaconNetwork } from '../../verify/beacon/network.ts'
import type { BeaconLightClient } from '../../verify/beacon/trusted-block.ts'
import type { VerifiedBootstrap, VerifiedFinality } from '../../verify/beacon/verify.ts'
import { BOOTSTRAP_SHAPE, FINALITY_SHAPE, UPDATE_SHAPE } from '../../verify/evidence/consensus.ts'
import { type Attempt, createPool, type Pool } from '../sources/pool.ts'
import { admissionOf } from '../transport/admission.ts'
import { redactError } from '../transport/diagnose.ts'
import {
  abortedBy,
  EndpointError,
  type Failure,
  isEndpointError,
  isMissing,
  isUnknownFork,
} from '../transport/error.ts'
import type { BeaconApi } from '../transport/http.ts'
import {
  BEACON_APIS_AT_ONCE,
  BEACON_STEP_LENGTH,
  FINALITY_LENGTH,
  MAX_UPDATES_AT_ONCE,
  SOURCE_TIMEOUT_MS,
  STRAGGLE_MS,
} from '../transport/limits.ts'
import { redactorFor } from '../transport/redact.ts'
import { createBudget, inTime, sleep } from '../transport/waiting.ts'
import { partOf } from '../transport/whose.ts'

const LIGHT_CLIENT = '/eth/v1/beacon/light_client'

/** Fetches one document of at most `length` characters, and keeps its known fields. */
async function fetchKnown(api: BeaconApi, path: string, shape: Shape, length: number, signal: AbortSignal) {
  const redact = redactorFor(api)
  try {
    const get = async (own: AbortSignal) => api.get(`${LIGHT_CLIENT}/${path}`, own, length)
    const answer = await inTime(SOURCE_TIMEOUT_MS, get, signal)
    return pickKnown(answer, shape, admissionOf(length, redact))
  } catch (error) {
    if (signal.aborted) throw abortedBy(signal)
    if (!isEndpointError(error)) throw new EndpointError('UNREACHABLE', { layer: 'beacon' })
    // An API of the caller need not know what the status means.
    const code = error.status === 404 && error.found === undefined ? 'BLOCK_MISSING' : error.code
    throw redactError(new EndpointError(code, { ...error, layer: 'beacon' }), redact)
  }
}

export const fetchBootstrap = (api: BeaconApi, blockRoot: string, signal: AbortSignal): Promise<unknown> =>
  fetchKnown(api, `bootstrap/${blockRoot}`, BOOTSTRAP_SHAPE, BEACON_STEP_LENGTH, signal)

const fetchFinality = (api: BeaconApi, signal: AbortSignal): Promise<unknown> =>
  fetchKnown(api, 'finality_update', FINALITY_SHAPE, FINALITY_LENGTH, signal)

/** The updates of at most `count` periods, at least one. The verifier checks that they are in order and without gaps. */
async function fetchUpdates(api: BeaconApi, start: number, count: number, signal: AbortSignal): Promise<unknown[]> {
  const path = `updates?start_period=${start}&count=${count}`
  const answer = await fetchKnown(api, path, { items: UPDATE_SHAPE }, count * BEACON_STEP_LENGTH, signal)
  if (!Array.isArray(answer)) throw new EndpointError('ANSWER_MALFORMED', { found: 'no list', layer: 'beacon' })
  if (answer.length > 0) return answer.slice(0, count)
  throw new EndpointError('BLOCK_MISSING', { found: `no update of period ${start}`, layer: 'beacon' })
}

/** The integer at this path of names, as an endpoint claims it. Nothing of it is proven. */
function readClaimed(source: unknown, ...names: string[]): bigint {
  const value = names.reduce((holder, name) => readOwn(Object(holder), name), source)
  if (typeof value === 'string' && /^\d{1,20}$/.test(value)) return BigInt(value)
  throw new EndpointError('ANSWER_MALFORMED', { found: `no ${names.at(-1)}`, layer: 'beacon' })
}

/** How many updates lead from one period to another that an endpoint claims. @throws EndpointError if more than are verified */
function verifyCount(from: number, to: number): void {
  if (to - from <= MAX_UPDATES) return
  const found = `${to - from} periods, more than ${MAX_UPDATES}`
  throw new EndpointError('RESPONSE_TOO_LARGE', { found, layer: 'beacon' })
}

/** Beacon APIs of which none is trusted. */
export interface Session {
  readonly pool: Pool<BeaconApi>
  /** The first failure of each, until they are cleared. */
  readonly failures: Map<number, Failure>
}

/** @param onFailure called when an endpoint fails for the first time. What it throws ends what is under way */
export function openSession(
  apis: readonly BeaconApi[],
  onFailure: (index: number, code: string) => void = () => {},
): Session {
  const failures = new Map<number, Failure>()
  const note = (index: number, error: Failure) => {
    if (failures.has(index)) return
    failures.set(index, error)
    onFailure(index, error.code)
  }
  const pool = createPool(apis, {
    layer: 'beacon',
    onFailure: (_, index, error) => note(index, error),
    onSilence: index => note(index, tooLate()),
    failed: found => unavailable(apis.length, found),
  })
  return { pool, failures }
}

const tooLate = () => new EndpointError('TIMEOUT', { layer: 'beacon' })

/** The error of a single endpoint as it is; of several, what each of them answered. */
export const unavailable = (count: number, failures: ReadonlyMap<number, Failure>): Failure =>
  (count === 1 ? failures.get(0) : undefined) ?? allFailed(failures)

export function allFailed(failures: ReadonlyMap<number, Failure>): Failure {
  const [first] = failures.values()
  // Asking again does not help.
  if (first && [...failures.values()].every(isUnknownFork)) return first
  const sorted = [...failures].sort(([a], [b]) => a - b)
  const found = sorted.map(([index, { code }]) => `source ${index}: ${code}`).join('; ')
  return new EndpointError('BEACON_UNAVAILABLE', { found, layer: 'beacon' })
}

/** A proven block, and the committee that signed for it, or that of its period. */
export type KnownBlock = Pick<VerifiedBootstrap, 'committee' | 'l1BlockHash' | 'slot' | 'slotTimestamp'>

/** The newest committee is remembered apart from the newest block: it may not sign yet, and then the one before it does. */
export interface Chain {
  best: KnownBlock
  /** The newest slot of a finality update that was verified. */
  newestSlot: bigint
  /** The newest committee, and the one before it. */
  committees: readonly Committee[]
}

/** @param best the trusted block, or the newest proven one */
export const chainFrom = (best: KnownBlock): Chain => ({
  best,
  newestSlot: best.slot - 1n,
  committees: [best.committee],
})

interface Extension {
  readonly signal: AbortSignal | undefined
  /** Whether there is no need to wait long for endpoints that may know more. */
  readonly isEnough: () => boolean
  readonly onClaim?: (period: number) => void
  readonly onUpdate?: (update: unknown) => void
  readonly onFinality?: (finality: unknown, verified: VerifiedFinality) => void
}

const newestOf = ({ best, committees }: Chain): Committee => committees.at(-1) ?? best.committee

/**
 * Asks all endpoints for their newest finalized block, and proves the newest of them that it can. What is proven stays in
 * `chain`, even if it is not enough. Once one is proven and `isEnough`, the other endpoints have {@link STRAGGLE_MS} since the
 * last committee was proven, and those that failed lately are not waited for.
 */
export async function extendChain(
  { pool, failures }: Session,
  chain: Chain,
  beacon: BeaconLightClient,
  extension: Extension,
): Promise<void> {
  const start = chain.best.slot
  const ending = partOf(extension.signal)
  const awaited = new Set([...pool.sources.keys()].filter(index => !pool.isDemoted(index)))
  let [hasSucceeded, hasProgress] = [false, false]
  let timer: ReturnType<typeof setTimeout> | undefined
  const settle = () => {
    if (!hasSucceeded || !extension.isEnough()) return
    clearTimeout(timer)
    if (awaited.size === 0 && !hasProgress) round.end()
    else timer = setTimeout(round.end, STRAGGLE_MS)
  }
  const { stepTo, prove } = proverOf(pool, chain, beacon, ending.signal, {
    ...extension,
    onUpdate(update) {
      hasProgress = true
      settle()
      extension.onUpdate?.(update)
    },
  })
  const claims = new Map<number, bigint>()
  const round = pool.each(
    async (api, { signal, heard }, index) => {
      const finality = await fetchFinality(api, signal)
      heard()
      const slot = readClaimed(finality, 'data', 'finalized_header', 'beacon', 'slot')
      const period = periodOf(beacon.network, readClaimed(finality, 'data', 'signature_slot'))
      if (slot < start) throw new ProofError('BEACON_OLDER_THAN_CHECKPOINT')
      verifyCount(newestOf(chain).period, period)
      extension.onClaim?.(period)
      await stepTo(period)
      claims.set(index, slot)
      await prove(finality, slot, period)
    },
    { signal: ending.signal, atOnce: BEACON_APIS_AT_ONCE },
  )
  try {
    for await (const outcome of round) {
      awaited.delete(outcome.index)
      hasSucceeded ||= 'value' in outcome
      settle()
    }
    for (const index of round.running.keys()) pool.blame(index, tooLate())
  } finally {
    clearTimeout(timer)
    ending.forget()
    ending.abort()
  }
  for (const [index, slot] of claims) {
    if (slot < chain.newestSlot && !failures.has(index)) {
      failures.set(index, new ProofError('BEACON_OLDER_THAN_CHECKPOINT'))
    }
  }
}

/** Extends a chain by what verifies. Other work of the program runs between two verifications. */
function proverOf(
  pool: Pool<BeaconApi>,
  chain: Chain,
  beacon: BeaconLightClient,
  signal: AbortSignal,
  { onUpdate, onFinality }: Pick<Extension, 'onUpdate' | 'onFinality'>,
) {
  const { run: inTurn } = createBudget(1)
  let stepping: Promise<void> | undefined

  function improve(verified: VerifiedFinality, committee: Committee, source: unknown): void {
    verifyClock(beacon.network, verified, readClaimed(source, 'data', 'signature_slot'))
    const { l1BlockHash, slot, slotTimestamp } = verified
    if (slot > chain.best.slot) chain.best = { committee, l1BlockHash, slot, slotTimestamp }
  }

  /** Takes as many of these updates as verify. @throws if not even the first does */
  async function take(updates: readonly unknown[]): Promise<void> {
    for (const [index, update] of updates.entries()) {
      const signing = newestOf(chain)
      await sleep(0, signal)
      try {
        const verified = beacon.verifyUpdate(update, signing)
        chain.committees = [signing, verified.committee]
        improve(verified, signing, update)
        onUpdate?.(update)
      } catch (error) {
        if (index === 0) throw error
        return
      }
    }
  }

  function step(period: number): Promise<void> {
    const first = newestOf(chain).period
    const work = async (api: BeaconApi, attempt: Attempt) => {
      const updates = await fetchUpdates(api, first, Math.min(period - first, MAX_UPDATES_AT_ONCE), attempt.signal)
      attempt.heard()
      // Those of another endpoint may have been taken meanwhile.
      await inTurn(async () => (newestOf(chain).period === first ? take(updates) : undefined))
    }
    return pool.run(work, signal, error => !isMissing(error))
  }

  return {
    /** Fetches the updates up to a period, once for all who need them. */
    async stepTo(period: number): Promise<void> {
      while (newestOf(chain).period < period) {
        stepping ??= step(period).finally(() => {
          stepping = undefined
        })
        await stepping
      }
    },
    async prove(finality: unknown, slot: bigint, period: number): Promise<void> {
      await sleep(0, signal)
      // Another endpoint may have proven it meanwhile.
      if (slot <= chain.newestSlot) return
      const committee = chain.committees.find(committee => committee.period === period) ?? newestOf(chain)
      const verified = beacon.verifyFinality(finality, committee)
      chain.newestSlot = verified.slot
      improve(verified, committee, finality)
      onFinality?.(finality, verified)
    },
  }
}

/** Checks that the time of a signature is not after that of this machine. @throws EndpointError `CLOCK_BEHIND` */
function verifyClock(network: BeaconNetwork, { slot, slotTimestamp }: VerifiedFinality, signatureSlot: bigint): void {
  const { secondsPerSlot } = clockOf(network)
  const ahead = Number(slotTimestamp + (signatureSlot - slot) * BigInt(secondsPerSlot)) - Date.now() / 1000
  if (ahead > secondsPerSlot) {
    throw new EndpointError('CLOCK_BEHIND', { found: `${Math.round(ahead)} seconds` })
  }
}
