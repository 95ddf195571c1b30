import { invalid } from '../../base/arguments.ts'
import { verifyWhole } from '../../base/options.ts'
import { abortedBy, EndpointError } from './error.ts'
import { FEW, MAX_STRAGGLERS, MAX_TIMEOUT } from './limits.ts'

/**
 * Whose work a request belongs to. Signals say it, because they are handed down to every request: all that descends from one
 * signal is one owner's work. Queues are fair between owners.
 */
const ORIGINS = new WeakMap<AbortSignal, { readonly owner: AbortSignal; readonly isBulk: boolean }>()

/** The first signal that this one descends from. Undefined for work that nobody can end. */
export const ownerOf = (signal: AbortSignal | undefined): AbortSignal | undefined =>
  signal && (ORIGINS.get(signal)?.owner ?? signal)

/** Whether it is one of many requests for the same result. Others go first. */
export const isBulk = (signal: AbortSignal | undefined): boolean =>
  signal !== undefined && (ORIGINS.get(signal)?.isBulk ?? false)

/** Notes that `signal` ends a part of the work that `whole` ends. @param bulk whether it is one of many parts */
export function inherit(signal: AbortSignal, whole: AbortSignal | undefined, bulk = isBulk(whole)): void {
  ORIGINS.set(signal, { owner: ownerOf(whole) ?? signal, isBulk: bulk })
}

const ENDS = new WeakMap<AbortSignal, Set<() => void>>()

/** However many wait for a signal, it has one listener: Node warns of more than ten. @returns prevents the call */
function onAbort(signal: AbortSignal | undefined, end: () => void): () => void {
  if (signal === undefined) return () => {}
  const ends = ENDS.get(signal) ?? new Set()
  ENDS.set(signal, ends.add(end))
  if (ends.size === 1) signal.addEventListener('abort', endAll, { once: true })
  return () => {
    // A signal of several others lives as long as it has a listener.
    if (ends.delete(end) && ends.size === 0) signal.removeEventListener('abort', endAll)
  }
}

function endAll({ target }: Event): void {
  for (const end of ENDS.get(target as AbortSignal)?.values() ?? []) end()
}

/** Aborted with the whole, or alone. `forget` is to be called when the part has ended, because the whole may live on for long. */
export function partOf(whole: AbortSignal | undefined, before?: () => void): AbortController & { forget(): void } {
  const controller = new AbortController()
  inherit(controller.signal, whole)
  const end = () => {
    before?.()
    controller.abort(whole?.reason)
  }
  if (whole?.aborted) end()
  return Object.assign(controller, { forget: onAbort(whole, end) })
}

/** @throws EndpointError `ABORTED` */
export async function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const begun = new Promise<void>(resolve => {
    timer = setTimeout(resolve, milliseconds)
  })
  await orAbort(() => begun, signal).finally(() => clearTimeout(timer))
}

/** For work that is waited for later: it may fail before that. */
export function begin<T>(work: Promise<T>): Promise<T> {
  work.catch(() => {})
  return work
}

export interface Scope {
  /** Aborted with the work as a whole, or when something stops it. */
  readonly signal: AbortSignal
  /** Ends the work with this error, whatever its parts make of it. @returns the error, to throw it as well */
  stop(error: unknown): unknown
}

/** Nobody waits for `work` any longer when it is stopped, when the time is over (`TIMEOUT`) or when `whole` is aborted (`ABORTED`). */
export async function scoped<T>(
  whole: AbortSignal | undefined,
  work: (scope: Scope) => Promise<T>,
  timeoutMs?: number,
): Promise<T> {
  let end = () => {}
  try {
    return await new Promise<T>((resolve, reject) => {
      if (whole?.aborted) throw abortedBy(whole)
      const part = partOf(whole, () => whole && reject(abortedBy(whole)))
      const stop = (error: unknown) => {
        reject(error)
        part.abort()
        return error
      }
      const late = () => stop(new EndpointError('TIMEOUT'))
      const timer = timeoutMs === undefined ? undefined : setTimeout(late, timeoutMs)
      end = () => {
        clearTimeout(timer)
        part.forget()
      }
      work({ signal: part.signal, stop }).then(resolve, reject)
    })
  } finally {
    // Sooner than by `finally` of the promise: who has gone ends what nobody waits for before it has an answer.
    end()
  }
}

