import { invalid, isArray, readItems } from '../../base/arguments.ts'
import { atPath, isProofError } from '../../base/errors.ts'
import { diagnoseWith } from '../transport/diagnose.ts'
import {
  abortedBy,
  atEndpoint,
  type Failure,
  isEndpointError,
  isFailure,
  isMissing,
  isOfBlock,
  isPassing,
  type Layer,
  withDetails,
} from '../transport/error.ts'
import { createHttpProvider, type HttpOptions, isUrl } from '../transport/http.ts'
import { DEMOTION_MS, SILENCE_MS, STAGGER_MS } from '../transport/limits.ts'
import {
  isLack,
  isProvider,
  type OpenProvider,
  openProvider,
  type RequestProvider,
  type SendProvider,
} from '../transport/provider.ts'
import type { Redact } from '../transport/redact.ts'
import { partOf } from '../transport/waiting.ts'

export interface Attempt {
  /** Aborted when the work has ended: another source has done it, or the caller has aborted. */
  readonly signal: AbortSignal
  /** To call whenever the source has answered a part of the work: it is not silent. */
  heard(): void
}

export type Work<Source, T> = (source: Source, attempt: Attempt, index: number) => Promise<T>

type Outcome<T> = { readonly index: number } & ({ readonly value: T } | { readonly error: Failure })

/** Attempts of several sources, and their outcomes as they end. Whoever leaves the loop over them ends all that are under way. */
interface Round<T> extends AsyncIterable<T> {
  /** Those under way, and whether each is silent: another one was begun beside it. None is waited for once the round has ended. */
  readonly running: ReadonlyMap<number, boolean>
  /** Ends it as if there were no more. */
  end(): void
}

interface RoundOptions {
  readonly signal?: AbortSignal | undefined
  /** How many are asked at once. A further one is asked when one has ended, or the newest is silent. Default: all. */
  readonly atOnce?: number
  /** Which failures are the source's fault. Default: all. */
  readonly isBlamed?: (error: Failure) => boolean
}

/** A JSON-RPC endpoint or a beacon API. */
interface AnySource {
  /** Removes what nobody may see of it. */
  readonly redact: Redact
  /** Whether a failure has to be told. Default: each. */
  isNews?(error: Failure): boolean
}

/** One or more sources of the same data. None is trusted. */
export type Pool<Source extends AnySource> = ReturnType<typeof createPool<Source>>

export type OnFailure = (layer: Layer, index: number, error: Failure) => void

interface PoolOptions {
  readonly layer: Layer | undefined
  /** Told of sources of a layer, and of no others. What it throws ends the work, and is no failure of a source. */
  readonly onFailure?: OnFailure | undefined
  /** Called with one that was so slow that another one has done the work. */
  readonly onSilence?: (index: number) => void
  /** What the failures of all sources come to. */
  failed(failures: ReadonlyMap<number, Failure>): unknown
}

export function createPool<Source extends AnySource>(sources: readonly Source[], options: PoolOptions) {
  const { layer, onFailure, onSilence, failed } = options
  const silenceMs = layer === 'beacon' ? STAGGER_MS : SILENCE_MS
  /** Until when each of those that failed is asked last. */
  const demoted = new Map<number, number>()
  const isDemoted = (index: number): boolean => (demoted.get(index) ?? 0) > Date.now()
  // The time does not start anew, so that a source is not put behind the others for ever.
  const demote = (index: number) => void (isDemoted(index) || demoted.set(index, Date.now() + DEMOTION_MS))
  const rank = (index: number) => (isDemoted(index) ? (demoted.get(index) ?? 0) : 0)

  function blame(index: number, error: Failure): void {
    // Beacon APIs hand out what they have, and are not to blame for what they have not.
    const isLate = layer === 'beacon' && isMissing(error)
    if (isLate && isEndpointError(error)) return
    // One that lacks a method serves others as before.
    if (!isLack(error) && !isLate) demote(index)
    if (layer !== undefined && sources[index]?.isNews?.(error) !== false) onFailure?.(layer, index, error)
  }

  /** Runs `work` with every source, those that failed lately last. For what a single one could hide. */
  function each<T>(
    work: Work<Source, T>,
    { signal, atOnce = sources.length, isBlamed = () => true }: RoundOptions = {},
  ): Round<Outcome<T>> {
    const order = [...sources.keys()].sort((a, b) => rank(a) - rank(b))
    return startRound(order, atOnce, silenceMs, signal, async (index, own) => {
      // There are as many.
      const source = sources[index] as Source
      try {
        const value = await work(source, own, index)
        demoted.delete(index)
        return { index, value }
      } catch (thrown) {
        // A failed check quotes what does not verify. The source may have mistaken the request, which is no lie.
        const shown = isProofError(thrown) ? diagnoseWith(source.redact, thrown) : thrown
        // Its place says which it is. A URL never does.
        const error = atEndpoint(shown, layer, sources.length > 1 ? index : undefined)
        // Whoever stops a work throws what is no failure of a source, whatever its class.
        if (signal?.aborted) throw abortedBy(signal)
        if (!isFailure(error)) throw error
        if (isBlamed(error)) blame(index, error)
        return { index, error }
      }
    })
  }

  return {
    sources,
    isDemoted,
    each,
    blame,
    failed,
    /**
     * Runs `work` with one source. Tries each of the others when one has failed, or has been silent. One that does not serve a
     * method of the work fails without a request once that is known. `work` must verify what it returns, because the first result
     * is final.
     *
     * @throws what is no failure of a source, at once. If all fail: what `failed` makes of it
     */
    async run<T>(work: Work<Source, T>, signal?: AbortSignal): Promise<T> {
      const failures = new Map<number, Failure>()
      const round = each(work, { signal, atOnce: 1 })
      for await (const outcome of round) {
        if ('error' in outcome) {
          failures.set(outcome.index, outcome.error)
          continue
        }
        for (const [index, isSilent] of round.running) {
          if (!isSilent) continue
          // It is not asked first again.
          demote(index)
          onSilence?.(index)
        }
        return outcome.value
      }
      throw failed(failures)
    },
  }
}

