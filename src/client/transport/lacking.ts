import { type EndpointError, isEndpointError } from './error.ts'
import { LACKING_MS, MAX_LACKING } from './limits.ts'

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

/** Whether this failure has to be told: that the endpoint does not serve a method, once. */
export function isNews(provider: object, { code, method = '' }: EndpointError): boolean {
  const lack = code === 'METHOD_UNKNOWN' ? LACKS.get(provider)?.get(method) : undefined
  if (lack?.isTold) return false
  if (lack !== undefined) lack.isTold = true
  return true
}

/** Forgets what these failures are about, because no endpoint serves it: each attempt is to find out anew. */
export function forgetLacks(providers: readonly object[], failures: readonly unknown[]): void {
  const methods = failures.flatMap(failure => (isEndpointError(failure) ? [failure.method ?? ''] : []))
  for (const provider of providers) for (const method of methods) LACKS.get(provider)?.delete(method)
}
