import { invalid, isArray, readItems } from '../arguments.ts'
import { atPath, type ProofError } from '../errors.ts'
import { redactFailure } from './diagnose.ts'
import { atEndpoint, type EndpointError, isFailure, isMissing, isPassing, type Layer } from './error.ts'
import { createHttpProvider, type HttpOptions, isUrl } from './http.ts'
import { type AnyProvider, isProvider, type RequestProvider, type SendProvider } from './provider.ts'

/**
 * What answers JSON-RPC requests: an `http` or `https` URL, an EIP-1193 provider, or a `JsonRpcProvider` of ethers. A URL is
 * asked as `createHttpProvider(url)` does.
 */
export type Endpoint = string | URL | RequestProvider | SendProvider

/** What callers pass for the endpoints of one layer. */
export type EndpointsOption = Endpoint | readonly Endpoint[]

/** Called with every failure, and the index of the endpoint. */
export type OnFailure = (layer: Layer, index: number, error: EndpointError | ProofError) => void

/** One or more endpoints for the same data. None is trusted. */
export interface Endpoints {
  readonly providers: readonly AnyProvider[]
  /**
   * Runs `work` with the endpoint that last succeeded. If it fails, tries each of the others. `work` must verify what it
   * returns, because its result is final.
   *
   * @throws what is no failure of an endpoint, at once. If all fail: the failure that is most likely to pass with time, with
   * the layer
   */
  run<T>(work: (provider: AnyProvider) => Promise<T>): Promise<T>
  /**
   * Runs `work` with every endpoint, one after another, and returns what is not null. For what a single endpoint could hide.
   *
   * @throws as `run`, if there is nothing and one failed
   */
  each<T>(work: (provider: AnyProvider) => Promise<T | null>): Promise<T[]>
}

const hopeOf = (error: unknown): number => (isMissing(error) ? 1 : isPassing(error) ? 2 : 0)

/**
 * Opens what a caller passed, before any request.
 *
 * @param name of the argument
 * @param layer if the call uses endpoints of several
 * @throws ArgumentError
 */
export function openEndpoints(
  name: string,
  given: EndpointsOption,
  layer?: Layer,
  { onFailure, ...http }: HttpOptions & { onFailure?: OnFailure | undefined } = {},
): Endpoints {
  const isList = (value: EndpointsOption): value is readonly Endpoint[] => atPath(name, () => isArray(value))
  const providers = isList(given) ? readItems(name, given, one => openOne('', one, http)) : [openOne(name, given, http)]
  if (providers.length === 0) throw invalid(name, 'at least one endpoint', given)
  return createEndpoints(providers, layer, onFailure)
}

function openOne(name: string, given: Endpoint, http: HttpOptions): AnyProvider {
  if (isProvider(given)) return given
  if (typeof given === 'string' || isUrl(given)) return atPath(name, () => createHttpProvider(given, http))
  throw invalid(name, 'a URL, or an EIP-1193 provider, which has request({ method, params })', given)
}

/** For work that has to stay with one endpoint. */
export const only = (provider: AnyProvider): Endpoints => createEndpoints([provider])

/** @param onFailure is told of endpoints of a layer only */
function createEndpoints(providers: readonly AnyProvider[], layer?: Layer, onFailure?: OnFailure): Endpoints {
  let current = 0

  /** What `work` makes of one endpoint; undefined if it fails. */
  async function attempt<T>(index: number, work: (provider: AnyProvider) => Promise<T>, failures: unknown[]) {
    const provider = providers[index]
    if (provider === undefined) return undefined
    try {
      return { value: await (layer === undefined ? work(provider) : atEndpoint(layer, () => work(provider))) }
    } catch (thrown) {
      const error = redactFailure(thrown, provider)
      if (!isFailure(error)) throw error
      if (layer !== undefined) onFailure?.(layer, index, error)
      failures.push(error)
      // Another work may have moved on from it already.
      if (current === index) current = (index + 1) % providers.length
      return undefined
    }
  }

  return {
    providers,
    async run(work) {
      const failures: unknown[] = []
      const begin = current
      for (const turn of providers.keys()) {
        const outcome = await attempt((begin + turn) % providers.length, work, failures)
        if (outcome) return outcome.value
      }
      throw mostHopeful(failures)
    },
    async each<T>(work: (provider: AnyProvider) => Promise<T | null>) {
      const failures: unknown[] = []
      const values: T[] = []
      for (const index of providers.keys()) {
        const { value } = (await attempt(index, work, failures)) ?? { value: null }
        if (value !== null) values.push(value)
      }
      if (values.length === 0 && failures.length > 0) throw mostHopeful(failures)
      return values
    },
  }
}

const mostHopeful = (failures: readonly unknown[]): unknown =>
  failures.reduce((best, error) => (hopeOf(error) > hopeOf(best) ? error : best))
