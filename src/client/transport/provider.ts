import { decodeQuantity } from '../../base/hex.ts'
import { hasMethod } from '../../base/options.ts'
import { diagnoseWith } from './diagnose.ts'
import { abortedBy, EndpointError, isEndpointError, withMethod } from './error.ts'
import { lackOf, noteLack } from './lacking.ts'
import { MAX_RETRIES, REQUEST_TIMEOUT_MS } from './limits.ts'
import { queueOf } from './queue.ts'
import { originOf, redactorFor } from './redact.ts'
import { inTime, orAbort } from './waiting.ts'
import { inherit } from './whose.ts'

/** An EIP-1193 provider. viem's clients and transports, browser wallets and light clients are such providers. */
export interface RequestProvider {
  /**
   * Sends one request.
   *
   * @param args the method's name, and its parameters in order
   * @returns the result
   */
  request(args: { method: string; params?: readonly unknown[] | object | undefined }): Promise<unknown>
}

/** A `JsonRpcProvider` of ethers, which works wherever a {@link RequestProvider} does. */
export interface SendProvider {
  /**
   * Sends one request.
   *
   * @param method the method's name
   * @param params its parameters in order
   * @returns the result
   */
  send(method: string, params: unknown[]): Promise<unknown>
}

export type AnyProvider = RequestProvider | SendProvider

/** Whether it has a method to send a request. */
export const isProvider = (value: unknown): value is AnyProvider =>
  hasMethod(value, 'request') || hasMethod(value, 'send')

/** @param over for a provider of this library alone: others may take a second argument for something else */
function send(
  provider: AnyProvider,
  method: string,
  params: readonly unknown[],
  ...over: readonly AbortSignal[]
): Promise<unknown> {
  return 'request' in provider && typeof provider.request === 'function'
    ? Reflect.apply(provider.request, provider, [{ method, params }, ...over])
    : (provider as SendProvider).send(method, [...params])
}

/**
 * Sends one request, in the queue of its endpoint. One that is like a request under way shares its answer, and nobody may change
 * that. Throws what {@link diagnoseWith} makes of the provider's errors; `METHOD_UNKNOWN` without a request while the
 * endpoint is known not to serve the method. `signal` ends the wait. So does the time for a request: a provider of the caller
 * has as much as a URL, and is not waited for any longer.
 */
export async function callProvider(
  provider: AnyProvider,
  method: string,
  params: readonly unknown[],
  signal?: AbortSignal,
): Promise<unknown> {
  if (signal?.aborted) throw abortedBy(signal)
  const lack = lackOf(provider, method)
  if (lack !== undefined) throw lack
  try {
    return await share(provider, method, params, signal, own => sendInTurn(provider, method, params, own))
  } catch (error) {
    const failure = withMethod(diagnoseWith(redactorFor(provider), error, { method, params }), method)
    if (isEndpointError(failure) && failure.code === 'METHOD_UNKNOWN') noteLack(provider, method, failure)
    throw failure
  }
}

function sendInTurn(
  provider: AnyProvider,
  method: string,
  params: readonly unknown[],
  signal: AbortSignal | undefined,
): Promise<unknown> {
  if (originOf(provider) !== undefined) {
    return orAbort(() => send(provider, method, params, ...(signal ? [signal] : [])), signal)
  }
  const sendOnce = async () => {
    try {
      return await inTime(REQUEST_TIMEOUT_MS, async () => send(provider, method, params), signal)
    } catch (error) {
      throw diagnoseWith(redactorFor(provider), error, { method, params })
    }
  }
  return queueOf(provider).run(sendOnce, { signal, timeoutMs: REQUEST_TIMEOUT_MS, maxRetries: MAX_RETRIES })
}

/** Methods that read, so that one answer is as good for all who ask at the same time. */
const SHARED =
  /^(?:eth_(?:chainId|blockNumber|createAccessList|getBlockBy(?:Hash|Number)|getBlockReceipts|getCode|getLogs|getStorageAt|getTransactionByHash|getTransactionReceipt)|[a-z]+_getProof)$/

/** Work under way, and how many wait for it. */
interface Flight<T> {
  readonly answer: Promise<T>
  readonly ending: AbortController
  isOver: boolean
  waiting: number
}
const FLIGHTS = new WeakMap<object, Map<string, Flight<unknown>>>()

/** Runs `send`, or waits for the one that is under way. */
function share(
  provider: AnyProvider,
  method: string,
  params: readonly unknown[],
  signal: AbortSignal | undefined,
  send: (signal: AbortSignal | undefined) => Promise<unknown>,
): Promise<unknown> {
  if (!SHARED.test(method)) return send(signal)
  const flights = FLIGHTS.get(provider) ?? new Map<string, Flight<unknown>>()
  FLIGHTS.set(provider, flights)
  return shareFlight(flights, `${method} ${JSON.stringify(params)}`, signal, send)
}

/** Runs `send`, or waits for the one of this name that is under way. It is aborted when nobody waits any more. */
export async function shareFlight<T>(
  flights: Map<string, Flight<T>>,
  key: string,
  signal: AbortSignal | undefined,
  send: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const flight = flights.get(key) ?? begin()
  flight.waiting++
  try {
    return await orAbort(() => flight.answer, signal)
  } finally {
    if (--flight.waiting === 0) {
      forget(flight)
      if (!flight.isOver) flight.ending.abort()
    }
  }

  function forget(flight: Flight<T>): void {
    if (flights.get(key) === flight) flights.delete(key)
  }
  function begin(): Flight<T> {
    const ending = new AbortController()
    inherit(ending.signal, signal)
    const flight: Flight<T> = { answer: send(ending.signal), ending, isOver: false, waiting: 0 }
    flights.set(key, flight)
    // Those who come later want an answer of then.
    const end = () => {
      flight.isOver = true
      forget(flight)
    }
    flight.answer.then(end, end)
    return flight
  }
}

/** A JSON-RPC quantity of at most `bits` bits. @throws EndpointError `ANSWER_MALFORMED` */
export function parseQuantity(value: unknown, bits = 64): bigint {
  const quantity = decodeQuantity(value, bits)
  if (quantity !== null) return quantity
  throw new EndpointError('ANSWER_MALFORMED', { found: 'something that is not a quantity' })
}
