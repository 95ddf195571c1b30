import { ProofError } from '../../base/errors.ts'
import { redactError } from '../transport/diagnose.ts'
import { abortedBy, EndpointError, isFailure, isMissing } from '../transport/error.ts'
import type { BeaconApi } from '../transport/http.ts'
import { BEACON_APIS_AT_ONCE, DEMOTION_MS, STAGGER_MS, STRAGGLE_MS } from '../transport/limits.ts'
import { redactorFor } from '../transport/redact.ts'
import { inTime, sleep } from '../transport/waiting.ts'
import { partOf } from '../transport/whose.ts'

/** One request to an endpoint. */
export type Ask = (api: BeaconApi, signal: AbortSignal) => Promise<unknown>

/** Beacon APIs of which none is trusted, and which of them failed lately. */
export interface BeaconPool {
  readonly apis: readonly BeaconApi[]
  /** When each of those that failed counts as healthy again. */
  readonly demotedUntil: Map<number, number>
}

/** How long to wait, and who ends it. */
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
  readonly failures: ReadonlyMap<number, EndpointError | ProofError>
  /** Lets other work of the program run. @throws what has ended the session */
  turn(): Promise<void>
  /** Sends one request. */
  ask(index: number, ask: Ask): Promise<unknown>
  /**
   * The first answer that `verify` accepts. Asks one endpoint after another: the next when one has failed, or has been silent
   * for {@link STAGGER_MS}. Those that do not hold the answer are not blamed.
   */
  race<T>(ask: Ask, verify: (answer: unknown) => Promise<T>, isOwed: boolean): Promise<T>
  /**
   * Runs `work` with every endpoint. Once it has succeeded with one and `isEnough`, the others have {@link STRAGGLE_MS} since
   * the last {@link Session.progress}, and those that failed lately are not waited for.
   *
   * @param work calls `heard` when the endpoint has answered. Its failures are the endpoint's
   */
  each(isEnough: () => boolean, work: (index: number, heard: () => void) => Promise<void>): Promise<void>
  /** A committee was proven, so waiting for the next one is worth while. */
  progress(): void
  /** The endpoint is behind another one. */
  lag(index: number): void
  /** Calls what the caller has passed. What it throws ends the session, and is no failure of an endpoint. */
  tell(work: () => void): void
}

export const createPool = (apis: readonly BeaconApi[]): BeaconPool => ({ apis, demotedUntil: new Map() })

const isDemoted = ({ demotedUntil }: BeaconPool, index: number): boolean => (demotedUntil.get(index) ?? 0) > Date.now()

/** Those that failed lately come last, the earliest failure first. */
function orderOf(pool: BeaconPool): number[] {
  const rank = (index: number): number => (isDemoted(pool, index) ? (pool.demotedUntil.get(index) ?? 0) : 0)
  return [...pool.apis.keys()].sort((a, b) => rank(a) - rank(b))
}

/** Runs `work` with the endpoints until it, the time or the caller ends. Nothing is asked afterwards. */
export async function withSession<T>(
  pool: BeaconPool,
  options: SessionOptions,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const { signal, totalTimeoutMs } = options
  if (signal?.aborted) throw abortedBy(signal)
  const ending = partOf(signal)
  const timer = setTimeout(() => ending.abort(), totalTimeoutMs)
  try {
    return await work(openSession(pool, options, ending))
  } finally {
    clearTimeout(timer)
    ending.forget()
    ending.abort()
  }
}

/** What races and rounds of all endpoints have in common. */
interface Core extends Omit<Session, 'race' | 'each' | 'progress'> {
  readonly pool: BeaconPool
  readonly ending: AbortController
  ask(index: number, ask: Ask, over?: AbortSignal): Promise<unknown>
  /** The endpoint has failed. @throws what no endpoint is to blame for, and ends the session with it */
  blame(index: number, error: unknown): void
}

function openSession(pool: BeaconPool, options: SessionOptions, ending: AbortController): Session {
  const core = openCore(pool, options, ending)
  return { ...core, race: raceOf(core), ...roundOf(core) }
}

function openCore(pool: BeaconPool, options: SessionOptions, ending: AbortController): Core {
  const { timeoutMs, signal, onFailure } = options
  const failures = new Map<number, EndpointError | ProofError>()
  let halted: { readonly error: unknown } | undefined

  /** What has ended a request: the caller, or the lack of time. */
  const ended = () => (signal?.aborted ? abortedBy(signal) : new EndpointError('TIMEOUT', { layer: 'beacon' }))

  /** Ends the session with this error. */
  function halt(error: unknown): never {
    halted ??= { error }
    ending.abort()
    throw halted.error
  }

  function tell(work: () => void): void {
    try {
      work()
    } catch (error) {
      halt(error)
    }
  }

  return {
    ...{ pool, ending, failures, tell },
    async ask(index, send, over = ending.signal) {
      const api = pool.apis[index]
      if (api === undefined || over.aborted) throw ended()
      try {
        return await inTime(timeoutMs, limit => send(api, limit), over)
      } catch (error) {
        throw over.aborted ? ended() : error
      }
    },
    async turn() {
      if (ending.signal.aborted) throw ended()
      await sleep(0, ending.signal).catch(() => {
        throw ended()
      })
    },
    blame(index, error) {
      const api = pool.apis[index]
      if (signal?.aborted) halt(abortedBy(signal))
      if (halted || api === undefined || !isFailure(error)) {
        halt(error)
        return
      }
      // The time does not start anew, so that an endpoint is not put behind the others for ever.
      if (!isMissing(error) && !isDemoted(pool, index)) pool.demotedUntil.set(index, Date.now() + DEMOTION_MS)
      if (failures.has(index)) return
      failures.set(index, redactError(error, redactorFor(api)))
      tell(() => onFailure?.(index, error.code))
    },
    lag(index) {
      if (!failures.has(index)) failures.set(index, new ProofError('BEACON_OLDER_THAN_CHECKPOINT'))
    },
  }
}

