import { abortedBy, EndpointError, isEndpointError } from './error.ts'
import { createLanes } from './lanes.ts'
import { BULK_AT_FIRST, BULK_AT_ONCE, MAX_QUEUED, MAX_QUEUES, REQUESTS_AT_ONCE, TELL_MS } from './limits.ts'
import { type Clock, createRate, systemClock } from './rate.ts'
import { originOf } from './redact.ts'
import { isBulk, onAbort } from './whose.ts'

/** What the requests to an endpoint wait for. */
export interface QueueState {
  /** Requests that wait for their turn. */
  readonly waiting: number
  /** How many requests per second the endpoint seems to allow. Undefined as long as it has refused none. */
  readonly requestsPerSecond: number | undefined
  /** Milliseconds until the next request, because the endpoint is busy. */
  readonly pauseMs: number
}

/** How a request is sent. */
export interface Sending {
  /** Ends the wait. It also says whose work it is, and whether that is bulk: see `whose.ts`. */
  readonly signal?: AbortSignal | undefined
  /** The longest pause of a busy endpoint that is waited for, in milliseconds. Waiting for other requests does not count. */
  readonly timeoutMs: number
  /** How often it is sent again because the endpoint is busy. */
  readonly maxRetries: number
}

/** All requests to one endpoint. */
export interface Queue {
  /**
   * Sends a request in its turn: at once, if nothing speaks against it. Sends it again if the endpoint is busy, which is what
   * `RATE_LIMITED` and HTTP status 503 say.
   *
   * @param send sends it once
   * @throws what `send` throws at last; EndpointError `ABORTED`; `RATE_LIMITED` without a request if a pause takes too long, or
   * too many wait
   */
  run<T>(send: () => Promise<T>, how: Sending): Promise<T>
  /** Calls `tell` when the endpoint makes requests wait, but not too often. @returns ends it */
  watch(tell: (state: QueueState) => void): () => void
  /** Whether nobody would miss it. */
  isIdle(): boolean
}

/** What became of a request that was sent: the error is that of a busy endpoint. */
type Outcome = 'answered' | 'unanswered' | EndpointError

interface Entry extends Sending {
  readonly signal: AbortSignal | undefined
  /** Sends the request, and tells whoever waits for it, unless the endpoint is busy. */
  readonly send: () => Promise<Outcome>
  readonly fail: (error: unknown) => void
  retries: number
  /** When it was sent first. */
  firstAt: number | undefined
}

/** Whether the endpoint may answer the same request in a while. */
const isBusy = (error: unknown): error is EndpointError =>
  isEndpointError(error) && ((error.code === 'RATE_LIMITED' && error.action === 'wait') || error.status === 503)
/** Whether the endpoint did not even answer. */
const isUnanswered = (error: unknown): boolean =>
  isEndpointError(error) && ['UNREACHABLE', 'TIMEOUT', 'ABORTED'].includes(error.code)

const tooLong = (pauseMs: number) =>
  new EndpointError('RATE_LIMITED', { found: 'it asked for a longer pause', retryAfterMs: Math.ceil(pauseMs) })

/** An entry, and what it comes to. @param leave called when it need not wait any more */
function createEntry<T>(send: () => Promise<T>, { signal, ...how }: Sending, leave: (entry: Entry) => void) {
  let settle: { resolve(value: T): void; reject(error: unknown): void } | undefined
  const answer = new Promise<T>((resolve, reject) => {
    settle = { resolve, reject }
  })
  const entry: Entry = {
    ...how,
    signal,
    retries: 0,
    firstAt: undefined,
    fail(error) {
      leave(entry)
      settle?.reject(error)
    },
    async send() {
      try {
        settle?.resolve(await send())
        leave(entry)
        return 'answered'
      } catch (error) {
        if (isBusy(error)) return error
        entry.fail(error)
        return isUnanswered(error) ? 'unanswered' : 'answered'
      }
    },
  }
  return { entry, answer }
}

