import { pickKnown, readOwn, type Shape } from '../../base/json/known-fields.ts'
import { periodOf } from '../../verify/beacon/clock.ts'
import { MAX_UPDATES } from '../../verify/beacon/limits.ts'
import type { BeaconNetwork } from '../../verify/beacon/network.ts'
import { BOOTSTRAP_SHAPE, FINALITY_SHAPE, UPDATE_SHAPE } from '../../verify/evidence/consensus.ts'
import { redactError } from '../transport/diagnose.ts'
import { abortedBy, EndpointError, isEndpointError } from '../transport/error.ts'
import type { BeaconApi } from '../transport/http.ts'
import { BEACON_STEP_LENGTH, FINALITY_LENGTH } from '../transport/limits.ts'
import { admissionOf } from '../transport/partial-answers.ts'
import { redactorFor } from '../transport/redact.ts'

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

export const fetchFinality = (api: BeaconApi, signal?: AbortSignal): Promise<unknown> =>
  fetchKnown(api, 'finality_update', FINALITY_SHAPE, FINALITY_LENGTH, signal)

/** The updates of at most `count` periods, at least one. The verifier checks that they are in order and without gaps. */
export async function fetchUpdates(
  api: BeaconApi,
  start: number,
  count: number,
  signal?: AbortSignal,
): Promise<unknown[]> {
  const path = `updates?start_period=${start}&count=${count}`
  const answer = await fetchKnown(api, path, { items: UPDATE_SHAPE }, count * BEACON_STEP_LENGTH, signal)
  if (!Array.isArray(answer)) throw new EndpointError('ANSWER_MALFORMED', { found: 'no list', layer: 'beacon' })
  if (answer.length > 0) return answer.slice(0, count)
  throw new EndpointError('BLOCK_MISSING', { found: `no update of period ${start}`, layer: 'beacon' })
}

/** The integer at this path of names, as an endpoint claims it. Nothing of it is proven. */
export function readClaimed(source: unknown, ...names: string[]): bigint {
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
export function countPeriods(from: number, to: number): number {
  const count = Math.max(to - from, 0)
  if (count <= MAX_UPDATES) return count
  throw new EndpointError('RESPONSE_TOO_LARGE', {
    found: `${count} periods, more than ${MAX_UPDATES}`,
    layer: 'beacon',
  })
}
