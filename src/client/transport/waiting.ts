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

/** A piece of work that can be ended from within. */
export interface Scope {
  /** Aborted with the work as a whole, or when something stops it. */
  readonly signal: AbortSignal
  /** Ends the work with this error, whatever its parts make of it. @returns the error, to throw it as well */
  stop(error: unknown): unknown
}

/**
 * Runs `work`. When it is stopped, when the time is over or when `whole` is aborted, nobody waits for it any longer.
 *
 * @param timeoutMs default: no limit
 * @throws what stops it; EndpointError `TIMEOUT`, `ABORTED`
 */
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

/**
 * Runs `work` with a time limit, so that a silent source does not hold up the others.
 *
 * @param timeout in milliseconds
 * @param work may end early when its signal is aborted
 * @param signal ends it early
 * @throws EndpointError `TIMEOUT`, `ABORTED`
 */
export const inTime = <T>(
  timeout: number,
  work: (signal: AbortSignal) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> => scoped(signal, own => work(own.signal), timeout)

/** Runs `work`, unless the signal is aborted, and stops waiting for it when that happens. */
export const orAbort = async <T>(work: () => Promise<T> | T, signal: AbortSignal | undefined): Promise<T> =>
  signal === undefined ? work() : scoped(signal, async () => work())

/**
 * Lets works go on that nobody waits for any more, because what they fetch is kept: so one that takes longer than each wait ends all
 * the same. Whoever asks for the same meanwhile waits for it.
 *
 * @param most how many of them may go on. Further ones are aborted
 * @param over ends them all. Without it, nobody could end them, and none goes on
 */
export function createStragglers<Key>(most: number, over?: AbortSignal) {
  const late = new Map<Key, Promise<unknown>>()
  return async <T>(key: Key, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    if (signal.aborted) throw abortedBy(signal)
    // What has the same key is the same work.
    const running = late.get(key) as Promise<T> | undefined
    if (running !== undefined) return orAbort(() => running, signal)
    const own = new AbortController()
    inherit(own.signal, signal)
    const working = work(own.signal).finally(() => {
      for (const forget of forgets) forget()
      if (late.get(key) === working) late.delete(key)
    })
    const forgets = [
      onAbort(signal, () => {
        if (over?.aborted === false && late.size < most && !late.has(key)) late.set(key, working)
        else own.abort(signal.reason)
      }),
      onAbort(over, () => late.get(key) === working && own.abort(over?.reason)),
    ]
    return orAbort(() => working, signal)
  }
}

/** Runs parts of a work, each with a signal of its own, because Node warns of many listeners to one. `end` aborts those that run. */
export function createParts(signal: AbortSignal | undefined, isMany: boolean) {
  const running = new Set<AbortController>()
  const abort = () => {
    for (const one of running) one.abort(signal?.reason)
  }
  const forget = onAbort(signal, abort)
  return {
    start<T>(begin: (signal: AbortSignal) => Promise<T>): Promise<T> {
      if (signal?.aborted) throw abortedBy(signal)
      const own = new AbortController()
      inherit(own.signal, signal, isBulk(signal) || isMany)
      running.add(own)
      const work = begin(own.signal).finally(() => running.delete(own))
      // Whether it fails counts when its turn comes.
      work.catch(() => {})
      return work
    },
    end(): void {
      forget()
      abort()
    },
  }
}

/**
 * The results of `count` works in order, of which up to `atOnce` have begun at any time. When one of them fails, or nobody wants
 * further results, the others are aborted. More than a few are bulk: what others ask one by one goes first.
 *
 * @throws what the first of them throws, in order; EndpointError `ABORTED`
 */
export async function* inAdvance<T>(
  count: number,
  atOnce: number,
  begin: (index: number, signal: AbortSignal) => Promise<T>,
  signal?: AbortSignal,
): AsyncGenerator<T, void> {
  const { start, end } = createParts(signal, count > FEW)
  const begun: Promise<T>[] = []
  try {
    for (let index = 0; index < count; ) {
      const next = index++
      begun.push(start(own => begin(next, own)))
      while (begun.length >= (index < count ? atOnce : 1)) yield await (begun.shift() as Promise<T>)
    }
  } finally {
    end()
  }
}

/**
 * What becomes of each of the items that `list` yields, in order, as {@link inAdvance}. What is done before one of them, or `list`,
 * fails is handed on first.
 *
 * @throws what the first of them throws, in order; EndpointError `ABORTED`
 */
export async function* eachInAdvance<S, T>(
  list: (signal: AbortSignal) => AsyncGenerator<S, void>,
  atOnce: number,
  begin: (item: S, signal: AbortSignal) => Promise<T>,
  signal?: AbortSignal,
): AsyncGenerator<T, void> {
  const [{ start, end }, listing] = [createParts(signal, true), partOf(signal)]
  const items = list(listing.signal)
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
      const [head] = begun
      const isDone = head?.then(toNull, toNull)
      // Whichever is first: the next item, or what becomes of the oldest one.
      const next = begun.length < atOnce && pulling ? await Promise.race(isDone ? [isDone, pulling] : [pulling]) : null
      if (next === null) {
        // There is one: without any, the next item is waited for.
        yield (await head) as T
        begun.shift()
      } else if ('item' in next) {
        begun.push(start(own => begin(next.item, own)))
        pulling = pull()
      } else {
        failure = next.failure
        pulling = null
      }
    }
    if (failure !== undefined) throw failure.error
  } finally {
    listing.forget()
    listing.abort()
    end()
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
    /** Runs `work` once it holds one of them. */
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
