import { setTimeout } from 'node:timers/promises'
import { ProofError } from '../errors.ts'
import { RpcError, type RpcErrorCode } from '../rpc/error.ts'

/** Asks an endpoint for many things at once, within what it bears, and gives the outcomes in order. */
export interface Asking<Item, Outcome> {
  readonly items: Iterable<Item>
  /** How many requests at once. */
  readonly concurrency: number
  readonly signal: AbortSignal
  ask(item: Item): Promise<Outcome>
  /** What becomes of an item whose answer is refused every time. */
  refuse(item: Item, error: ProofError | RpcError): Promise<Outcome>
  /** Told of every failure that is not the last. */
  onRetry?: (item: Item, error: ProofError | RpcError) => void
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

const MAX_FAILURES = 12
const MAX_WRONG = 3
const FIRST_PAUSE = 100
const LONGEST_PAUSE = 30_000

/** A pause that all requests share, longer with each failure that follows another. */
function createPauses(signal: AbortSignal) {
  let [until, length] = [0, FIRST_PAUSE]
  return {
    async wait(): Promise<void> {
      for (let left = until - Date.now(); left > 0; left = until - Date.now()) {
        await setTimeout(left, undefined, { signal }).catch(() => {
          throw new RpcError('ABORTED')
        })
      }
    },
    begin(): void {
      // Requests that fail together are one failure.
      if (Date.now() < until) return
      until = Date.now() + length * (1 + Math.random())
      length = Math.min(2 * length, LONGEST_PAUSE)
    },
    end(): void {
      if (Date.now() >= until) length = FIRST_PAUSE
    },
  }
}

/**
 * @throws RpcError when the endpoint fails for good, or too often
 */
export async function* askInOrder<Item, Outcome>(asking: Asking<Item, Outcome>): AsyncGenerator<Outcome> {
  const { items, concurrency, signal, ask, refuse, onRetry } = asking
  const pauses = createPauses(signal)
  let active = 0
  const waiting: (() => void)[] = []

  async function askOnce(item: Item): Promise<Outcome> {
    while (active >= concurrency) await new Promise<void>(resolve => waiting.push(resolve))
    active++
    try {
      await pauses.wait()
      return await ask(item)
    } finally {
      active--
      waiting.shift()?.()
    }
  }

  async function askUntilAnswered(item: Item): Promise<Outcome> {
    let [failures, wrong] = [0, 0]
    for (;;) {
      try {
        const outcome = await askOnce(item)
        pauses.end()
        return outcome
      } catch (error) {
        if (error instanceof ProofError || (error instanceof RpcError && WRONG.includes(error.code))) {
          if (++wrong >= MAX_WRONG) return await refuse(item, error)
          onRetry?.(item, error)
        } else {
          if (!(error instanceof RpcError) || !TEMPORARY.includes(error.code) || ++failures >= MAX_FAILURES) throw error
          onRetry?.(item, error)
          pauses.begin()
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