/** What all sources came to, by their indices. */
export async function allOf<T>(round: Round<Outcome<T>>) {
  const values = new Map<number, T>()
  const failures = new Map<number, Failure>()
  for await (const one of round) {
    if ('error' in one) failures.set(one.index, one.error)
    else values.set(one.index, one.value)
  }
  return { values, failures }
}

/** @param attempt what it throws ends the round */
function startRound<T>(
  order: readonly number[],
  atOnce: number,
  silenceMs: number,
  signal: AbortSignal | undefined,
  attempt: (index: number, attempt: Attempt) => Promise<T>,
): Round<T> {
  const ending = partOf(signal)
  const ended: Promise<T>[] = []
  const running = new Map<number, boolean>()
  const waiting = [...order]
  let [newest, isOver] = [-1, false]
  let timer: ReturnType<typeof setTimeout> | undefined
  let wake = () => {}

  function end(): void {
    isOver = true
    clearTimeout(timer)
    ending.forget()
    // An error for nobody costs as much as a small proof.
    if (running.size > 0) ending.abort()
    wake()
  }
  /** Listens for the newest one: if it stays silent, another one is begun. */
  function listen(index: number): void {
    if (index !== newest || isOver) return
    clearTimeout(timer)
    timer = setTimeout(() => {
      if (running.has(index)) running.set(index, true)
      begin()
    }, silenceMs)
  }
  function begin(): void {
    const index = isOver || ending.signal.aborted ? undefined : waiting.shift()
    if (index === undefined) return
    newest = index
    running.set(index, false)
    listen(index)
    const outcome = attempt(index, { signal: ending.signal, heard: () => listen(index) })
    outcome.then(
      () => {
        if (isOver) return
        running.delete(index)
        ended.push(outcome)
        wake()
      },
      () => {
        if (isOver) return
        // Before what others came to. It ends them, and what it has left under way itself.
        ended.unshift(outcome)
        end()
      },
    )
  }
  async function* read(): AsyncGenerator<T, void> {
    if (signal?.aborted) throw abortedBy(signal)
    try {
      for (;;) {
        for (let outcome = ended.shift(); outcome; outcome = ended.shift()) yield await outcome
        if (isOver) return
        while (running.size < atOnce && waiting.length > 0 && !ending.signal.aborted) begin()
        if (running.size === 0) return
        await new Promise<void>(resolve => {
          wake = resolve
        })
      }
    } finally {
      end()
    }
  }
  return { running, end, [Symbol.asyncIterator]: read }
}

/**
 * What answers JSON-RPC requests: an `http` or `https` URL, an EIP-1193 provider, or a `JsonRpcProvider` of ethers. A URL is
 * asked as `createHttpProvider(url)` does.
 */
export type Endpoint = string | URL | RequestProvider | SendProvider

/** One or more endpoints for the same data. None is trusted. */
export type Endpoints = Pool<OpenProvider>

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
  /** The failure that is most likely to pass with time. If no endpoint serves the method, it says what to add. */
  const failed = (byIndex: ReadonlyMap<number, Failure>): Failure => {
    const failures = [...byIndex.values()]
    const error = failures.reduce((best, one) => (rank(one) > rank(best) ? one : best))
    if (layer === undefined || !isLack(error)) return error
    // Nothing gives less hope, so that all have failed like this.
    const lacks = failures.filter(isLack)
    for (const { forgetLack } of providers) for (const { method = '' } of lacks) forgetLack(method)
    const { method = '' } = error
    if (lacks.some(one => one.method !== method)) return error
    const { length } = providers
    const none = length === 1 ? 'The only endpoint does not serve it' : `None of ${length} endpoints serves it`
    return withDetails(error, { index: undefined, found: `${none}: add ${serverOf(layer, method)}` })
  }
  return createPool(providers, { layer, onFailure, failed })
}

function openOne(name: string, given: Endpoint, http: HttpOptions): OpenProvider {
  if (isProvider(given)) return openProvider(given)
  if (typeof given !== 'string' && !isUrl(given))
    throw invalid(name, 'a URL, or an EIP-1193 provider, which has request({ method, params })', given)
  return openProvider(atPath(name, () => createHttpProvider(given, http)))
}

/** For work that has to stay with one endpoint. */
export const only = ({ given }: OpenProvider): Endpoints => openEndpoints('', given)

/** That an endpoint does not serve the method says least: another one does more, or less. */
const hopeOf = (error: Failure): number => (isLack(error) ? 0 : isMissing(error) ? 2 : isPassing(error) ? 3 : 1)
const hopeOfBlock = (error: Failure): number => (isMissing(error) ? 5 : isOfBlock(error) ? 4 : hopeOf(error))

/** What serves the methods that this library asks for, for people. */
function serverOf(layer: Layer, method: string): string {
  if (layer === 'L1') return 'a node of L1 that serves it'
  if (method === 'eth_getProof') return 'a node of the rollup that proves the states of its finalized blocks'
  return method.endsWith('_getProof')
    ? "a state manager of the rollup's prover, or a provider that passes this method on to one"
    : 'a node of the rollup that serves it, beside those that serve proofs'
}
