import { abortedBy, EndpointError, isEndpointError } from './error.ts'
import { BULK_AT_FIRST, BULK_AT_ONCE, MAX_QUEUED, MAX_QUEUES, REQUESTS_AT_ONCE, TELL_MS } from './limits.ts'
import { type Clock, createRate, systemClock } from './rate.ts'
import { originOf } from './redact.ts'
import { createTurns } from './waiting.ts'
import { isBulk, ownerOf } from './whose.ts'

/** What the requests to an endpoint wait for. */
export interface QueueState {
  /** Requests that wait for their turn. */
  readonly waiting: number
  /** How many requests per second the endpoint seems to allow. Undefined as long as it has refused none. */
  readonly requestsPerSecond: number | undefined
  /** Milliseconds until the next request, because the endpoint is busy. */
  readonly pauseMs: number
}

interface Sending {
  /** Ends the wait. It also says whose work it is, and whether that is bulk: see `whose.ts`. */
  readonly signal?: AbortSignal | undefined
  /** Of the pauses of a busy endpoint, all together. Waiting for other requests does not count. */
  readonly timeoutMs: number
  /** How often it is sent again because the endpoint is busy. */
  readonly maxRetries: number
}

type Queue = ReturnType<typeof createQueue>

/** Whether the endpoint may answer the same request in a while. */
const isBusy = (error: unknown): error is EndpointError =>
  isEndpointError(error) && ((error.code === 'RATE_LIMITED' && error.action === 'wait') || error.status === 503)
/** Whether the endpoint did not even answer. */
const isUnanswered = (error: unknown): boolean =>
  isEndpointError(error) && ['UNREACHABLE', 'TIMEOUT', 'ABORTED'].includes(error.code)

const tooLong = (pauseMs: number) =>
  new EndpointError('RATE_LIMITED', { found: 'it asked for a longer pause', retryAfterMs: Math.ceil(pauseMs) })

/** All bulk work is one owner's, which gets a turn for so many of the others together: neither stops the other. */
const [BULK, SINGLE_IN_A_ROW] = [Symbol(), 4]

interface Entry {
  readonly timeoutMs: number
  readonly isBulk: boolean
  /** That in which it is sent: see `rate.ts`. */
  round: number
}

function createWatchers(now: () => number) {
  const watchers = new Set<(state: QueueState) => void>()
  let toldAt = Number.NEGATIVE_INFINITY
  return {
    tell(state: QueueState): void {
      if (watchers.size === 0 || now() - toldAt < TELL_MS) return
      toldAt = now()
      for (const watcher of watchers) watcher(state)
    },
    /** Calls `watcher` when the endpoint makes requests wait, but not too often. @returns ends it */
    watch(watcher: (state: QueueState) => void): () => void {
      watchers.add(watcher)
      return () => void watchers.delete(watcher)
    },
  }
}

/** A queue of its own, for tests. Anything else takes the one of its endpoint. */
export function createQueue(clock: Clock = systemClock) {
  const [turns, rate, { tell, watch }] = [createTurns<Entry>(), createRate(clock), createWatchers(clock.now)]
  let [active, activeBulk, bulkAtOnce, singleInARow] = [0, 0, BULK_AT_FIRST, 0]
  let cancel = () => {}

  function pump(): void {
    cancel()
    while (turns.length() > 0 && active < (rate.isProbing ? 1 : REQUESTS_AT_ONCE)) {
      const delay = rate.delay()
      if (delay > 0) {
        cancel = clock.after(Math.ceil(delay), pump)
        const { perSecond: requestsPerSecond, pause } = rate
        return void tell({ waiting: turns.length(), requestsPerSecond, pauseMs: Math.ceil(pause) })
      }
      const isBulkDue = singleInARow >= SINGLE_IN_A_ROW || turns.length(BULK) === turns.length()
      const entry = turns.next(({ isBulk }) => !isBulk || (isBulkDue && activeBulk < bulkAtOnce))
      if (entry === undefined) return
      entry.round = rate.begin()
      active++
      if (entry.isBulk) activeBulk++
      singleInARow = entry.isBulk ? 0 : singleInARow + 1
    }
  }

  /** A request that was sent has come to something. */
  function end({ isBulk, round }: Entry, isAnswered: boolean): void {
    active--
    if (isBulk) activeBulk--
    if (!isAnswered) return
    rate.accept(round)
    bulkAtOnce = Math.min(bulkAtOnce + 1, BULK_AT_ONCE)
  }

  return {
    /**
     * Sends a request in its turn: at once, if nothing speaks against it; and again if the endpoint is busy.
     *
     * @throws what `send` throws at last; EndpointError `ABORTED`; `RATE_LIMITED` without a request if a pause takes too long, or
     * too many wait
     */
    async run<T>(send: () => Promise<T>, { signal, timeoutMs, maxRetries }: Sending): Promise<T> {
      if (signal?.aborted) throw abortedBy(signal)
      if (rate.pause >= timeoutMs) throw tooLong(rate.pause)
      if (turns.length() >= MAX_QUEUED) throw new EndpointError('RATE_LIMITED', { found: 'too many requests wait' })
      const entry = { timeoutMs, isBulk: isBulk(signal), round: 0 }
      let waited = 0
      try {
        for (let retries = 0; ; retries++) {
          // Whoever was refused has waited longest.
          const turn = turns.wait(entry, entry.isBulk ? BULK : ownerOf(signal), signal, retries > 0)
          pump()
          await turn
          try {
            const answer = await send()
            end(entry, true)
            return answer
          } catch (error) {
            end(entry, !isBusy(error) && !isUnanswered(error))
            if (!isBusy(error)) throw error
            waited += rate.refuse(entry.round, error.retryAfterMs, error.code === 'RATE_LIMITED')
            turns.fail(tooLong(rate.pause), other => rate.pause >= other.timeoutMs)
            // A pause that would reach the time limit is not begun.
            if (signal?.aborted) throw abortedBy(signal)
            if (retries >= maxRetries || waited >= timeoutMs) throw error
          }
        }
      } finally {
        // If nothing waits any more, this also stops the timer, which would keep the program running.
        pump()
      }
    },
    watch,
  }
}

/** The queues of URLs, for the whole process, and those of providers that the caller made. */
const [atUrls, ofProviders] = [new Map<string, Queue>(), new WeakMap<object, Queue>()]

export function queueAt(href: string): Queue {
  const queue = atUrls.get(href) ?? createQueue()
  // The one that was asked for last is forgotten last.
  atUrls.delete(href)
  atUrls.set(href, queue)
  const [oldest = href] = atUrls.keys()
  if (atUrls.size > MAX_QUEUES) atUrls.delete(oldest)
  return queue
}

/** The queue of a provider or beacon API. */
export function queueOf(provider: object): Queue {
  const origin = originOf(provider)
  if (origin !== undefined) return queueAt(origin.href)
  const queue = ofProviders.get(provider) ?? createQueue()
  ofProviders.set(provider, queue)
  return queue
}
