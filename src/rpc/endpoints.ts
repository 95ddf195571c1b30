import { invalid, isArray, readItems } from '../arguments.ts'
import { atPath, type ProofError } from '../errors.ts'
import { redactFailure } from './diagnose.ts'
import { abortedBy, atEndpoint, type EndpointError, isFailure, isMissing, isPassing, type Layer } from './error.ts'
import { createHttpProvider, type HttpOptions, isUrl } from './http.ts'
import { SILENCE_MS } from './limits.ts'
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

/** One endpoint's attempt at a piece of work. */
export interface Attempt {
  /** Aborted when the work has ended: another endpoint has done it, or the caller has aborted. */
  readonly signal: AbortSignal
  /** To call whenever the endpoint has answered a part of the work: it is not silent. */
  heard(): void
}

/** What to do with one endpoint. */
type Work<T> = (provider: AnyProvider, attempt: Attempt) => Promise<T>

/** One or more endpoints for the same data. None is trusted. */
export interface Endpoints {
  readonly providers: readonly AnyProvider[]
  /** The same, from the one that last succeeded on. */
  ranked(): readonly AnyProvider[]
  /**
   * Runs `work` with the endpoint that last succeeded. Tries each of the others when one has failed, or has been silent for
   * {@link SILENCE_MS}. `work` must verify what it returns, because the first result is final.
   *
   * @throws what is no failure of an endpoint, at once. If all fail: the failure that is most likely to pass with time, with
   * the layer
   */
  run<T>(work: Work<T>, signal?: AbortSignal): Promise<T>
  /**
   * Runs `work` with every endpoint at once, and returns what is not null. For what a single endpoint could hide.
   *
   * @throws as `run`, if there is nothing and one failed
   */
  each<T>(work: (provider: AnyProvider) => Promise<T | null>): Promise<T[]>
  /** Tells of a lie of an endpoint that came out after its work. */
  blame(provider: AnyProvider, error: EndpointError): void
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
  async function tryOne<T>(index: number, work: (provider: AnyProvider) => Promise<T>, failures: unknown[]) {
    const provider = providers[index]
    if (provider === undefined) return undefined
    try {
      // Its place says which it is. A URL never does.
      const place = providers.length > 1 ? index : undefined
      return { value: await atEndpoint(layer, () => work(provider), place) }
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
    ranked: () => [...providers.slice(current), ...providers.slice(0, current)],
    async run<T>(work: Work<T>, signal?: AbortSignal) {
      const failures: unknown[] = []
      const first = current
      const found = await race(providers.length, signal, async (turn, attempt) => {
        const index = (first + turn) % providers.length
        const outcome = await tryOne(index, provider => work(provider, attempt), failures)
        // A silent one is not asked first again.
        if (outcome && !attempt.signal.aborted && current === first) current = index
        return outcome
      })
      if (found === undefined) throw mostHopeful(failures)
      return found.value
    },
    async each<T>(work: (provider: AnyProvider) => Promise<T | null>) {
      const failures: unknown[] = []
      const outcomes = await Promise.all([...providers.keys()].map(index => tryOne(index, work, failures)))
      const values = outcomes.flatMap(outcome =>
        outcome === undefined || outcome.value === null ? [] : [outcome.value],
      )
      if (values.length === 0 && failures.length > 0) throw mostHopeful(failures)
      return values
    },
    blame(provider, error) {
      if (layer !== undefined) onFailure?.(layer, providers.indexOf(provider), error)
    },
  }
}

/**
 * The first outcome of `count` attempts, begun one after another: the next when one has failed, or the last one begun has been
 * silent for {@link SILENCE_MS}. When it returns, all others are aborted, and none is waited for.
 *
 * @param attempt its outcome is undefined if it has failed; what it throws ends all
 * @returns undefined if all have failed
 */
export async function race<T>(
  count: number,
  signal: AbortSignal | undefined,
  attempt: (turn: number, attempt: Attempt) => Promise<T | undefined>,
): Promise<T | undefined> {
  if (signal?.aborted) throw abortedBy(signal)
  const ending = new AbortController()
  const end = () => ending.abort(signal?.reason)
  signal?.addEventListener('abort', end, { once: true })
  let timer: ReturnType<typeof setTimeout> | undefined
  try {
    return await new Promise((resolve, reject) => {
      let [begun, failed] = [0, 0]
      const wait = (turn: number) => {
        if (turn !== begun - 1 || ending.signal.aborted) return
        clearTimeout(timer)
        timer = setTimeout(begin, SILENCE_MS)
      }
      const begin = () => {
        if (failed === count) resolve(undefined)
        if (begun === count || ending.signal.aborted) return
        const turn = begun++
        wait(turn)
        attempt(turn, { signal: ending.signal, heard: () => wait(turn) }).then(outcome => {
          if (outcome !== undefined) return resolve(outcome)
          failed++
          begin()
        }, reject)
      }
      begin()
    })
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', end)
    ending.abort()
  }
}

const mostHopeful = (failures: readonly unknown[]): unknown =>
  failures.reduce((best, error) => (hopeOf(error) > hopeOf(best) ? error : best))
