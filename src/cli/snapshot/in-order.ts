import { setMaxListeners } from 'node:events'
import type { ProofError } from '../../base/errors.ts'
import { type EndpointError, isFailure, isPassing, isWrong } from '../../client/transport/error.ts'
import { isBusy } from '../../client/transport/queue.ts'
import { createBudget, sleep } from '../../client/transport/waiting.ts'
import { LONGEST_PAUSE, LONGEST_RETRY_AFTER, MAX_FAILURES, MAX_WRONG } from '../audit/limits.ts'

/** Many requests to one endpoint. They run concurrently within its limits, and their outcomes come in order. */
export interface Asking<Item, Outcome> {
  readonly items: Iterable<Item>
  readonly limits: Limits
  ask(item: Item): Promise<Outcome>
  /** Returns the outcome of an item whose answers are all wrong. */
  refuse(item: Item, error: ProofError | EndpointError): Promise<Outcome>
  /** Called for every failure that is followed by a retry. */
  onRetry?: (item: Item, error: ProofError | EndpointError) => void
}

/** The limits that all requests to one endpoint share. */
export type Limits = ReturnType<typeof createLimits>

/** In milliseconds, before jitter. Doubles with each further pause. */
const FIRST_PAUSE = 100

/** The backoff that all requests share. It grows with each consecutive failure. */
function createPauses(sleep: (milliseconds: number) => Promise<void>) {
  let [until, length, count] = [0, FIRST_PAUSE, 0]
  return {
    /** Number of pauses since the last answer. */
    get count() {
      return count
    },
    async wait() {
      for (let left = until - Date.now(); left > 0; left = until - Date.now()) await sleep(left)
    },
    /** @param retryAfter how long the endpoint asks to wait, in milliseconds */
    begin(retryAfter: number | undefined) {
      const now = Date.now()
      // Requests that fail together count as one failure. For the first one, Retry-After alone is enough.
      if (now >= until) {
        if (retryAfter === undefined || count > 0) until = now + length * (1 + Math.random())
        length = Math.min(2 * length, LONGEST_PAUSE)
        count++
      }
      until = Math.max(until, now + Math.min(retryAfter ?? 0, LONGEST_RETRY_AFTER))
    },
    /** Resets the backoff after an answer, unless a pause is under way. */
    end() {
      if (Date.now() >= until) [length, count] = [FIRST_PAUSE, 0]
    },
  }
}

/**
 * @param concurrency maximum number of requests at once
 * @param signal aborts a pause
 */
export function createLimits(concurrency: number, signal: AbortSignal) {
  // Every request may listen to it. By default, Node warns about more than ten listeners.
  setMaxListeners(0, signal)
  const pause = (milliseconds: number) => sleep(milliseconds, signal)
  const pauses = createPauses(pause)
  const semaphore = createBudget(concurrency)
  return {
    ...{ concurrency, pause, pauses },
    /** Runs `work` as soon as it may start. */
    whenAllowed: <T>(work: () => Promise<T>): Promise<T> =>
      semaphore.run(async () => {
        try {
          await pauses.wait()
          return await work()
        } catch (error) {
          // Starts the pause before the next request may start.
          if (isBusy(error)) pauses.begin(error.retryAfterMs)
          throw error
        }
      }),
  }
}

/** @throws EndpointError if the endpoint fails for good or too often */
export async function* askInOrder<Item, Outcome>(asking: Asking<Item, Outcome>): AsyncGenerator<Outcome> {
  const { items, limits, ask, refuse, onRetry } = asking
  const { pauses, concurrency } = limits

  async function askUntilAnswered(item: Item): Promise<Outcome> {
    let [failures, wrong] = [0, 0]
    for (;;) {
      try {
        const outcome = await limits.whenAllowed(() => ask(item))
        pauses.end()
        return outcome
      } catch (error) {
        if (!isFailure(error)) throw error
        if (isWrong(error)) {
          if (++wrong >= MAX_WRONG) return await refuse(item, error)
          onRetry?.(item, error)
          continue
        }
        if (!isPassing(error)) throw error
        // A busy endpoint may refuse one item often while it answers the others, so count the pauses instead.
        const busy = isBusy(error)
        if (busy ? pauses.count >= MAX_FAILURES : ++failures >= MAX_FAILURES) throw error
        onRetry?.(item, error)
        // Only a busy endpoint makes the other items wait.
        if (!busy) await limits.pause(Math.min(FIRST_PAUSE * 2 ** (failures - 1), LONGEST_PAUSE) * Math.random())
      }
    }
  }

  const pending: Promise<Outcome>[] = []
  const rest = items[Symbol.iterator]()
  for (let isDone = false; !isDone || pending.length > 0; ) {
    // Runs ahead of the awaited item, so that a slow answer does not hold up the others.
    while (!isDone && pending.length < 4 * concurrency) {
      const next = rest.next()
      isDone = next.done === true
      if (next.done) break
      const outcome = askUntilAnswered(next.value)
      // Awaited in its turn. Until then, a failure must not count as unhandled.
      outcome.catch(() => {})
      pending.push(outcome)
    }
    const first = pending.shift()
    if (first !== undefined) yield await first
  }
}
