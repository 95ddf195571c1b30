import { abortedBy, EndpointError, isEndpointError } from './error.ts'
import { BULK_AT_FIRST, BULK_AT_ONCE, MAX_QUEUED, MAX_QUEUES, REQUESTS_AT_ONCE, TELL_MS } from './limits.ts'
import { createTurns, isBulk, ownerOf } from './waiting.ts'

/** Time and chance, so that tests need neither. */
export interface Clock {
  /** Milliseconds since some moment. It never goes back. */
  now(): number
  /** Calls `work` later. @returns prevents it */
  after(milliseconds: number, work: () => void): () => void
  /** From 0 to below 1. */
  random(): number
}

const systemClock: Clock = {
  now: () => performance.now(),
  after(milliseconds, work) {
    const timer = setTimeout(work, milliseconds)
    return () => clearTimeout(timer)
  },
  random: Math.random,
}

/** Milliseconds before the first attempt after a refusal, before jitter. Doubles with each further refusal in a row, up to a bound. */
const [FIRST_PAUSE, LONGEST_OWN_PAUSE] = [250, 8_000]
/** The longest pause in milliseconds, whatever the endpoint asks for. After it, one request finds out. */
export const LONGEST_PAUSE = 60_000
/** Requests per second: fewer are not of use, more are no limit, and so many are likely if too few were accepted to tell. */
const [LEAST, MOST, LIKELY] = [0.1, 500, 4]
/** Requests accepted at a rate before it is refused: with fewer the pause was too short, and with fewer than so many it is far too high. */
const [FEW, PROVEN] = [3, 12]
/** Milliseconds over which accepted requests are counted at first. */
const WINDOW = 1_000
/** Of a rate that was refused, so much less is tried; of one that was far too high, so much counts as what was refused. */
const [LESS, FAR_LESS] = [0.15, 0.6]
/** Milliseconds until it is tried again. A first guess may be far too low. */
const [PATIENCE, PATIENCE_WITH_GUESS] = [30_000, 4_000]

/** A rate that an endpoint has refused. */
interface Learnt {
  readonly refused: number
  readonly patience: number
  /** Milliseconds in which requests were sent about as fast as it allows. */
  busy: number
  accepted: number
}

/** What is tried: it nears the rate that was refused, stays there, and then grows faster and faster, as in RFC 9438 (CUBIC). */
const rateOf = ({ refused, busy, patience }: Learnt): number => refused * (1 + LESS * (busy / patience - 1) ** 3)

function learnFrom(learnt: Learnt | undefined, lately: number): Learnt {
  const fresh = { busy: 0, accepted: 0 }
  if (learnt === undefined) return { ...fresh, refused: Math.max(lately, LIKELY), patience: PATIENCE_WITH_GUESS }
  if (learnt.accepted < FEW) return learnt
  const refused = rateOf(learnt) * (learnt.accepted < PROVEN ? FAR_LESS : 1)
  return { ...fresh, refused: Math.max(refused, LEAST), patience: PATIENCE }
}

/**
 * What an endpoint allows, learnt from what it refuses: at first everything. After a refusal nothing is sent for as long as it asks
 * for, or for a while. Then requests go at the rate at which it accepted them before, which grows until the next refusal.
 */
