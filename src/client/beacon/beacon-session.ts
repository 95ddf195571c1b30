import { ProofError } from '../../base/errors.ts'
import { type Attempt, createPool, type Pool } from '../sources/pool.ts'
import { abortedBy, EndpointError, isMissing } from '../transport/error.ts'
import type { BeaconApi } from '../transport/http.ts'
import { BEACON_APIS_AT_ONCE, STAGGER_MS, STRAGGLE_MS } from '../transport/limits.ts'
import { createBudget, type Scope, scoped, sleep } from '../transport/waiting.ts'
import { partOf } from '../transport/whose.ts'

type Ask<T> = (api: BeaconApi, signal: AbortSignal) => Promise<T>

type Failures = ReadonlyMap<number, EndpointError | ProofError>

/** Beacon APIs of which none is trusted, and until when those that failed are asked last. */
export interface BeaconSources {
  readonly apis: readonly BeaconApi[]
  readonly demoted: Map<number, number>
}

interface SessionOptions {
  readonly timeoutMs: number
  readonly totalTimeoutMs: number
  readonly signal: AbortSignal | undefined
  /** Called when an endpoint fails for the first time. What it throws ends the session. */
  readonly onFailure?: (index: number, code: string) => void
}

/** One call's dealings with the endpoints. However many of them hang or lie, it ends. */
export interface Session {
  /** The first failure of each endpoint. */
  readonly failures: Failures
  /** Lets other work of the program run. @throws EndpointError `TIMEOUT`, `ABORTED` */
  turn(): Promise<void>
  /**
   * What `verify` makes of the first answer that it accepts: one is verified at a time. Asks one endpoint after another.
   *
   * @param isOwed whether one that does not hold the answer is blamed
   */
  race<T, U>(ask: Ask<T>, verify: (answer: T) => Promise<U>, isOwed: boolean): Promise<U>
  /**
   * Runs `work` with what each endpoint answers: its failures are the endpoint's. Once it has succeeded with one and `isEnough`, the
   * others have {@link STRAGGLE_MS} since the last {@link Session.progress}, and those that failed lately are not waited for. Ends
   * the session.
   */
  each<T>(ask: Ask<T>, isEnough: () => boolean, work: (answer: T, index: number) => Promise<void>): Promise<void>
  /** A committee was proven, so waiting for the next one is worth while. */
  progress(): void
  /** The endpoint is behind another one. */
  lag(index: number): void
  /** Calls what the caller has passed. What it throws ends the session, and is no failure of an endpoint. */
  tell(work: () => void): void
}

/** Runs `work` with the endpoints until it, the time or the caller ends. Nothing is asked afterwards. */
export const withSession = <T>(
  { apis, demoted }: BeaconSources,
  options: SessionOptions,
  work: (session: Session) => Promise<T>,
): Promise<T> =>
  scoped(options.signal, async ({ signal, stop }) => {
    const failures = new Map<number, EndpointError | ProofError>()
    const tell = (work: () => void) => {
      try {
        work()
      } catch (error) {
        throw stop(error)
      }
    }
    const note = (index: number, error: EndpointError | ProofError) => {
      if (failures.has(index)) return
      failures.set(index, error)
      tell(() => options.onFailure?.(index, error.code))
    }
    const pool = createPool(apis, {
      ...{ layer: 'beacon', silenceMs: STAGGER_MS, demoted, onFailure: note },
      onSilence: index => note(index, tooLate()),
      failed: found => unavailable(apis.length, found),
    })
    const [ending, asker] = [partOf(signal), askerOf(options.timeoutMs)]
    const timer = setTimeout(asker.end, options.totalTimeoutMs)
    try {
      const lag = (index: number) => {
        if (!failures.has(index)) failures.set(index, new ProofError('BEACON_OLDER_THAN_CHECKPOINT'))
      }
      return await work({ ...{ failures, tell, lag }, ...sessionOf(pool, asker, ending) })
    } finally {
      clearTimeout(timer)
      ending.forget()
      ending.abort()
    }
  })

