import { ProofError } from '../../base/errors.ts'
import { pickKnown, readOwn, type Shape } from '../../base/json/known-fields.ts'
import { clockOf, periodOf } from '../../verify/beacon/clock.ts'
import type { Committee } from '../../verify/beacon/committee.ts'
import { MAX_UPDATES } from '../../verify/beacon/limits.ts'
import type { BeaconNetwork } from '../../verify/beacon/network.ts'
import type { BeaconLightClient } from '../../verify/beacon/trusted-block.ts'
import type { VerifiedBootstrap, VerifiedFinality, VerifiedUpdate } from '../../verify/beacon/verify.ts'
import { BOOTSTRAP_SHAPE, FINALITY_SHAPE, UPDATE_SHAPE } from '../../verify/evidence/consensus.ts'
import { redactError } from '../transport/diagnose.ts'
import { abortedBy, EndpointError, isEndpointError } from '../transport/error.ts'
import type { BeaconApi } from '../transport/http.ts'
import { BEACON_STEP_LENGTH, FINALITY_LENGTH, MAX_UPDATES_AT_ONCE } from '../transport/limits.ts'
import { admissionOf } from '../transport/partial-answers.ts'
import { redactorFor } from '../transport/redact.ts'
import type { Session } from './beacon-session.ts'

const LIGHT_CLIENT = '/eth/v1/beacon/light_client'

/** Fetches one document of at most `length` characters, and keeps its known fields. */
async function fetchKnown(api: BeaconApi, path: string, shape: Shape, length: number, signal?: AbortSignal) {
  const redact = redactorFor(api)
  try {
    const answer = await api.get(`${LIGHT_CLIENT}/${path}`, signal, length)
    return pickKnown(answer, shape, admissionOf(length, redact))
  } catch (error) {
    if (signal?.aborted) throw abortedBy(signal)
    if (!isEndpointError(error)) throw new EndpointError('UNREACHABLE', { layer: 'beacon' })
    const { found, status, report, method, retryAfterMs } = error
    // An API of the caller need not know what the status means.
    const code = status === 404 && found === undefined ? 'BLOCK_MISSING' : error.code
    throw redactError(new EndpointError(code, { found, status, report, method, retryAfterMs, layer: 'beacon' }), redact)
  }
}

export const fetchBootstrap = (api: BeaconApi, blockRoot: string, signal?: AbortSignal): Promise<unknown> =>
  fetchKnown(api, `bootstrap/${blockRoot}`, BOOTSTRAP_SHAPE, BEACON_STEP_LENGTH, signal)

const fetchFinality = (api: BeaconApi, signal?: AbortSignal): Promise<unknown> =>
  fetchKnown(api, 'finality_update', FINALITY_SHAPE, FINALITY_LENGTH, signal)

