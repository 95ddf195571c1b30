import { setMaxListeners } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { ProofError } from '../errors.ts'
import { RpcError, type RpcErrorCode } from '../rpc/error.ts'

/** Asks an endpoint for many things at once, within what it bears, and gives the outcomes in order. */
export interface Asking<Item, Outcome> {
  readonly items: Iterable<Item>
  readonly limits: Limits
  ask(item: Item): Promise<Outcome>
  /** What becomes of an item whose answer is refused every time. */
  refuse(item: Item, error: ProofError | RpcError): Promise<Outcome>
  /** Told of every failure that is not the last. */
  onRetry?: (item: Item, error: ProofError | RpcError) => void
}

/** What all requests to one endpoint share. */
export interface Limits {
  /** How many requests at once. */
  readonly concurrency: number
  readonly signal: AbortSignal
  /** Runs `work` when it may begin. */
  whenAllowed<T>(work: () => Promise<T>): Promise<T>
  readonly pauses: Pauses
}

/** A pause that all requests share, longer with each failure that follows another. */
interface Pauses {
  /** How many there were since an answer came. */
  readonly count: number
  wait(): Promise<void>
  /** @param retryAfter how long the endpoint asks to wait, in milliseconds */
  begin(retryAfter: number | undefined): void
  /** An answer came. */
  end(): void
}

/** These pass: the endpoint has too much to do, or something on the way to it broke. */
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
/** These are wrong answers, as a ProofError is: another server behind the same URL may know better. */
const WRONG: readonly RpcErrorCode[] = ['ANSWER_MALFORMED', 'ETH_PROOF_ANSWER', 'OTHER_KEYS', 'ANSWERS_INCONSISTENT']

/** Of one item, or of all of them one after the other. */
/** Of one item; and how many pauses there may be without an answer between them. */
const MAX_FAILURES = 12
const MAX_WRONG = 3
const FIRST_PAUSE = 100
const LONGEST_PAUSE = 30_000
/** An endpoint that asks to wait longer is asked again after this. */
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
      // Requests that fail together are one failure. The first time, what the endpoint asks for is enough.
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
 * @param concurrency how many requests at once
 * @param signal ends a pause
 */
export function createLimits(concurrency: number, signal: AbortSignal): Limits {
  // Every request may wait for it. Node warns of more than ten.
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
        // Before the next one is allowed.
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

/**
 * @throws RpcError when the endpoint fails for good, or too often
 */
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
          // Of a busy endpoint one item may be refused often, while the others are answered.
          if (isBusy(error) ? pauses.count >= MAX_FAILURES : ++failures >= MAX_FAILURES) throw error
          onRetry?.(item, error)
          // What breaks on the way is no reason for the others to wait.
          if (!isBusy(error)) await sleep(Math.min(FIRST_PAUSE * 2 ** failures, LONGEST_PAUSE) * Math.random(), signal)
        }
      }
    }
  }

  const pending: Promise<Outcome>[] = []
  const rest = items[Symbol.iterator]()
  for (let isDone = false; !isDone || pending.length > 0; ) {
    // Some are ahead of the one that is waited for, so that a slow answer does not stop the others.
    while (!isDone && pending.length < 4 * concurrency) {
      const next = rest.next()
      isDone = next.done === true
      if (next.done) break
      const outcome = askUntilAnswered(next.value)
      // Awaited in its turn: until then a failure is not unhandled.
      outcome.catch(() => {})
      pending.push(outcome)
    }
    const first = pending.shift()
    if (first !== undefined) yield await first
  }
}