/** Sends requests, each with a time limit, until the time for all of them is over. */
function askerOf(timeoutMs: number) {
  const running = new Set<Scope['stop']>()
  let isLate = false
  return {
    isLate: () => isLate,
    end() {
      isLate = true
      for (const stop of running) stop(tooLate())
    },
    async ask<T>(send: Ask<T>, api: BeaconApi, over: AbortSignal): Promise<T> {
      if (isLate) throw tooLate()
      const sending = ({ signal, stop }: Scope) => {
        running.add(stop)
        return send(api, signal).finally(() => running.delete(stop))
      }
      return scoped(over, sending, timeoutMs)
    },
  }
}

function sessionOf(
  pool: Pool<BeaconApi>,
  { ask, isLate }: ReturnType<typeof askerOf>,
  ending: AbortController,
): Omit<Session, 'failures' | 'tell' | 'lag'> {
  const { signal } = ending
  let hasProgress = false
  /** Called whenever something changes: ends the round if there is nothing to wait for. */
  let settle = () => {}
  return {
    async turn() {
      await sleep(0, signal)
      if (isLate()) throw tooLate()
    },
    race(send, verify, isOwed) {
      const { run: inTurn } = createBudget(1)
      let hasWon = false
      const work = async (api: BeaconApi, { signal: over, heard }: Attempt) => {
        const answer = await ask(send, api, over)
        heard()
        return inTurn(async () => {
          if (hasWon) throw abortedBy(over)
          const value = await verify(answer)
          hasWon = true
          return value
        })
      }
      return pool.run(work, signal, error => isOwed || !isMissing(error))
    },
    async each(send, isEnough, work) {
      const attempt = async (api: BeaconApi, { signal: over, heard }: Attempt, index: number) => {
        const answer = await ask(send, api, over)
        heard()
        await work(answer, index)
      }
      const awaited = new Set([...pool.sources.keys()].filter(index => !pool.isDemoted(index)))
      const round = pool.each(attempt, { signal, atOnce: BEACON_APIS_AT_ONCE })
      let timer: ReturnType<typeof setTimeout> | undefined
      let hasSucceeded = false
      settle = () => {
        if (!hasSucceeded || !isEnough()) return
        clearTimeout(timer)
        if (awaited.size === 0 && !hasProgress) round.end()
        else timer = setTimeout(round.end, STRAGGLE_MS)
      }
      try {
        for await (const outcome of round) {
          awaited.delete(outcome.index)
          hasSucceeded ||= 'value' in outcome
          settle()
        }
        for (const index of round.running.keys()) pool.blame(index, tooLate())
      } finally {
        clearTimeout(timer)
        settle = () => {}
        ending.abort()
      }
    },
    progress() {
      hasProgress = true
      settle()
    },
  }
}

const UNKNOWN_FORK = 'BEACON_FORK_UNKNOWN'

const tooLate = () => new EndpointError('TIMEOUT', { layer: 'beacon' })

/** The error of a single endpoint as it is; of several, what each of them answered. */
export const unavailable = (count: number, failures: Failures): EndpointError | ProofError =>
  (count === 1 ? failures.get(0) : undefined) ?? allFailed(failures)

export function allFailed(failures: Failures): EndpointError | ProofError {
  const [first] = failures.values()
  // All say that the table of forks is out of date, or that of another network: asking again does not help.
  if (first?.code === UNKNOWN_FORK && [...failures.values()].every(({ code }) => code === UNKNOWN_FORK)) return first
  const sorted = [...failures].sort(([a], [b]) => a - b)
  const found = sorted.map(([index, { code }]) => `source ${index}: ${code}`).join('; ')
  return new EndpointError('BEACON_UNAVAILABLE', { found, layer: 'beacon' })
}
