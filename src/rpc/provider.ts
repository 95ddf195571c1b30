import { decodeQuantity } from '../hex.ts'
import { hasMethod } from '../options.ts'
import { diagnoseWith } from './diagnose.ts'
import { abortedBy, EndpointError, withMethod } from './error.ts'
import { REQUEST_TIMEOUT_MS } from './limits.ts'
import { originOf, redactorFor } from './redact.ts'
import { inTime } from './waiting.ts'

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
 * Sends one request. Throws what {@link diagnoseWith} makes of the provider's errors. `signal` ends the wait. So does the time
 * for a request: a provider of the caller has as much as a URL, and is not waited for any longer.
 */
export async function callProvider(
  provider: AnyProvider,
  method: string,
  params: readonly unknown[],
  signal?: AbortSignal,
): Promise<unknown> {
  if (signal?.aborted) throw abortedBy(signal)
  try {
    const isTimed = originOf(provider) !== undefined
    if (!isTimed) return await inTime(REQUEST_TIMEOUT_MS, async () => send(provider, method, params), signal)
    return await orAbort(() => send(provider, method, params, ...(signal ? [signal] : [])), signal)
  } catch (error) {
    throw withMethod(diagnoseWith(redactorFor(provider), error, { method, params }), method)
  }
}

/** Runs `work`, unless the signal is aborted, and stops waiting for it when that happens. */
export async function orAbort<T>(work: () => Promise<T> | T, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work()
  if (signal.aborted) throw abortedBy(signal)
  const working = work()
  return new Promise((resolve, reject) => {
    const end = () => reject(abortedBy(signal))
    const forget = () => signal.removeEventListener('abort', end)
    // The work may already have aborted the signal.
    if (signal.aborted) end()
    signal.addEventListener('abort', end, { once: true })
    Promise.resolve(working).then(resolve, reject).then(forget)
  })
}

/** A JSON-RPC quantity of at most `bits` bits. @throws EndpointError `ANSWER_MALFORMED` */
export function parseQuantity(value: unknown, bits = 64): bigint {
  const quantity = decodeQuantity(value, bits)
  if (quantity !== null) return quantity
  throw new EndpointError('ANSWER_MALFORMED', { found: 'something that is not a quantity' })
}
