import { invalid, isArray, readItems } from '../../base/arguments.ts'
import { atPath } from '../../base/errors.ts'
import { EndpointError, type Failure, isMissing, isOfBlock, isPassing, type Layer } from '../transport/error.ts'
import { createHttpProvider, type HttpOptions, isUrl } from '../transport/http.ts'
import {
  type AnyProvider,
  forgetLacks,
  isProvider,
  type RequestProvider,
  type SendProvider,
} from '../transport/provider.ts'
import { createPool, type OnFailure, type Pool } from './pool.ts'

/**
 * What answers JSON-RPC requests: an `http` or `https` URL, an EIP-1193 provider, or a `JsonRpcProvider` of ethers. A URL is
 * asked as `createHttpProvider(url)` does.
 */
export type Endpoint = string | URL | RequestProvider | SendProvider

/** One or more endpoints for the same data. None is trusted. */
export type Endpoints = Pool<AnyProvider>

interface OpenOptions extends HttpOptions {
  readonly onFailure?: OnFailure
  /** Whether the caller may ask for another block: that this one is missing then counts more than other failures. */
  readonly mayGoBack?: boolean
}

/** Opens what a caller passed, before any request. @param layer if the call uses endpoints of several @throws ArgumentError */
export function openEndpoints(
  name: string,
  given: Endpoint | readonly Endpoint[],
  layer?: Layer,
  { onFailure, mayGoBack, ...http }: OpenOptions = {},
): Endpoints {
  const isList = (value: typeof given): value is readonly Endpoint[] => atPath(name, () => isArray(value))
  const providers = isList(given) ? readItems(name, given, one => openOne('', one, http)) : [openOne(name, given, http)]
  if (providers.length === 0) throw invalid(name, 'at least one endpoint', given)
  const rank = mayGoBack ? hopeOfBlock : hopeOf
  const failed = (failures: ReadonlyMap<number, Failure>) => failureOf(providers, layer, [...failures.values()], rank)
  return createPool(providers, { layer, onFailure, failed })
}

function openOne(name: string, given: Endpoint, http: HttpOptions): AnyProvider {
  if (isProvider(given)) return given
  if (typeof given === 'string' || isUrl(given)) return atPath(name, () => createHttpProvider(given, http))
  throw invalid(name, 'a URL, or an EIP-1193 provider, which has request({ method, params })', given)
}

/** For work that has to stay with one endpoint. */
export const only = (provider: AnyProvider): Endpoints => openEndpoints('', provider)

/** That an endpoint does not serve the method says least: another one does more, or less. */
const hopeOf = (error: Failure): number => (isLack(error) ? 0 : isMissing(error) ? 2 : isPassing(error) ? 3 : 1)
const hopeOfBlock = (error: Failure): number => (isMissing(error) ? 5 : isOfBlock(error) ? 4 : hopeOf(error))
const isLack = (error: Failure): error is EndpointError => error.code === 'METHOD_UNKNOWN'

/** The failure that is most likely to pass with time. If no endpoint serves the method, it says what to add. */
function failureOf(
  providers: readonly AnyProvider[],
  layer: Layer | undefined,
  failures: readonly Failure[],
  rank: (error: Failure) => number,
): Failure {
  const error = failures.reduce((best, one) => (rank(one) > rank(best) ? one : best))
  if (layer === undefined || !isLack(error)) return error
  forgetLacks(providers, failures)
  const { method = '', cause } = error
  if (!failures.every(one => isLack(one) && one.method === method)) return error
  const { length } = providers
  const none = length === 1 ? 'The only endpoint does not serve it' : `None of ${length} endpoints serves it`
  const found = `${none}: add ${serverOf(layer, method)}`
  return new EndpointError(error.code, { ...error, index: undefined, found, cause })
}

/** What serves the methods that this library asks for, for people. */
function serverOf(layer: Layer, method: string): string {
  if (layer === 'L1') return 'a node of L1 that serves it'
  if (method === 'eth_getProof') return 'a node of the rollup that proves the states of its finalized blocks'
  return method.endsWith('_getProof')
    ? "a state manager of the rollup's prover, or a provider that passes this method on to one"
    : 'a node of the rollup that serves it, beside those that serve proofs'
}