/** Those who are told what requests wait for. */
function createWatchers(now: () => number) {
  const watchers = new Set<(state: QueueState) => void>()
  let toldAt = Number.NEGATIVE_INFINITY
  return {
    isEmpty: () => watchers.size === 0,
    tell(state: QueueState): void {
      if (watchers.size === 0 || now() - toldAt < TELL_MS) return
      toldAt = now()
      for (const watcher of [...watchers]) watcher(state)
    },
    watch(watcher: (state: QueueState) => void): () => void {
      watchers.add(watcher)
      return () => void watchers.delete(watcher)
    },
  }
}

/** A queue of its own, for tests. Anything else takes the one of its endpoint. */
export function createQueue(clock: Clock = systemClock): Queue {
  const [lanes, rate, { tell, watch, isEmpty }] = [createLanes<Entry>(), createRate(clock), createWatchers(clock.now)]
  let [active, activeBulk, bulkAtOnce] = [0, 0, BULK_AT_FIRST]
  let cancel = () => {}
  const stateOf = () => ({ waiting: lanes.length, requestsPerSecond: rate.perSecond, pauseMs: Math.ceil(rate.pause) })

  async function start(entry: Entry): Promise<void> {
    const [round, bulk] = [rate.begin(), isBulk(entry.signal) ? 1 : 0]
    entry.firstAt ??= clock.now()
    active++
    activeBulk += bulk
    const outcome = await entry.send()
    active--
    activeBulk -= bulk
    if (outcome === 'answered') {
      rate.accept(round, lanes.length > 0)
      bulkAtOnce = Math.min(bulkAtOnce + 1, BULK_AT_ONCE)
    } else if (outcome !== 'unanswered') refuse(entry, round, outcome)
    pump()
  }

  function refuse(entry: Entry, round: number, error: EndpointError): void {
    const pause = rate.refuse(round, error.retryAfterMs, error.code === 'RATE_LIMITED')
    // A pause that would reach the time limit is not begun.
    const isOver = clock.now() + pause >= (entry.firstAt ?? 0) + entry.timeoutMs
    if (isOver || ++entry.retries > entry.maxRetries || entry.signal?.aborted) entry.fail(error)
    else lanes.add(entry)
    for (const one of lanes.all()) if (one !== entry && rate.pause >= one.timeoutMs) one.fail(tooLong(rate.pause))
  }

  /** Sends all that may be sent. */
  function pump(): void {
    cancel()
    while (lanes.length > 0 && active < (rate.isProbing ? 1 : REQUESTS_AT_ONCE)) {
      const delay = rate.delay()
      const entry = delay > 0 ? undefined : lanes.take(activeBulk < bulkAtOnce)
      if (delay > 0) cancel = clock.after(Math.ceil(delay), pump)
      if (delay > 0) tell(stateOf())
      if (entry === undefined) return
      void start(entry)
    }
  }

  async function run<T>(send: () => Promise<T>, how: Sending): Promise<T> {
    const { signal, timeoutMs } = how
    if (signal?.aborted) throw abortedBy(signal)
    if (rate.pause >= timeoutMs) throw tooLong(rate.pause)
    if (lanes.length >= MAX_QUEUED) throw new EndpointError('RATE_LIMITED', { found: 'too many requests wait' })
    const end = () => {
      if (signal) entry.fail(abortedBy(signal))
      // A timer for nothing would keep the program running.
      if (lanes.length === 0) cancel()
    }
    const { entry, answer } = createEntry(send, how, one => {
      lanes.remove(one)
      forget()
    })
    const forget = onAbort(signal, end)
    lanes.add(entry)
    pump()
    return answer
  }

  return {
    run,
    watch,
    isIdle: () => active + lanes.length === 0 && isEmpty() && rate.perSecond === undefined && rate.pause === 0,
  }
}

/** The queues of URLs, for the whole process, and those of providers that the caller made. */
const [atUrls, ofProviders] = [new Map<string, Queue>(), new WeakMap<object, Queue>()]

/** The queue of a URL. */
export function queueAt(href: string): Queue {
  const known = atUrls.get(href)
  if (known !== undefined) return known
  if (atUrls.size >= MAX_QUEUES) {
    const [oldest = href] = atUrls.keys()
    const idle = [...atUrls].filter(([, queue]) => queue.isIdle()).map(([one]) => one)
    for (const one of idle.length > 0 ? idle : [oldest]) atUrls.delete(one)
  }
  const queue = createQueue()
  atUrls.set(href, queue)
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
