import { decodeQuantity } from '../../base/hex.ts'
import { hasMethod } from '../../base/options.ts'
import { diagnoseWith, type RpcRequest } from './diagnose.ts'
import { abortedBy, EndpointError, type Failure, isEndpointError, withMethod } from './error.ts'
import { LACKING_MS, MAX_LACKING, MAX_RETRIES, REQUEST_TIMEOUT_MS } from './limits.ts'
import { queueOf } from './queue.ts'
import { originOf, redactorFor } from './redact.ts'
import { createFlights, inTime, orAbort } from './waiting.ts'

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

export const isProvider = (value: unknown): value is AnyProvider =>
  hasMethod(value, 'request') || hasMethod(value, 'send')

/**
 * Sends one request, in the queue of its endpoint. One that is like a request under way shares its answer, and nobody may change
 * that. `METHOD_UNKNOWN` without a request while the endpoint is known not to serve the method. A provider of the caller has as much
 * time as a URL.
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
  const sendOne = (own: AbortSignal | undefined) => sendInTurn(provider, { method, params }, own)
  try {
    if (!SHARED.test(method)) return await sendOne(signal)
    const flights = FLIGHTS.get(provider) ?? createFlights<string>()
    FLIGHTS.set(provider, flights)
    return await flights.run(`${method} ${JSON.stringify(params)}`, signal, sendOne)
  } catch (error) {
    const failure = withMethod(diagnoseWith(redactorFor(provider), error, { method, params }), method)
    if (isLack(failure)) noteLack(provider, method, failure)
    throw failure
  }
}

/** Methods that read, so that one answer is as good for all who ask at the same time. */
const SHARED =
  /^(?:eth_(?:chainId|blockNumber|getBlockBy(?:Hash|Number)|getBlockReceipts|getCode|getLogs|getStorageAt|getTransactionByHash|getTransactionReceipt)|[a-z]+_getProof)$/

const FLIGHTS = new WeakMap<object, ReturnType<typeof createFlights<string>>>()

function sendInTurn(provider: AnyProvider, call: Pick<RpcRequest, 'method' | 'params'>, signal?: AbortSignal) {
  const { method, params } = call
  // One of this library has its queue inside, and takes a signal. Others may take a second argument for something else.
  const isOwn = originOf(provider) !== undefined
  const send = async () =>
    'request' in provider && typeof provider.request === 'function'
      ? Reflect.apply(provider.request, provider, [{ method, params }, ...(isOwn ? [signal] : [])])
      : (provider as SendProvider).send(method, [...params])
  if (isOwn) return orAbort(send, signal)
  const sendOnce = () =>
    inTime(REQUEST_TIMEOUT_MS, send, signal).catch(error => {
      throw diagnoseWith(redactorFor(provider), error, call)
    })
  return queueOf(provider).run(sendOnce, { signal, timeoutMs: REQUEST_TIMEOUT_MS, maxRetries: MAX_RETRIES })
}

/** A JSON-RPC quantity of at most `bits` bits. @throws EndpointError `ANSWER_MALFORMED` */
export function parseQuantity(value: unknown, bits = 64): bigint {
  const quantity = decodeQuantity(value, bits)
  if (quantity !== null) return quantity
  throw new EndpointError('ANSWER_MALFORMED', { found: 'something that is not a quantity' })
}

/** What endpoints do not serve: learnt once, and forgotten after a while, because it may have been switched on by then. */
interface Lack {
  readonly error: EndpointError
  readonly until: number
  isTold: boolean
}

const LACKS = new WeakMap<object, Map<string, Lack>>()

/** The error with which the endpoint has refused this method; undefined if it may serve it. */
export function lackOf(provider: object, method: string): EndpointError | undefined {
  const lack = LACKS.get(provider)?.get(method)
  return lack && performance.now() < lack.until ? lack.error : undefined
}

export function noteLack(provider: object, method: string, error: EndpointError): void {
  const lacks = LACKS.get(provider) ?? new Map<string, Lack>()
  if (lacks.size >= MAX_LACKING) lacks.clear()
  LACKS.set(provider, lacks.set(method, { error, until: performance.now() + LACKING_MS, isTold: false }))
}

export const isLack = (error: unknown): error is EndpointError =>
  isEndpointError(error) && error.code === 'METHOD_UNKNOWN'

/** Whether this failure has to be told: that the endpoint does not serve a method, once. */
export function isNews(provider: object | undefined, error: Failure): boolean {
  const lack = isLack(error) && provider ? LACKS.get(provider)?.get(error.method ?? '') : undefined
  if (lack?.isTold) return false
  if (lack !== undefined) lack.isTold = true
  return true
}

/** For when no endpoint serves a method: each attempt is to find out anew. */
export function forgetLacks(providers: readonly object[], lacks: readonly EndpointError[]): void {
  for (const provider of providers) for (const { method = '' } of lacks) LACKS.get(provider)?.delete(method)
}
