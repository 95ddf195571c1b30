import { abortedBy, EndpointError } from './error.ts'
import { FEW } from './limits.ts'
import { inherit, isBulk, partOf } from './whose.ts'

/** @throws EndpointError `ABORTED` */
export function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer)
      reject(abortedBy(signal))
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', end)
      resolve()
    }, milliseconds)
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
  })
}

/**
 * Runs `work` with a time limit, so that a silent source does not hold up the others.
 *
 * @param timeout in milliseconds
 * @param work may end early when its signal is aborted
 * @param signal ends it early
 * @throws EndpointError `TIMEOUT`, `ABORTED`
 */
export async function inTime<T>(
  timeout: number,
  work: (signal: AbortSignal) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  let stop: (error: EndpointError) => void = () => {}
  const late = new Promise<never>((_, reject) => {
    stop = reject
  })
  const part = partOf(signal, () => signal && stop(abortedBy(signal)))
  const timer = setTimeout(() => {
    stop(new EndpointError('TIMEOUT'))
    part.abort()
  }, timeout)
  try {
    return await Promise.race([late, work(part.signal)])
  } finally {
    clearTimeout(timer)
    part.forget()
  }
}

/** Runs parts of a work, each with a signal of its own, because Node warns of many listeners to one. `end` aborts those that run. */
function createParts(signal: AbortSignal | undefined, isMany: boolean) {
  const running = new Set<AbortController>()
  const abort = () => {
    for (const one of running) one.abort(signal?.reason)
  }
  signal?.addEventListener('abort', abort, { once: true })
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
      signal?.removeEventListener('abort', abort)
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

/** Lets `count` works run at once; the others wait for their turn, in order. */
export function createSemaphore(count: number) {
  /** By owner: those who wait take turns. */
  const waiting = new Map<string, (() => void)[]>()
  let free = count
  function next(): (() => void) | undefined {
    for (const [owner, [first, ...others]] of waiting) {
      waiting.delete(owner)
      if (others.length > 0) waiting.set(owner, others)
      return first
    }
    return undefined
  }
  return {
    /** How many works wait; of one owner only, if it is named. */
    waiting: (owner?: string): number =>
      (owner === undefined ? [...waiting.values()] : [waiting.get(owner) ?? []]).reduce(
        (sum, { length }) => sum + length,
        0,
      ),
    /** How many may still start at once. */
    get free() {
      return free
    },
    async run<T>(work: () => Promise<T>, owner = ''): Promise<T> {
      if (free > 0) free--
      else await new Promise<void>(resolve => waiting.set(owner, [...(waiting.get(owner) ?? []), resolve]))
      try {
        return await work()
      } finally {
        const begin = next()
        if (begin === undefined) free++
        else begin()
      }
    },
  }
}

export type Budget = ReturnType<typeof createBudget>

/** Lets works hold `total` of something together; the others wait, in order. One that needs more holds all of it. */
export function createBudget(total: number) {
  const waiting: { readonly amount: number; readonly begin: () => void }[] = []
  let free = total
  const serve = () => {
    for (let next = waiting[0]; next !== undefined && next.amount <= free; next = waiting[0]) {
      waiting.shift()
      free -= next.amount
      next.begin()
    }
  }
  return {
    /** @returns what gives it back. @throws EndpointError `ABORTED` */
    take(wanted: number, signal: AbortSignal): Promise<() => void> {
      const amount = Math.min(wanted, total)
      return new Promise((resolve, reject) => {
        const end = () => {
          waiting.splice(waiting.indexOf(turn), 1)
          reject(abortedBy(signal))
          serve()
        }
        const begin = () => {
          signal.removeEventListener('abort', end)
          resolve(() => {
            free += amount
            serve()
          })
        }
        const turn = { amount, begin }
        waiting.push(turn)
        if (signal.aborted) return end()
        signal.addEventListener('abort', end, { once: true })
        serve()
      })
    },
  }
}
