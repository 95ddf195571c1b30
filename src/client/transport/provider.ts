import { decodeQuantity } from '../../base/hex.ts'
import { hasMethod } from '../../base/options.ts'
import { diagnoseWith } from './diagnose.ts'
import { abortedBy, EndpointError, isEndpointError, withMethod } from './error.ts'
import { lackOf, noteLack } from './lacking.ts'
import { MAX_RETRIES, REQUEST_TIMEOUT_MS } from './limits.ts'
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

const FLIGHTS = new WeakMap<object, ReturnType<typeof createFlights<string>>>()

function share(
  provider: AnyProvider,
  method: string,
  params: readonly unknown[],
  signal: AbortSignal | undefined,
  send: (signal: AbortSignal | undefined) => Promise<unknown>,
): Promise<unknown> {
  if (!SHARED.test(method)) return send(signal)
  const flights = FLIGHTS.get(provider) ?? createFlights<string>()
  FLIGHTS.set(provider, flights)
  return flights.run(`${method} ${JSON.stringify(params)}`, signal, send)
}

/** A JSON-RPC quantity of at most `bits` bits. @throws EndpointError `ANSWER_MALFORMED` */
export function parseQuantity(value: unknown, bits = 64): bigint {
  const quantity = decodeQuantity(value, bits)
  if (quantity !== null) return quantity
  throw new EndpointError('ANSWER_MALFORMED', { found: 'something that is not a quantity' })
}