/** The updates of at most `count` periods, at least one. The verifier checks that they are in order and without gaps. */
async function fetchUpdates(api: BeaconApi, start: number, count: number, signal?: AbortSignal): Promise<unknown[]> {
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

/** The period of a slot that an endpoint claims. @throws EndpointError if the slot is impossibly large */
export function claimedPeriod(network: BeaconNetwork, slot: bigint): number {
  const period = periodOf(network, slot)
  if (period < 2 ** 32) return period
  throw new EndpointError('ANSWER_MALFORMED', { found: `slot ${slot}`, layer: 'beacon' })
}

/** How many updates lead from one period to another. @throws EndpointError if there are more than are verified */
function countPeriods(from: number, to: number): number {
  const count = Math.max(to - from, 0)
  if (count <= MAX_UPDATES) return count
  throw new EndpointError('RESPONSE_TOO_LARGE', {
    found: `${count} periods, more than ${MAX_UPDATES}`,
    layer: 'beacon',
  })
}

/** A proven block, and the committee that signed for it, or that of its period. */
export type KnownBlock = Omit<VerifiedBootstrap, 'l1BlockNumber' | 'l1Timestamp'>

/** The newest committee is remembered apart from the newest block: it may not sign yet, and then the one before it does. */
export interface Chain {
  best: KnownBlock
  /** The newest slot of a finality update that was verified. */
  newestSlot: bigint
  /** The newest committee, and the one before it. */
  committees: readonly Committee[]
}

export interface Steps {
  readonly onClaim?: (period: number) => void
  readonly onUpdate?: (update: unknown, verified: VerifiedUpdate) => void
  readonly onFinality?: (finality: unknown, verified: VerifiedFinality, committee: Committee) => void
}

const newestOf = ({ best, committees }: Chain): Committee => committees.at(-1) ?? best.committee

/**
 * Asks all endpoints for their newest finalized block, and proves the newest of them that it can. What is proven stays in
 * `chain`, even if it is not enough.
 *
 * @param isEnough whether there is no need to wait long for endpoints that may know more
 */
export async function extendChain(
  session: Session,
  chain: Chain,
  beacon: BeaconLightClient,
  isEnough: () => boolean,
  steps: Steps = {},
): Promise<void> {
  const { network } = beacon
  const start = chain.best.slot
  let stepping: Promise<void> | undefined

  function improve(verified: VerifiedFinality, committee: Committee, source: unknown): void {
    verifyClock(network, verified, readClaimed(source, 'data', 'signature_slot'))
    if (verified.slot > chain.best.slot) chain.best = { ...verified, committee }
  }

  /** Takes as many of these updates as verify. @throws if not even the first does */
  async function take(updates: readonly unknown[]): Promise<void> {
    for (const [index, update] of updates.entries()) {
      const signing = newestOf(chain)
      await session.turn()
      try {
        const verified = beacon.verifyUpdate(update, signing)
        chain.committees = [signing, verified.committee]
        improve(verified, signing, update)
        session.progress()
        session.tell(() => steps.onUpdate?.(update, verified))
      } catch (error) {
        if (index === 0) throw error
        return
      }
    }
  }

  async function step(period: number): Promise<void> {
    const first = newestOf(chain).period
    const count = Math.min(period - first, MAX_UPDATES_AT_ONCE)
    await session.race((api, signal) => fetchUpdates(api, first, count, signal), take, false)
  }

  const claims = new Map<number, bigint>()
  await session.each(fetchFinality, isEnough, async (finality, index) => {
    const slot = readClaimed(finality, 'data', 'finalized_header', 'beacon', 'slot')
    const period = claimedPeriod(network, readClaimed(finality, 'data', 'signature_slot'))
    if (slot < start) throw new ProofError('BEACON_OLDER_THAN_CHECKPOINT')
    countPeriods(newestOf(chain).period, period)
    session.tell(() => steps.onClaim?.(period))
    while (newestOf(chain).period < period) {
      stepping ??= step(period).finally(() => {
        stepping = undefined
      })
      await stepping
    }
    claims.set(index, slot)
    await session.turn()
    // Another endpoint may have proven it meanwhile.
    if (slot <= chain.newestSlot) return
    const committee = chain.committees.find(committee => committee.period === period) ?? newestOf(chain)
    const verified = beacon.verifyFinality(finality, committee)
    chain.newestSlot = verified.slot
    improve(verified, committee, finality)
    session.tell(() => steps.onFinality?.(finality, verified, committee))
  })
  for (const [index, slot] of claims) if (slot < chain.newestSlot) session.lag(index)
}

/** Checks that the time of a signature is not after that of this machine. @throws EndpointError `CLOCK_BEHIND` */
function verifyClock(network: BeaconNetwork, { slot, slotTimestamp }: VerifiedFinality, signatureSlot: bigint): void {
  const { secondsPerSlot } = clockOf(network)
  const ahead = Number(slotTimestamp + (signatureSlot - slot) * BigInt(secondsPerSlot)) - Date.now() / 1000
  if (ahead > secondsPerSlot) {
    throw new EndpointError('CLOCK_BEHIND', { found: `${Math.round(ahead)} seconds` })
  }
}
