import { abortedBy } from '../rpc/error.ts'
import { orAbort } from '../rpc/provider.ts'
import { refusedFor } from './error.ts'
import { SLICE } from './limits.ts'

/** How one piece of work shares the thread with others, and when it has to end. */
export interface Pace {
  /** Aborted at the deadline, or by whoever asked for the work. */
  readonly signal: AbortSignal
  /** Whether other tasks should run now. Cheap enough for each step of an execution. @throws EndpointError `ABORTED` */
  isDue(): boolean
  /**
   * Waits until the work may be slow, because it needs an endpoint or much computation. Only the first time, because then it
   * has been admitted. @throws what the function throws that admits it
   */
  beSlow(): Promise<void>
  /** Lets other tasks run, and waits for its turn. */
  giveWay(): Promise<void>
  /** Lets other tasks run if that is due. @throws EndpointError `ABORTED` */
  pause(): Promise<void>
}

/** All works that pause take turns, so that between two of their slices everybody else gets the thread. */
let lastTurn: Promise<void> = Promise.resolve()
const nextTurn = (): Promise<void> => {
  lastTurn = lastTurn.then(() => new Promise(resolve => setTimeout(resolve)))
  return lastTurn
}

function createPace(signal: AbortSignal, admit: () => Promise<void>): Pace {
  let began = Date.now()
  let admitted: Promise<void> | undefined
  const pace: Pace = {
    signal,
    isDue() {
      if (signal.aborted) throw abortedBy(signal)
      const now = Date.now()
      // A clock that was set back must not end the pauses.
      return now - began >= SLICE || now < began
    },
    beSlow() {
      admitted ??= admit()
      return admitted
    },
    async giveWay() {
      await pace.beSlow()
      await nextTurn()
      began = Date.now()
    },
    async pause() {
      if (!pace.isDue()) return
      await pace.giveWay()
      if (signal.aborted) throw abortedBy(signal)
    },
  }
  return pace
}

/** When a piece of work ends, and what it waits for. */
export interface PaceOptions {
  readonly timeoutMs: number
  /** Each of them ends the work. */
  readonly signals: readonly (AbortSignal | undefined)[]
  /** Called once, before the work is slow for the first time. Default: it may be slow. */
  readonly admit?: (() => Promise<void>) | undefined
}

/**
 * Runs work that ends in time: at its deadline, or when a signal is aborted, whoever waits for it gets an error at once, and the
 * work ends at its next pause.
 *
 * @throws ProviderError `TIMEOUT`; EndpointError `ABORTED`
 */
export async function inPace<T>(
  { timeoutMs, signals, admit = async () => {} }: PaceOptions,
  work: (pace: Pace) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    controller.abort()
  }, timeoutMs)
  const given = signals.filter(signal => signal !== undefined)
  const ends = given.map(signal => [signal, () => controller.abort(signal.reason)] as const)
  for (const [signal, end] of ends) {
    signal.addEventListener('abort', end, { once: true })
    if (signal.aborted) end()
  }
  try {
    return await orAbort(() => work(createPace(controller.signal, admit)), controller.signal)
  } catch (error) {
    if (isLate) throw refusedFor('TIMEOUT', { found: `It took ${timeoutMs} ms.` })
    throw error
  } finally {
    clearTimeout(timer)
    for (const [signal, end] of ends) signal.removeEventListener('abort', end)
  }
}
