import { decodeQuantity } from '../hex.ts'
import { diagnoseWith } from './diagnose.ts'
import { abortedBy, EndpointError } from './error.ts'
import { redactorFor } from './redact.ts'

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
export function isProvider(value: unknown): value is AnyProvider {
  const isObject = (typeof value === 'object' && value !== null) || typeof value === 'function'
  return isObject && (hasMethod(value, 'request') || hasMethod(value, 'send'))
}

function hasMethod(source: object, name: string): boolean {
  try {
    return typeof Reflect.get(source, name) === 'function'
  } catch {
    // A getter or a proxy can throw anything.
    return false
  }
}

function send(provider: AnyProvider, method: string, params: readonly unknown[]): Promise<unknown> {
  return 'request' in provider && typeof provider.request === 'function'
    ? provider.request({ method, params })
    : (provider as SendProvider).send(method, [...params])
}

/** Sends one request. Throws what {@link diagnoseWith} makes of the provider's errors. `signal` ends the wait. */
export async function callProvider(
  provider: AnyProvider,
  method: string,
  params: readonly unknown[],
  signal?: AbortSignal,
): Promise<unknown> {
  if (signal?.aborted) throw abortedBy(signal)
  try {
    return await orAbort(() => send(provider, method, params), signal)
  } catch (error) {
    throw diagnoseWith(redactorFor(provider), error, params)
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
