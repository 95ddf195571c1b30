import { redactFailure } from '../transport/diagnose.ts'
import {
  abortedBy,
  atEndpoint,
  type Failure,
  isEndpointError,
  isFailure,
  isMissing,
  type Layer,
} from '../transport/error.ts'
import { DEMOTION_MS, SILENCE_MS, STAGGER_MS } from '../transport/limits.ts'
import { isNews } from '../transport/provider.ts'
import { partOf } from '../transport/waiting.ts'

export interface Attempt {
  /** Aborted when the work has ended: another source has done it, or the caller has aborted. */
  readonly signal: AbortSignal
  /** To call whenever the source has answered a part of the work: it is not silent. */
  heard(): void
}

export type Work<Source, T> = (source: Source, attempt: Attempt, index: number) => Promise<T>

export type Outcome<T> = { readonly index: number } & ({ readonly value: T } | { readonly error: Failure })

/** Attempts of several sources, and their outcomes as they end. Whoever leaves the loop over them ends all that are under way. */
export interface Round<T> extends AsyncIterable<T> {
  /** Those under way: of them, those that another one was begun beside. None of them is waited for once the round has ended. */
  readonly running: ReadonlyMap<number, { readonly isSilent: boolean }>
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

/** One or more sources of the same data: JSON-RPC endpoints or beacon APIs. None is trusted. */
export type Pool<Source extends object> = ReturnType<typeof createPool<Source>>

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

export function createPool<Source extends object>(sources: readonly Source[], options: PoolOptions) {
  const { layer, onFailure, onSilence, failed } = options
  const silenceMs = layer === 'beacon' ? STAGGER_MS : SILENCE_MS
  const { isDemoted, demote, restore, order } = createOrder(sources.length)

  function blame(index: number, error: Failure): void {
    // Beacon APIs hand out what they have, and are not to blame for what they have not.
    const isLate = layer === 'beacon' && isMissing(error)
    if (isLate && isEndpointError(error)) return
    const isLack = isEndpointError(error) && error.code === 'METHOD_UNKNOWN'
    // It serves other methods as before.
    if (!isLack && !isLate) demote(index)
    const source = sources[index]
    if (layer === undefined || (isLack && source !== undefined && !isNews(source, error))) return
    onFailure?.(layer, index, error)
  }

  /** Runs `work` with every source, those that failed lately last. For what a single one could hide. */
  function each<T>(
    work: Work<Source, T>,
    { signal, atOnce = sources.length, isBlamed = () => true }: RoundOptions = {},
  ): Round<Outcome<T>> {
    const attempt = async (index: number, own: Attempt): Promise<Outcome<T>> => {
      // There are as many.
      const source = sources[index] as Source
      try {
        // Its place says which it is. A URL never does.
        const place = sources.length > 1 ? index : undefined
        const value = await atEndpoint(layer, () => work(source, own, index), place)
        restore(index)
        return { index, value }
      } catch (thrown) {
        const error = redactFailure(thrown, source)
        // Whoever stops a work throws what is no failure of a source, whatever its class.
        if (signal?.aborted) throw abortedBy(signal)
        if (!isFailure(error)) throw error
        if (isBlamed(error)) blame(index, error)
        return { index, error }
      }
    }
    return startRound(order(), { signal, atOnce, silenceMs }, attempt)
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
        for (const [index, { isSilent }] of round.running) {
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

/** Those that failed lately come last, the earliest failure first. */
function createOrder(count: number) {
  /** Until when each of them is asked last. */
  const demoted = new Map<number, number>()
  const isDemoted = (index: number): boolean => (demoted.get(index) ?? 0) > Date.now()
  const rank = (index: number) => (isDemoted(index) ? (demoted.get(index) ?? 0) : 0)
  return {
    isDemoted,
    // The time does not start anew, so that a source is not put behind the others for ever.
    demote: (index: number) => void (isDemoted(index) || demoted.set(index, Date.now() + DEMOTION_MS)),
    restore: (index: number) => void demoted.delete(index),
    order: () => [...Array(count).keys()].sort((a, b) => rank(a) - rank(b)),
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
  { signal, atOnce, silenceMs }: { signal: AbortSignal | undefined; atOnce: number; silenceMs: number },
  attempt: (index: number, attempt: Attempt) => Promise<T>,
): Round<T> {
  const ending = partOf(signal)
  const outcomes: T[] = []
  const running = new Map<number, { isSilent: boolean }>()
  const waiting = [...order]
  let failure: { readonly error: unknown } | undefined
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
  function stop(error: unknown): void {
    if (isOver) return
    failure = { error }
    end()
  }
  /** Listens for the newest one: if it stays silent, another one is begun. */
  function listen(index: number): void {
    if (index !== newest || isOver) return
    clearTimeout(timer)
    timer = setTimeout(() => {
      const one = running.get(index)
      if (one !== undefined) one.isSilent = true
      begin()
    }, silenceMs)
  }
  function begin(): void {
    const index = isOver || ending.signal.aborted ? undefined : waiting.shift()
    if (index === undefined) return
    newest = index
    running.set(index, { isSilent: false })
    listen(index)
    attempt(index, { signal: ending.signal, heard: () => listen(index) }).then(outcome => {
      if (isOver) return
      running.delete(index)
      outcomes.push(outcome)
      wake()
    }, stop)
  }
  async function* read(): AsyncGenerator<T, void> {
    if (signal?.aborted) throw abortedBy(signal)
    try {
      for (;;) {
        if (failure !== undefined) throw failure.error
        const outcome = outcomes.shift()
        if (outcome !== undefined) {
          yield outcome
          continue
        }
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
