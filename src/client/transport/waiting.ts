import { abortedBy, EndpointError } from './error.ts'
import { FEW } from './limits.ts'
import { inherit, isBulk, onAbort, partOf } from './whose.ts'

/** @throws EndpointError `ABORTED` */
export function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(abortedBy(signal))
    const timer = setTimeout(() => {
      forget()
      resolve()
    }, milliseconds)
    const forget = onAbort(signal, () => {
      clearTimeout(timer)
      reject(abortedBy(signal))
    })
  })
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
  if (whole?.aborted) throw abortedBy(whole)
  let end = () => {}
  try {
    return await new Promise((resolve, reject) => {
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
    end()
  }
}

/** So that a silent source does not hold up the others. @throws EndpointError `TIMEOUT`, `ABORTED` */
export const inTime = <T>(
  timeout: number,
  work: (signal: AbortSignal) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> => scoped(signal, own => work(own.signal), timeout)

/** Runs `work`, unless the signal is aborted, and stops waiting for it when that happens. */
export const orAbort = async <T>(work: () => Promise<T> | T, signal: AbortSignal | undefined): Promise<T> =>
  signal === undefined ? work() : scoped(signal, async () => work())

/** Work under way, and how many wait for it. */
interface Flight {
  readonly answer: Promise<unknown>
  readonly ending: AbortController
  waiting: number
}

/**
 * Works that all share who ask for the same at the same time. One that nobody waits for any more is aborted, unless what it fetches
 * is kept: then it ends all the same if it takes longer than each of them waits.
 *
 * @param most how many may go on without anybody who waits
 * @param over ends these. Without it, nobody could end them, and none goes on
 */
export function createFlights<Key>(most = 0, over?: AbortSignal) {
  const flights = new Map<Key, Flight>()
  const late = new Set<Flight>()
  function begin(key: Key, signal: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<unknown>): Flight {
    const ending = new AbortController()
    inherit(ending.signal, signal)
    const flight: Flight = { answer: work(ending.signal), ending, waiting: 0 }
    flights.set(key, flight)
    const forgetOver = onAbort(over, () => late.has(flight) && ending.abort(over?.reason))
    const end = () => {
      forgetOver()
      late.delete(flight)
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
      late.delete(flight)
      try {
        return (await orAbort(() => flight.answer, signal)) as T
      } finally {
        if (--flight.waiting === 0 && flights.get(key) === flight) {
          if (over?.aborted === false && late.size < most) late.add(flight)
          else {
            flights.delete(key)
            flight.ending.abort(signal?.reason)
          }
        }
      }
    },
  }
}

/** The results of `count` works in order. More than a few are bulk: what others ask one by one goes first. */
export const inAdvance = <T>(
  count: number,
  atOnce: number,
  begin: (index: number, signal: AbortSignal) => Promise<T>,
  signal?: AbortSignal,
): AsyncGenerator<T, void> => {
  async function* indices() {
    for (let index = 0; index < count; index++) yield index
  }
  return eachInAdvance(indices, atOnce, begin, signal, count > FEW)
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
  const pull = () =>
    items.next().then(
      ({ done, value }): Pulled<S> => (done ? { failure: undefined } : { item: value as S }),
      (error: unknown): Pulled<S> => ({ failure: { error } }),
    )
  const begun: Promise<T>[] = []
  let pulling: ReturnType<typeof pull> | null = pull()
  let failure: { readonly error: unknown } | undefined
  try {
    while (pulling !== null || begun.length > 0) {
      if (signal?.aborted) throw abortedBy(signal)
      const [head] = begun
      const isDone = head?.then(toNull, toNull)
      // Whichever is first: the next item, or what becomes of the oldest one.
      const next = begun.length < atOnce && pulling ? await Promise.race(isDone ? [isDone, pulling] : [pulling]) : null
      if (next === null) {
        // There is one: without any, the next item is waited for.
        yield (await head) as T
        begun.shift()
      } else if ('item' in next) {
        // Whether it fails counts when its turn comes.
        begun.push(begin(work(next.item, part.signal)))
        pulling = pull()
      } else {
        failure = next.failure
        pulling = null
      }
    }
    if (failure !== undefined) throw failure.error
  } finally {
    part.forget()
    // An error for nobody costs as much as a small proof.
    if (pulling !== null || begun.length > 0) part.abort()
  }
}
const toNull = () => null
/** An item, or that there is no further one. */
type Pulled<S> = { readonly item: S } | { readonly failure: { readonly error: unknown } | undefined }

export type Budget = ReturnType<typeof createBudget>

interface Waiting {
  readonly amount: number
  readonly begin: () => void
}

/** Lets works hold `total` of something together; the others wait, in order. One that needs more holds all of it. */
export function createBudget(total: number) {
  /** By owner: they take turns. */
  const waiting = new Map<string, Waiting[]>()
  let free = total
  const serve = () => {
    for (let [first] = waiting; first !== undefined && (first[1][0]?.amount ?? 0) <= free; [first] = waiting) {
      const [owner, [next, ...others]] = first
      waiting.delete(owner)
      if (others.length > 0) waiting.set(owner, others)
      free -= next?.amount ?? 0
      next?.begin()
    }
  }
  /** @returns what gives it back. @throws EndpointError `ABORTED` */
  function take(wanted: number, signal?: AbortSignal, owner = ''): Promise<() => void> {
    const amount = Math.min(wanted, total)
    return new Promise((resolve, reject) => {
      const end = () => {
        const others = (waiting.get(owner) ?? []).filter(one => one !== turn)
        if (others.length > 0) waiting.set(owner, others)
        else waiting.delete(owner)
        if (signal) reject(abortedBy(signal))
        serve()
      }
      const begin = () => {
        forget()
        resolve(() => {
          free += amount
          serve()
        })
      }
      const turn = { amount, begin }
      waiting.set(owner, [...(waiting.get(owner) ?? []), turn])
      if (signal?.aborted) return end()
      const forget = onAbort(signal, end)
      serve()
    })
  }
  return {
    take,
    /** How many wait; of one owner only, if it is named. */
    waiting: (owner?: string): number =>
      [...waiting].reduce((sum, [own, { length }]) => (owner === undefined || own === owner ? sum + length : sum), 0),
    get free() {
      return free
    },
    async run<T>(work: () => Promise<T>, owner?: string): Promise<T> {
      const release = await take(1, undefined, owner)
      try {
        return await work()
      } finally {
        release()
      }
    },
  }
}