/** So that a silent source does not hold up the others. @throws EndpointError `TIMEOUT`, `ABORTED` */
export const inTime = <T>(timeout: number, work: (own: AbortSignal) => Promise<T>, signal?: AbortSignal) =>
  scoped(signal, own => work(own.signal), timeout)

/** Runs `work`, unless the signal is aborted, and stops waiting for it when that happens. */
export const orAbort = async <T>(work: () => Promise<T> | T, signal: AbortSignal | undefined): Promise<T> =>
  signal === undefined ? work() : scoped(signal, async () => work())

interface Flight {
  readonly answer: Promise<unknown>
  readonly ending: AbortController
  readonly isKept: boolean
  waiting: number
}

/**
 * Works that all share who ask for the same at the same time. One that nobody waits for any more is aborted, unless what it fetches
 * is kept: then it ends all the same if it takes longer than each of them waits.
 *
 * @param over ends those that are kept. Without it, nobody could end them, and none is
 */
export function createFlights<Key>(over?: AbortSignal) {
  const flights = new Map<Key, Flight>()
  let kept = 0
  function begin(key: Key, signal: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<unknown>): Flight {
    const isKept = over?.aborted === false && kept < MAX_STRAGGLERS
    const ending = partOf(isKept ? over : undefined)
    inherit(ending.signal, signal)
    const flight: Flight = { answer: work(ending.signal), ending, isKept, waiting: 0 }
    flights.set(key, flight)
    if (isKept) kept++
    const end = () => {
      ending.forget()
      if (isKept) kept--
      // Those who come later want an answer of then.
      if (flights.get(key) === flight) flights.delete(key)
    }
    flight.answer.then(end, end)
    return flight
  }
  return {
    has: (key: Key): boolean => flights.has(key),
    /** Runs `work`, or waits for that of the same key, which is the same work. @throws EndpointError `ABORTED` */
    async run<T>(key: Key, signal: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
      if (signal?.aborted) throw abortedBy(signal)
      const flight = flights.get(key) ?? begin(key, signal, work)
      flight.waiting++
      try {
        return (await orAbort(() => flight.answer, signal)) as T
      } finally {
        if (--flight.waiting === 0 && !flight.isKept && flights.get(key) === flight) {
          flights.delete(key)
          flight.ending.abort(signal?.reason)
        }
      }
    },
  }
}

/** The results of `count` works in order. More than a few are bulk: what others ask one by one goes first. */
export const inAdvance = <T>(
  count: number,
  atOnce: number,
  work: (index: number, signal: AbortSignal) => Promise<T>,
  signal?: AbortSignal,
): AsyncGenerator<T, void> => {
  const indices = async function* () {
    for (let index = 0; index < count; index++) yield index
  }
  return eachInAdvance(indices, atOnce, work, signal, count > FEW)
}

/**
 * What becomes of each of the items that `list` yields, in order. Up to `atOnce` have begun at any time. When one of them fails, or
 * nobody wants further results, the others are aborted. What is done before one of them, or `list`, fails is handed on first.
 */
export async function* eachInAdvance<S, T>(
  list: (signal: AbortSignal) => AsyncGenerator<S, void>,
  atOnce: number,
  work: (item: S, signal: AbortSignal) => Promise<T>,
  signal?: AbortSignal,
  isMany = true,
): AsyncGenerator<T, void> {
  const part = partOf(signal)
  inherit(part.signal, signal, isBulk(signal) || isMany)
  const items = list(part.signal)
  // A generator answers those who ask it at the same time in their order.
  const next = async () => {
    const { done, value } = await items.next()
    return done ? null : { result: await work(value as S, part.signal) }
  }
  // Whether one fails counts when its turn comes.
  const begun = Array.from({ length: atOnce }, () => begin(next()))
  let isOver = false
  try {
    for (;;) {
      if (signal?.aborted) throw abortedBy(signal)
      const one = await begun.shift()
      isOver = !one
      if (!one) return
      yield one.result
      begun.push(begin(next()))
    }
  } finally {
    part.forget()
    // An error for nobody costs as much as a small proof.
    if (!isOver) part.abort()
  }
}