const raceOf =
  ({ pool, ending, failures, ask, blame }: Core): Session['race'] =>
  async <T>(send: Ask, verify: (answer: unknown) => Promise<T>, isOwed: boolean): Promise<T> => {
    const over = new AbortController()
    const either = AbortSignal.any([over.signal, ending.signal])
    const silent = new Set<number>()
    const missing = new Map<number, EndpointError | ProofError>()
    const wins: T[] = []
    let verifying: Promise<void> = Promise.resolve()
    const work = async (index: number, heard: () => void) => {
      try {
        const answer = await ask(index, send, either)
        heard()
        // One answer is verified at a time: the others are not needed if it is right.
        const before = verifying.catch(() => {})
        verifying = before.then(async () => {
          if (wins.length === 0) wins.push(await verify(answer))
          over.abort()
        })
        await verifying
      } catch (error) {
        if (wins.length > 0 && !silent.has(index)) return
        if (isFailure(error) && isMissing(error) && !isOwed) missing.set(index, error)
        else blame(index, error)
      }
    }
    await staggered(orderOf(pool), 1, either, silent, work)
    for (const value of wins) return value
    throw unavailable(pool, new Map([...missing, ...failures]))
  }

function roundOf({ pool, ending, blame }: Core): Pick<Session, 'each' | 'progress'> {
  let hasProgress = false
  /** Called whenever something changes: ends the round if there is nothing to wait for. */
  let settle = () => {}
  return {
    progress() {
      hasProgress = true
      settle()
    },
    async each(isEnough, work) {
      const order = orderOf(pool)
      const awaited = new Set(order.filter(index => !isDemoted(pool, index)))
      const end = () => ending.abort()
      let timer: ReturnType<typeof setTimeout> | undefined
      let hasSucceeded = false
      settle = () => {
        if (!hasSucceeded || !isEnough()) return
        clearTimeout(timer)
        if (awaited.size === 0 && !hasProgress) end()
        else timer = setTimeout(end, STRAGGLE_MS)
      }
      const workAndSettle = async (index: number, heard: () => void) => {
        try {
          await work(index, heard)
          hasSucceeded = true
          pool.demotedUntil.delete(index)
        } catch (error) {
          blame(index, error)
        }
        awaited.delete(index)
        settle()
      }
      await staggered(order, BEACON_APIS_AT_ONCE, ending.signal, new Set(), workAndSettle).finally(() => {
        clearTimeout(timer)
        settle = () => {}
      })
    },
  }
}

/**
 * Starts `work` with one index after another: `atOnce` of them immediately, each further one when the one before has ended or
 * has been silent for {@link STAGGER_MS}.
 *
 * @param stop starts no more
 * @param silent receives those that were silent
 * @throws the first error of `work`, once all have ended
 */
async function staggered(
  order: readonly number[],
  atOnce: number,
  stop: AbortSignal,
  silent: Set<number>,
  work: (index: number, heard: () => void) => Promise<void>,
): Promise<void> {
  const running: Promise<void>[] = []
  const failed: unknown[] = []
  for (const [turn, index] of order.entries()) {
    if (stop.aborted || failed.length > 0) break
    let startNext = () => {}
    const next = new Promise<void>(resolve => {
      startNext = resolve
    })
    const timer = setTimeout(() => {
      silent.add(index)
      startNext()
    }, STAGGER_MS)
    const heard = () => clearTimeout(timer)
    const run = work(index, heard)
      .catch(error => void failed.push(error))
      .finally(() => {
        heard()
        startNext()
      })
    running.push(run)
    if (turn + 1 >= atOnce) await next
  }
  await Promise.all(running)
  if (failed.length > 0) throw failed[0]
}

/** The error of a single endpoint as it is; of several, what each of them answered. */
export function unavailable(
  { apis }: BeaconPool,
  failures: ReadonlyMap<number, EndpointError | ProofError>,
): EndpointError | ProofError {
  const only = apis.length === 1 ? failures.get(0) : undefined
  return only ?? allFailed(failures)
}

export function allFailed(failures: ReadonlyMap<number, EndpointError | ProofError>): EndpointError {
  const sorted = [...failures].sort(([a], [b]) => a - b)
  const found = sorted.map(([index, { code }]) => `source ${index}: ${code}`).join('; ')
  return new EndpointError('BEACON_UNAVAILABLE', { found, layer: 'beacon' })
}
