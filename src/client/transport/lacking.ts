import { type EndpointError, isEndpointError } from './error.ts'
import { LACKING_MS, MAX_LACKING } from './limits.ts'

/** What endpoints do not serve: learnt once, and forgotten after a while, because it may have been switched on by then. */
interface Lack {
  readonly error: EndpointError
  readonly at: number
  isTold: boolean
}

const LACKS = new WeakMap<object, Map<string, Lack>>()

const now = () => performance.now()

/** The error with which the endpoint has refused this method; undefined if it may serve it. */
export function lackOf(provider: object, method: string): EndpointError | undefined {
  const lacks = LACKS.get(provider)
  const lack = lacks?.get(method)
  if (lack === undefined || now() < lack.at + LACKING_MS) return lack?.error
  lacks?.delete(method)
  return undefined
}

export function noteLack(provider: object, method: string, error: EndpointError): void {
  const lacks = LACKS.get(provider) ?? new Map<string, Lack>()
  LACKS.set(provider, lacks)
  const [oldest] = lacks.keys()
  if (lacks.size >= MAX_LACKING && oldest !== undefined) lacks.delete(oldest)
  lacks.set(method, { error, at: now(), isTold: false })
}

/** Whether this failure has to be told: that the endpoint does not serve a method, once. */
export function isNews(provider: object, { code, method = '' }: EndpointError): boolean {
  const lack = code === 'METHOD_UNKNOWN' ? LACKS.get(provider)?.get(method) : undefined
  const isTold = lack?.isTold === true
  if (lack !== undefined) lack.isTold = true
  return !isTold
}

/** Forgets what these failures are about, because no endpoint serves it: each attempt is to find out anew. */
export function forgetLacks(providers: readonly object[], failures: readonly unknown[]): void {
  for (const failure of failures) {
    const method = isEndpointError(failure) ? failure.method : undefined
    for (const provider of providers) if (method !== undefined) LACKS.get(provider)?.delete(method)
  }
}