interface Turn<T> {
  readonly item: T
  /** Ends the wait, with this error if there is one. */
  end(error?: unknown): void
}

/**
 * Those that wait for their turns, by whose work they belong to: owners take turns, whatever each of them asks for.
 *
 * @param serve begins those that may begin. Called when one more waits, or one that others may have waited for waits no more
 */
export function createTurns<T>(serve: () => void) {
  const owners = new Map<unknown, Set<Turn<T>>>()
  let length = 0
  return {
    /** How many wait; of one owner only, if it is named. */
    length: (owner?: unknown): number => (owner === undefined ? length : (owners.get(owner)?.size ?? 0)),
    /** @param isFirst whether it goes before the others of its owner @throws EndpointError `ABORTED`; the error of `fail` */
    wait: (item: T, owner: unknown, signal: AbortSignal | undefined, isFirst = false): Promise<void> =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(abortedBy(signal))
        const turn: Turn<T> = {
          item,
          end(error) {
            forget()
            length--
            const own = owners.get(owner)
            if (own?.delete(turn) && own.size === 0) owners.delete(owner)
            return error === undefined ? resolve() : reject(error)
          },
        }
        const forget = onAbort(signal, () => {
          turn.end(signal && abortedBy(signal))
          serve()
        })
        const own = owners.get(owner) ?? new Set()
        owners.set(owner, isFirst ? new Set([turn, ...own]) : own.add(turn))
        length++
        serve()
      }),
    /** Begins the first that may begin of the owner who has waited longest. */
    next(mayBegin: (item: T) => boolean): T | undefined {
      for (const [owner, own] of owners) {
        const [turn] = own
        if (turn === undefined || !mayBegin(turn.item)) continue
        // The next turn is another owner's.
        owners.delete(owner)
        owners.set(owner, own)
        turn.end()
        return turn.item
      }
      return undefined
    },
    fail(error: unknown, isHopeless: (item: T) => boolean): void {
      for (const own of [...owners.values()]) for (const turn of own) if (isHopeless(turn.item)) turn.end(error)
    },
  }
}

/** Lets works hold `total` of something together; the others wait, in order. One that needs more holds all of it. */
export function createBudget(total: number) {
  let free = total
  const fits = (amount: number) => amount <= free
  const serve = () => {
    for (let amount = turns.next(fits); amount !== undefined; amount = turns.next(fits)) free -= amount
  }
  const turns = createTurns<number>(serve)
  /** @returns what gives it back. @throws EndpointError `ABORTED` */
  async function take(wanted: number, signal?: AbortSignal, owner = ''): Promise<() => void> {
    const amount = Math.min(wanted, total)
    await turns.wait(amount, owner, signal)
    return () => {
      free += amount
      serve()
    }
  }
  return {
    take,
    waiting: turns.length,
    get free() {
      return free
    },
    async run<T>(work: () => Promise<T>): Promise<T> {
      const release = await take(1)
      try {
        return await work()
      } finally {
        release()
      }
    },
  }
}

export const verifyTimeout = (timeoutMs: number): number => verifyWhole('timeoutMs', timeoutMs, 1, MAX_TIMEOUT)

export function isSignal(value: unknown): value is AbortSignal {
  try {
    return value instanceof AbortSignal
  } catch {
    // A proxy can throw anything.
    return false
  }
}

export function verifySignal(signal: AbortSignal | undefined): void {
  if (signal !== undefined && !isSignal(signal)) throw invalid('signal', 'an AbortSignal', signal)
}
