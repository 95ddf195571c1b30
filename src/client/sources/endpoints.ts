import { invalid, isArray, readItems } from '../../base/arguments.ts'
import { atPath, type ProofError } from '../../base/errors.ts'
import { redactFailure } from '../transport/diagnose.ts'
import {
  abortedBy,
  atEndpoint,
  EndpointError,
  isEndpointError,
  isFailure,
  isMissing,
  isPassing,
  type Layer,
} from '../transport/error.ts'
import { createHttpProvider, type HttpOptions, isUrl } from '../transport/http.ts'
import { forgetLacks, isNews } from '../transport/lacking.ts'
import { SILENCE_MS } from '../transport/limits.ts'
import { type AnyProvider, isProvider, type RequestProvider, type SendProvider } from '../transport/provider.ts'
import { type QueueState, queueOf } from '../transport/queue.ts'
import { partOf } from '../transport/whose.ts'

/**
 * What answers JSON-RPC requests: an `http` or `https` URL, an EIP-1193 provider, or a `JsonRpcProvider` of ethers. A URL is
 * asked as `createHttpProvider(url)` does.
 */
export type Endpoint = string | URL | RequestProvider | SendProvider

/** What callers pass for the endpoints of one layer. */
export type EndpointsOption = Endpoint | readonly Endpoint[]

/** Called with every failure, and the index of the endpoint. */
export type OnFailure = (layer: Layer, index: number, error: EndpointError | ProofError) => void

/** Called with what requests to an endpoint wait for, and the index of the endpoint. */
export type OnWait = (layer: Layer, index: number, state: QueueState) => void

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
  /** The same, those that failed lately last. */
  ranked(): readonly AnyProvider[]
  /**
   * Runs `work` with the endpoint that last succeeded. Tries each of the others when one has failed, or has been silent for
   * {@link SILENCE_MS}. One that does not serve a method of the work fails without a request once that is known. `work` must verify what it returns, because the first result is final.
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

/** That an endpoint does not serve the method says least: another one does more, or less. */
const hopeOf = (error: unknown): number => (isLack(error) ? 0 : isMissing(error) ? 2 : isPassing(error) ? 3 : 1)
const isLack = (error: unknown) => isEndpointError(error) && error.code === 'METHOD_UNKNOWN'

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
  { onFailure, onWait, ...http }: HttpOptions & Omit<Told, 'layer'> = {},
): Endpoints {
  const isList = (value: EndpointsOption): value is readonly Endpoint[] => atPath(name, () => isArray(value))
  const providers = isList(given) ? readItems(name, given, one => openOne('', one, http)) : [openOne(name, given, http)]
  if (providers.length === 0) throw invalid(name, 'at least one endpoint', given)
  return createEndpoints(providers, { layer, onFailure, onWait })
}

function openOne(name: string, given: Endpoint, http: HttpOptions): AnyProvider {
  if (isProvider(given)) return given
  if (typeof given === 'string' || isUrl(given)) return atPath(name, () => createHttpProvider(given, http))
  throw invalid(name, 'a URL, or an EIP-1193 provider, which has request({ method, params })', given)
}

/** For work that has to stay with one endpoint. */
export const only = (provider: AnyProvider): Endpoints => createEndpoints([provider])

interface Told {
  readonly layer?: Layer | undefined
  readonly onFailure?: OnFailure | undefined
  readonly onWait?: OnWait | undefined
}

/** @param told what is told of endpoints of a layer, and of no others */
function createEndpoints(providers: readonly AnyProvider[], told: Told = {}): Endpoints {
  const { layer, onFailure } = told
  /** The indexes of the endpoints, in the order in which they are asked. */
  let order: readonly number[] = [...providers.keys()]
  const putLast = (index: number) => {
    order = [...order.filter(one => one !== index), index]
  }

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
      failures.push(error)
      // It serves other methods as before.
      if (!isLack(error)) putLast(index)
      const isTold = isEndpointError(error) && onFailure !== undefined && !isNews(provider, error)
      if (layer !== undefined && !isTold) onFailure?.(layer, index, error)
      return undefined
    }
  }

  return {
    providers,
    ranked: () => order.flatMap(index => providers[index] ?? []),
    run<T>(work: Work<T>, signal?: AbortSignal) {
      return watching(providers, told, signal, async over => {
        const failures: unknown[] = []
        const asked = order
        const silent: number[] = []
        const found = await race(asked.length, over, async (turn, attempt) => {
          // There are as many.
          const index = asked[turn] as number
          silent.push(index)
          const outcome = await tryOne(index, provider => work(provider, attempt), failures)
          silent.splice(silent.indexOf(index), 1)
          return outcome
        })
        if (found === undefined) throw failureOf(providers, layer, failures)
        // A silent one is not asked first again.
        for (const index of silent) putLast(index)
        return found.value
      })
    },
    each<T>(work: (provider: AnyProvider) => Promise<T | null>) {
      return watching(providers, told, undefined, async () => {
        const failures: unknown[] = []
        const outcomes = await Promise.all([...providers.keys()].map(index => tryOne(index, work, failures)))
        const values = outcomes.flatMap(outcome =>
          outcome === undefined || outcome.value === null ? [] : [outcome.value],
        )
        if (values.length === 0 && failures.length > 0) throw failureOf(providers, layer, failures)
        return values
      })
    },
    blame(provider, error) {
      if (layer !== undefined) onFailure?.(layer, providers.indexOf(provider), error)
    },
  }
}

/** Runs `work`, and tells meanwhile what the endpoints make requests wait for. @throws what `onWait` throws, too */
async function watching<T>(
  providers: readonly AnyProvider[],
  { layer, onWait }: Told,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal | undefined) => Promise<T>,
): Promise<T> {
  if (layer === undefined || onWait === undefined) return work(signal)
  const ending = partOf(signal)
  let stopped: { readonly error: unknown } | undefined
  const ends = providers.map((provider, index) =>
    queueOf(provider).watch(state => {
      try {
        onWait(layer, index, state)
      } catch (error) {
        stopped = { error }
        ending.abort()
      }
    }),
  )
  try {
    return await work(ending.signal)
  } catch (error) {
    throw stopped === undefined ? error : stopped.error
  } finally {
    ending.forget()
    for (const end of ends) end()
  }
}

/** What the failure of all endpoints comes to. */
function failureOf(providers: readonly AnyProvider[], layer: Layer | undefined, failures: readonly unknown[]): unknown {
  const error = mostHopeful(failures)
  if (layer === undefined || !isEndpointError(error) || !isLack(error)) return error
  forgetLacks(providers, failures)
  return failures.every(isLackOf(error.method)) ? nowhere(error, layer, providers.length) : error
}

const isLackOf = (method: string | undefined) => (error: unknown) =>
  isEndpointError(error) && isLack(error) && error.method === method

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
  const ending = partOf(signal)
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
    ending.forget()
    ending.abort()
  }
}

const mostHopeful = (failures: readonly unknown[]): unknown =>
  failures.reduce((best, error) => (hopeOf(error) > hopeOf(best) ? error : best))