function createRate({ now, random }: Clock) {
  /** When the pause ends, how many there were, and how many in a row. */
  let [until, round, inARow] = [0, 0, 0]
  let learnt: Learnt | undefined
  /** When requests were accepted lately, as long as no rate is known. */
  let accepted: number[] = []
  let nextAt = 0

  return {
    perSecond: (): number | undefined => learnt && rateOf(learnt),
    /** Milliseconds of the pause that are left. */
    pause: (): number => Math.max(until - now(), 0),
    /** Whether one request alone finds out if the endpoint is still busy. */
    isProbing: (): boolean => inARow > 0,
    /** Milliseconds until the next request may be sent. */
    delay: (): number => Math.max(until, nextAt) - now(),
    /** A request is sent. @returns the round in which, for what becomes of it */
    begin(): number {
      if (learnt === undefined) return round
      const interval = 1000 / rateOf(learnt)
      if (now() - nextAt < interval) learnt.busy += interval
      // A timer that fired late does not slow everything down.
      nextAt = Math.max(nextAt, now() - interval / 10) + interval
      if (rateOf(learnt) > MOST) learnt = undefined
      return round
    },
    accept(ofRound: number): void {
      if (ofRound === round) inARow = 0
      if (learnt !== undefined) learnt.accepted++
      else if (accepted.push(now()) > 2 * MOST) accepted = accepted.slice(-MOST)
    },
    /** @param isRate whether it says that requests are too many, rather than that it cannot serve any @returns milliseconds to wait */
    refuse(ofRound: number, asked: number | undefined, isRate: boolean): number {
      // Requests that were under way together are refused together.
      const isNew = ofRound === round
      if (isNew) {
        round++
        inARow++
        if (isRate) learnt = learnFrom(learnt, accepted.filter(at => at >= now() - WINDOW).length)
      }
      // If it refuses after as long as it asked to wait, that was not enough.
      const isOwn = isNew && (asked === undefined || inARow > 1)
      const own = isOwn ? Math.min(FIRST_PAUSE * 2 ** (inARow - 1), LONGEST_OWN_PAUSE) * (1 + random()) : 0
      // What is longer than any pause counts for whoever has asked.
      until = Math.max(until, now() + Math.min(Math.max(own, asked ?? 0), LONGEST_PAUSE))
      return Math.max(asked ?? 0, until - now())
    },
  }
}

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
  /** Ends the wait. It also says whose work it is, and whether that is bulk. */
  readonly signal?: AbortSignal | undefined
  /** Of the pauses of a busy endpoint, all together. Waiting for other requests does not count. */
  readonly timeoutMs: number
  /** How often it is sent again because the endpoint is busy. */
  readonly maxRetries: number
}

export type Queue = ReturnType<typeof createQueue>

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
  /** That in which it is sent: see {@link createRate}. */
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

/** The queue of one endpoint. @param clock for tests */
export function createQueue(clock: Clock = systemClock) {
  const [turns, rate, { tell, watch }] = [createTurns<Entry>(pump), createRate(clock), createWatchers(clock.now)]
  let [active, activeBulk, bulkAtOnce, singleInARow] = [0, 0, BULK_AT_FIRST, 0]
  let cancel = () => {}

  function pump(): void {
    cancel()
    while (turns.length() > 0 && active < (rate.isProbing() ? 1 : REQUESTS_AT_ONCE)) {
      const delay = rate.delay()
      if (delay > 0) {
        cancel = clock.after(Math.ceil(delay), pump)
        const pauseMs = Math.ceil(rate.pause())
        return void tell({ waiting: turns.length(), requestsPerSecond: rate.perSecond(), pauseMs })
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
      if (rate.pause() >= timeoutMs) throw tooLong(rate.pause())
      if (turns.length() >= MAX_QUEUED) throw new EndpointError('RATE_LIMITED', { found: 'too many requests wait' })
      const entry = { timeoutMs, isBulk: isBulk(signal), round: 0 }
      let waited = 0
      try {
        for (let retries = 0; ; retries++) {
          // Whoever was refused has waited longest.
          await turns.wait(entry, entry.isBulk ? BULK : ownerOf(signal), signal, retries > 0)
          try {
            const answer = await send()
            end(entry, true)
            return answer
          } catch (error) {
            end(entry, !isBusy(error) && !isUnanswered(error))
            if (!isBusy(error)) throw error
            waited += rate.refuse(entry.round, error.retryAfterMs, error.code === 'RATE_LIMITED')
            turns.fail(tooLong(rate.pause()), other => rate.pause() >= other.timeoutMs)
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

/** The queues of URLs, for the whole process. */
const QUEUES = new Map<string, Queue>()

export function queueAt(href: string): Queue {
  const queue = QUEUES.get(href) ?? createQueue()
  // The one that was asked for last is forgotten last.
  QUEUES.delete(href)
  QUEUES.set(href, queue)
  const [oldest = href] = QUEUES.keys()
  if (QUEUES.size > MAX_QUEUES) QUEUES.delete(oldest)
  return queue
}
