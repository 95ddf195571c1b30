import { abortedBy, EndpointError, isEndpointError } from './error.ts'
import { BULK_AT_FIRST, BULK_AT_ONCE, MAX_QUEUED, MAX_QUEUES, REQUESTS_AT_ONCE, TELL_MS } from './limits.ts'
import { type Clock, createRate, systemClock } from './rate.ts'
import { originOf } from './redact.ts'
import { isBulk, onAbort, ownerOf } from './whose.ts'

/** What the requests to an endpoint wait for. */
export interface QueueState {
  /** Requests that wait for their turn. */
  readonly waiting: number
  /** How many requests per second the endpoint seems to allow. Undefined as long as it has refused none. */
  readonly requestsPerSecond: number | undefined
  /** Milliseconds until the next request, because the endpoint is busy. */
  readonly pauseMs: number
}

export interface Sending {
  /** Ends the wait. It also says whose work it is, and whether that is bulk: see `whose.ts`. */
  readonly signal?: AbortSignal | undefined
  /** The longest pause of a busy endpoint that is waited for, in milliseconds. Waiting for other requests does not count. */
  readonly timeoutMs: number
  /** How often it is sent again because the endpoint is busy. */
  readonly maxRetries: number
}

export type Queue = ReturnType<typeof createQueue>

/** What became of a request that was sent: the error is that of a busy endpoint. */
type Outcome = 'answered' | 'unanswered' | EndpointError

/** A request that waits for its turn. */
interface Entry extends Sending {
  /** Sends the request, and tells whoever waits for it, unless the endpoint is busy. */
  readonly send: () => Promise<Outcome>
  readonly fail: (error: unknown) => void
  retries: number
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
function createEntry<T>(send: () => Promise<T>, how: Sending, leave: (entry: Entry) => void) {
  let settle: { resolve(value: T): void; reject(error: unknown): void } | undefined
  const answer = new Promise<T>((resolve, reject) => {
    settle = { resolve, reject }
  })
  const entry: Entry = {
    ...how,
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

/** Those that were refused go first: who asked for them has waited longest. */
const AGAIN = Symbol('again')

/** Those that wait, by whose work they belong to: owners take turns. */
function createLane() {
  const owners = new Map<unknown, Set<Entry>>()
  const ownerIn = ({ retries, signal }: Entry) => (retries > 0 ? AGAIN : ownerOf(signal))
  return {
    isEmpty: () => owners.size === 0,
    all: () => [...owners.values()].flatMap(entries => [...entries]),
    add(entry: Entry): void {
      const owner = ownerIn(entry)
      owners.set(owner, (owners.get(owner) ?? new Set()).add(entry))
    },
    remove(entry: Entry): boolean {
      const owner = ownerIn(entry)
      const own = owners.get(owner)
      const wasThere = own?.delete(entry) === true
      if (own?.size === 0) owners.delete(owner)
      return wasThere
    },
    next(): Entry | undefined {
      const [first] = owners.keys()
      const owner = owners.has(AGAIN) ? AGAIN : first
      const own = owners.get(owner) ?? new Set()
      const [entry] = own
      // The next turn is another owner's.
      if (own.size > 1 && owners.delete(owner)) owners.set(owner, own)
      return entry
    },
  }
}

/** Single requests get so many turns for each of bulk work: neither stops the other. */
const SINGLE_IN_A_ROW = 4

function createLanes() {
  const [single, bulk] = [createLane(), createLane()]
  const laneOf = ({ signal }: Entry) => (isBulk(signal) ? bulk : single)
  let [length, inARow] = [0, 0]
  const remove = (entry: Entry) => {
    if (laneOf(entry).remove(entry)) length--
  }
  return {
    get length() {
      return length
    },
    all: () => [...single.all(), ...bulk.all()],
    add(entry: Entry): void {
      laneOf(entry).add(entry)
      length++
    },
    remove,
    /** @param mayBeBulk whether bulk work may have the turn */
    take(mayBeBulk: boolean): Entry | undefined {
      const isBulkNext = mayBeBulk && !bulk.isEmpty() && (single.isEmpty() || inARow >= SINGLE_IN_A_ROW)
      inARow = isBulkNext || bulk.isEmpty() ? 0 : inARow + 1
      const entry = (isBulkNext ? bulk : single).next()
      if (entry !== undefined) remove(entry)
      return entry
    },
  }
}

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
    /** Calls `watcher` when the endpoint makes requests wait, but not too often. @returns ends it */
    watch(watcher: (state: QueueState) => void): () => void {
      watchers.add(watcher)
      return () => void watchers.delete(watcher)
    },
  }
}

/** A queue of its own, for tests. Anything else takes the one of its endpoint. */
export function createQueue(clock: Clock = systemClock) {
  const [lanes, rate, { tell, watch, isEmpty }] = [createLanes(), createRate(clock), createWatchers(clock.now)]
  let [active, activeBulk, bulkAtOnce] = [0, 0, BULK_AT_FIRST]
  let cancel = () => {}

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

  function pump(): void {
    cancel()
    while (lanes.length > 0 && active < (rate.isProbing ? 1 : REQUESTS_AT_ONCE)) {
      const delay = rate.delay()
      if (delay > 0) {
        cancel = clock.after(Math.ceil(delay), pump)
        const { perSecond: requestsPerSecond, pause } = rate
        return void tell({ waiting: lanes.length, requestsPerSecond, pauseMs: Math.ceil(pause) })
      }
      const entry = lanes.take(activeBulk < bulkAtOnce)
      if (entry === undefined) return
      void start(entry)
    }
  }

  return {
    /**
     * Sends a request in its turn: at once, if nothing speaks against it; and again if the endpoint is busy.
     *
     * @throws what `send` throws at last; EndpointError `ABORTED`; `RATE_LIMITED` without a request if a pause takes too long, or
     * too many wait
     */
    async run<T>(send: () => Promise<T>, how: Sending): Promise<T> {
      const { signal, timeoutMs } = how
      if (signal?.aborted) throw abortedBy(signal)
      if (rate.pause >= timeoutMs) throw tooLong(rate.pause)
      if (lanes.length >= MAX_QUEUED) throw new EndpointError('RATE_LIMITED', { found: 'too many requests wait' })
      const { entry, answer } = createEntry(send, how, one => {
        lanes.remove(one)
        forget()
      })
      const forget = onAbort(signal, () => {
        if (signal) entry.fail(abortedBy(signal))
        // A timer for nothing would keep the program running.
        if (lanes.length === 0) cancel()
      })
      lanes.add(entry)
      pump()
      return answer
    },
    watch,
    isIdle: (): boolean => active + lanes.length === 0 && isEmpty() && rate.perSecond === undefined && rate.pause === 0,
  }
}

/** The queues of URLs, for the whole process, and those of providers that the caller made. */
const [atUrls, ofProviders] = [new Map<string, Queue>(), new WeakMap<object, Queue>()]

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
