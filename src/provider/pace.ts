import { abortedBy } from '../client/transport/error.ts'
import { inherit, partOf, scoped } from '../client/transport/waiting.ts'
import { refusedFor } from './error.ts'
import { FURTHER_SLICE, MAX_LOGS_LENGTH, SLICE } from './limits.ts'

/** How much a rehearsal may compute, in steps of an execution. */
export interface Budget {
  left(): number
  spend(steps: number): void
}
/** What of the gas of that which takes longer than a step counts as one. */
export const GAS_A_STEP = 8n

export interface Pace {
  /** Aborted at the deadline, or by whoever asked for the work. */
  readonly signal: AbortSignal
  /** Of a rehearsal. Its steps are counted by `isDue`. */
  readonly budget?: Budget
  /** Takes room for an answer that is given only once, if there is enough. @throws ProviderError `LIMIT_REACHED` if there never is */
  reserve(length: number): boolean
  /** States how far the work is, in words, for whoever learns that it took too long. */
  tell(describe: () => string): void
  /** Whether other tasks should run now. Cheap enough for each step of an execution. @throws EndpointError `ABORTED` */
  isDue(): boolean
  /** Waits until it may ask endpoints or compute for long: the first time only, because then it is admitted. @throws what admits it */
  beSlow(): Promise<void>
  /** Waits for a turn to compute. @throws what `beSlow` does, if the work used up an earlier turn */
  giveWay(): Promise<void>
  /** Waits for a turn if one is due: before it computes, and after each slice. @throws EndpointError `ABORTED`; as `giveWay` does */
  pause(): Promise<void>
}

/** All works of the process that wait for a turn to compute. */
const turns: (() => void)[] = []

/** There is one turn per turn of the event loop: so everybody else waits for one slice, and not for one of each work. */
const takeTurn = (): Promise<void> =>
  new Promise(begin => {
    if (turns.push(begin) === 1) plan()
  })

function next(): void {
  turns.shift()?.()
  if (turns.length > 0) plan()
}

/** A timer waits for a millisecond, half as long as a slice: who computes alone need not, where the platform has something quicker. */
function plan(): void {
  const { setImmediate } = globalThis
  if (turns.length > 1 || typeof setImmediate !== 'function') setTimeout(next)
  else setImmediate(next)
}

function createPace(given: Pick<Pace, 'signal' | 'tell' | 'reserve' | 'beSlow'>, end: number, pass: () => unknown) {
  const { signal } = given
  // The first turn is due at once.
  let [began, slice] = [Number.POSITIVE_INFINITY, SLICE]
  const pace: Pace = {
    ...given,
    isDue() {
      if (signal.aborted) throw abortedBy(signal)
      const now = Date.now()
      // The timer of the deadline does not fire while a work computes.
      if (now >= end) throw pass()
      // A clock that was set back must not end the pauses.
      return now - began >= slice || now < began
    },
    async giveWay() {
      const isBeginning = began === Number.POSITIVE_INFINITY
      if (!isBeginning) await pace.beSlow()
      await takeTurn()
      if (!isBeginning) slice = FURTHER_SLICE
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

export interface PaceOptions {
  readonly timeoutMs: number
  readonly signals: readonly (AbortSignal | undefined)[]
  /** Called once, before the work is slow for the first time. What it throws ends the work. Default: it may be slow. */
  readonly admit?: (() => Promise<void>) | undefined
  /** Called once, after a quarter of the time, with how far the work is, if it has stated that. */
  readonly onProgress?: ((text: string) => void) | undefined
  readonly reserve?: Pace['reserve'] | undefined
}

export function createRoom(total: number) {
  let left = total
  return {
    reserve(length: number): boolean {
      if (length > total) throw refusedFor('LIMIT_REACHED', { found: `An answer has at most ${total} characters.` })
      const fits = length <= left
      if (fits) left -= length
      return fits
    },
    /** Takes room for what is there anyway. @returns whether there was enough */
    take(length: number): boolean {
      left -= length
      return left >= 0
    },
  }
}

/**
 * At its deadline, or when a signal is aborted, whoever waits for the work gets an error at once. The work ends at its next pause.
 *
 * @throws ProviderError `TIMEOUT`; EndpointError `ABORTED`; what `admit` throws
 */
export async function inPace<T>(
  { timeoutMs, signals, admit, onProgress, reserve = createRoom(MAX_LOGS_LENGTH).reserve }: PaceOptions,
  work: (pace: Pace) => Promise<T>,
): Promise<T> {
  let describe: (() => string) | undefined
  const tell: Pace['tell'] = text => {
    describe = text
  }
  const tooLate = () => refusedFor('TIMEOUT', { found: [`It took ${timeoutMs} ms.`, describe?.()].join(' ').trim() })
  const given = new AbortController()
  // The last one is that of who asks. All that he asks for at once is his.
  inherit(given.signal, signals.at(-1))
  const links = signals.map(signal => partOf(signal, () => given.abort(signal?.reason)))
  let timers: ReturnType<typeof setTimeout>[] = []
  let admitted: Promise<void> | undefined
  try {
    return await scoped(given.signal, ({ signal, stop }) => {
      timers = [
        setTimeout(() => stop(tooLate()), timeoutMs),
        setTimeout(() => describe && onProgress?.(describe()), timeoutMs / 4),
      ]
      // Whoever asked for admission may not tell its refusal from a failure of its own, so it ends the work as a whole.
      const beSlow = async () => {
        admitted ??= admit?.().catch(error => Promise.reject(stop(error)))
        await admitted
      }
      return work(createPace({ signal, tell, reserve, beSlow }, Date.now() + timeoutMs, () => stop(tooLate())))
    })
  } finally {
    for (const timer of timers) clearTimeout(timer)
    for (const link of links) link.forget()
  }
}
