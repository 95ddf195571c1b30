import { setMaxListeners } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { ProofError } from '../../errors.ts'
import { RpcError, type RpcErrorCode } from '../../rpc/error.ts'

/** Many requests to one endpoint. They run concurrently within its limits, and their outcomes come in order. */
export interface Asking<Item, Outcome> {
  readonly items: Iterable<Item>
  readonly limits: Limits
  ask(item: Item): Promise<Outcome>
  /** Returns the outcome of an item whose answers are all wrong. */
  refuse(item: Item, error: ProofError | RpcError): Promise<Outcome>
  /** Called for every failure that is followed by a retry. */
  onRetry?: (item: Item, error: ProofError | RpcError) => void
}

/** The limits that all requests to one endpoint share. */
export interface Limits {
  /** Maximum number of requests at once. */
  readonly concurrency: number
  readonly signal: AbortSignal
  /** Runs `work` as soon as it may start. */
  whenAllowed<T>(work: () => Promise<T>): Promise<T>
  readonly pauses: Pauses
}

/** The backoff that all requests share. It grows with each consecutive failure. */
interface Pauses {
  /** Number of pauses since the last answer. */
  readonly count: number
  wait(): Promise<void>
  /** @param retryAfter how long the endpoint asks to wait, in milliseconds */
  begin(retryAfter: number | undefined): void
  /** Resets the backoff after an answer, unless a pause is under way. */
  end(): void
}

/** Failures that pass: the endpoint is overloaded, or something on the way to it broke. */
const TEMPORARY: readonly RpcErrorCode[] = [
  'RATE_LIMITED',
  'UNREACHABLE',
  'TIMEOUT',
  'HTTP_ERROR',
  'NOT_JSON',
  'ENVELOPE_MALFORMED',
  'ID_MISMATCH',
  'ENDPOINT_ERROR',
]
/** Wrong answers, like a ProofError. They are retried because another server behind the same URL may answer correctly. */
const WRONG: readonly RpcErrorCode[] = ['ANSWER_MALFORMED', 'ETH_PROOF_ANSWER', 'OTHER_KEYS', 'ANSWERS_INCONSISTENT']

/** Gives up at this many failures of one item, or at this many pauses without an answer between them. */
const MAX_FAILURES = 12
/** Refuses an item at this many wrong answers. */
const MAX_WRONG = 3
/** In milliseconds, before jitter. Doubles with each further pause. */
const FIRST_PAUSE = 100
/** In milliseconds, before jitter. */
const LONGEST_PAUSE = 30_000
/** In milliseconds. An endpoint that asks for a longer wait is asked again after this. */
const LONGEST_RETRY_AFTER = 600_000

const sleep = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  setTimeout(milliseconds, undefined, { signal }).catch(() => {
    throw new RpcError('ABORTED')
  })

function createPauses(signal: AbortSignal): Pauses {
  let [until, length, count] = [0, FIRST_PAUSE, 0]
  return {
    get count() {
      return count
    },
    async wait() {
      for (let left = until - Date.now(); left > 0; left = until - Date.now()) await sleep(left, signal)
    },
    begin(retryAfter) {
      const now = Date.now()
      // Requests that fail together count as one failure. For the first one, Retry-After alone is enough.
      if (now >= until) {
        if (retryAfter === undefined || count > 0) until = now + length * (1 + Math.random())
        length = Math.min(2 * length, LONGEST_PAUSE)
        count++
      }
      until = Math.max(until, now + Math.min(retryAfter ?? 0, LONGEST_RETRY_AFTER))
    },
    end() {
      if (Date.now() >= until) [length, count] = [FIRST_PAUSE, 0]
    },
  }
}

/**
 * @param concurrency maximum number of requests at once
 * @param signal aborts a pause
 */
export function createLimits(concurrency: number, signal: AbortSignal): Limits {
  // Every request may listen to it. By default, Node warns about more than ten listeners.
  setMaxListeners(0, signal)
  const pauses = createPauses(signal)
  const waiting: (() => void)[] = []
  let active = 0
  return {
    ...{ concurrency, signal, pauses },
    async whenAllowed(work) {
      while (active >= concurrency) await new Promise<void>(resolve => waiting.push(resolve))
      active++
      try {
        await pauses.wait()
        return await work()
      } catch (error) {
        // Starts the pause before the next request may start.
        if (error instanceof RpcError && isBusy(error)) pauses.begin(error.retryAfter)
        throw error
      } finally {
        active--
        waiting.shift()?.()
      }
    },
  }
}

const isTemporary = (error: unknown): error is RpcError => error instanceof RpcError && TEMPORARY.includes(error.code)

const isBusy = ({ code, status }: RpcError): boolean => code === 'RATE_LIMITED' || status === 503

/** @throws RpcError if the endpoint fails for good or too often */
export async function* askInOrder<Item, Outcome>(asking: Asking<Item, Outcome>): AsyncGenerator<Outcome> {
  const { items, limits, ask, refuse, onRetry } = asking
  const { pauses, concurrency, signal } = limits

  async function askUntilAnswered(item: Item): Promise<Outcome> {
    let [failures, wrong] = [0, 0]
    for (;;) {
      try {
        const outcome = await limits.whenAllowed(() => ask(item))
        pauses.end()
        return outcome
      } catch (error) {
        if (error instanceof ProofError || (error instanceof RpcError && WRONG.includes(error.code))) {
          if (++wrong >= MAX_WRONG) return await refuse(item, error)
          onRetry?.(item, error)
        } else {
          if (!isTemporary(error)) throw error
          // A busy endpoint may refuse one item often while it answers the others, so count the pauses instead.
          if (isBusy(error) ? pauses.count >= MAX_FAILURES : ++failures >= MAX_FAILURES) throw error
          onRetry?.(item, error)
          // Only a busy endpoint makes the other items wait.
          if (!isBusy(error))
            await sleep(Math.min(FIRST_PAUSE * 2 ** (failures - 1), LONGEST_PAUSE) * Math.random(), signal)
        }
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
