import type { ProofError } from '../../base/errors.ts'
import { type EndpointError, isEndpointError, isFailure, isPassing, isWrong } from '../../client/transport/error.ts'
import { type Budget, sleep } from '../../client/transport/waiting.ts'
import { inOrder } from '../audit/in-order.ts'
import { LONGEST_PAUSE, LONGEST_RETRY_AFTER, MAX_FAILURES, MAX_WRONG } from '../audit/limits.ts'

/** Many requests to one endpoint, whose queue paces them. Their outcomes come in order. */
export interface Asking<Item, Outcome> {
  readonly items: Iterable<Item>
  readonly slots: Budget
  /** How many requests may be under way, or done before their turn. */
  readonly ahead: number
  readonly signal: AbortSignal
  ask(item: Item): Promise<Outcome>
  /** Returns the outcome of an item whose answers are all wrong. */
  refuse(item: Item, error: ProofError | EndpointError): Promise<Outcome>
  onRetry?: (item: Item, error: ProofError | EndpointError) => void
}

/** In milliseconds. Doubles with each further failure. */
const FIRST_PAUSE = 100

/** How long to wait after a failure: as long as the endpoint asks for. @param count of failures so far */
function pauseAfter(error: ProofError | EndpointError, count: number): number {
  const asked = (isEndpointError(error) ? error.retryAfterMs : undefined) ?? 0
  const backoff = Math.min(FIRST_PAUSE * 2 ** count, LONGEST_PAUSE) * Math.random()
  return Math.max(Math.min(asked, LONGEST_RETRY_AFTER), backoff)
}

/** @throws EndpointError if the endpoint fails for good or too often */
export const askInOrder = <Item, Outcome>(asking: Asking<Item, Outcome>): AsyncGenerator<Outcome> =>
  inOrder({ items: asking.items, ahead: asking.ahead, run: item => askUntilAnswered(item, asking) })

async function askUntilAnswered<Item, Outcome>(item: Item, asking: Asking<Item, Outcome>): Promise<Outcome> {
  const { slots, signal, ask, refuse, onRetry } = asking
  let [failures, wrong] = [0, 0]
  for (;;) {
    try {
      return await slots.run(() => ask(item))
    } catch (error) {
      if (!isFailure(error)) throw error
      const isFalse = isWrong(error)
      if (isFalse && ++wrong >= MAX_WRONG) return await refuse(item, error)
      if (!isFalse && (!isPassing(error) || ++failures >= MAX_FAILURES)) throw error
      onRetry?.(item, error)
      if (!isFalse) await sleep(pauseAfter(error, failures), signal)
    }
  }
}
