import { invalid, isArray, readItems } from '../../base/arguments.ts'
import { atPath } from '../../base/errors.ts'
import { EndpointError, isEndpointError, isMissing, isOfBlock, isPassing, type Layer } from '../transport/error.ts'
import { createHttpProvider, type HttpOptions, isUrl } from '../transport/http.ts'
import { forgetLacks } from '../transport/lacking.ts'
import { type AnyProvider, isProvider, type RequestProvider, type SendProvider } from '../transport/provider.ts'
import { createPool, type Pool, type Told } from './pool.ts'

/**
 * What answers JSON-RPC requests: an `http` or `https` URL, an EIP-1193 provider, or a `JsonRpcProvider` of ethers. A URL is
 * asked as `createHttpProvider(url)` does.
 */
export type Endpoint = string | URL | RequestProvider | SendProvider

export type EndpointsOption = Endpoint | readonly Endpoint[]

/** One or more endpoints for the same data. None is trusted. */
export type Endpoints = Pool<AnyProvider>

interface OpenOptions extends HttpOptions, Told {
  /** Whether the caller may ask for another block: that this one is missing then counts more than other failures. */
  readonly mayGoBack?: boolean
}

/** Opens what a caller passed, before any request. @param layer if the call uses endpoints of several @throws ArgumentError */
export function openEndpoints(
  name: string,
  given: EndpointsOption,
  layer?: Layer,
  { onFailure, onWait, mayGoBack, ...http }: OpenOptions = {},
): Endpoints {
  const isList = (value: EndpointsOption): value is readonly Endpoint[] => atPath(name, () => isArray(value))
  const providers = isList(given) ? readItems(name, given, one => openOne('', one, http)) : [openOne(name, given, http)]
  if (providers.length === 0) throw invalid(name, 'at least one endpoint', given)
  return poolOf(providers, { layer, onFailure, onWait }, mayGoBack ? hopeOfBlock : hopeOf)
}

function openOne(name: string, given: Endpoint, http: HttpOptions): AnyProvider {
  if (isProvider(given)) return given
  if (typeof given === 'string' || isUrl(given)) return atPath(name, () => createHttpProvider(given, http))
  throw invalid(name, 'a URL, or an EIP-1193 provider, which has request({ method, params })', given)
}

/** For work that has to stay with one endpoint. */
export const only = (provider: AnyProvider): Endpoints => poolOf([provider], { layer: undefined }, hopeOf)

const poolOf = (
  providers: readonly AnyProvider[],
  told: Told & { readonly layer: Layer | undefined },
  hopeOf: (error: unknown) => number,
): Endpoints =>
  createPool(providers, {
    ...told,
    failed: failures => failureOf(providers, told.layer, [...failures.values()], hopeOf),
  })

/** That an endpoint does not serve the method says least: another one does more, or less. */
const hopeOf = (error: unknown): number => (isLack(error) ? 0 : isMissing(error) ? 2 : isPassing(error) ? 3 : 1)
const hopeOfBlock = (error: unknown): number => (isMissing(error) ? 5 : isOfBlock(error) ? 4 : hopeOf(error))
const isLack = (error: unknown) => isEndpointError(error) && error.code === 'METHOD_UNKNOWN'

/** The failure that is most likely to pass with time. If no endpoint serves the method, it says what to add. */
function failureOf(
  providers: readonly AnyProvider[],
  layer: Layer | undefined,
  failures: readonly unknown[],
  hopeOf: (error: unknown) => number,
): unknown {
  const error = failures.reduce((best, one) => (hopeOf(one) > hopeOf(best) ? one : best))
  if (layer === undefined || !isEndpointError(error) || !isLack(error)) return error
  forgetLacks(providers, failures)
  const isSame = (one: unknown) => isEndpointError(one) && isLack(one) && one.method === error.method
  return failures.every(isSame) ? nowhere(error, layer, providers.length) : error
}

/** What serves the methods that this library asks for, for people. */
const SERVERS: readonly (readonly [Layer, RegExp, string])[] = [
  ['L1', /./, 'a node of L1 that serves it'],
  ['L2', /^eth_getProof$/, 'a node of the rollup that proves the states of its finalized blocks'],
  ['L2', /_getProof$/, "a state manager of the rollup's prover, or a provider that passes this method on to one"],
  ['L2', /./, 'a node of the rollup that serves it, beside those that serve proofs'],
]

/** No endpoint serves a method: says what to add. */
function nowhere(error: EndpointError, layer: Layer, count: number): EndpointError {
  const { method = '', cause } = error
  const [, , server] = SERVERS.find(([own, methods]) => own === layer && methods.test(method)) ?? []
  const found = `${count === 1 ? 'The only endpoint does not serve it' : `None of ${count} endpoints serves it`}: add ${server}`
  return new EndpointError(error.code, { ...error, index: undefined, found, cause })
}
