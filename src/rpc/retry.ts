import { RpcError } from './error.ts'

const FIRST_WAIT = 250

/** What {@link retry} makes of an attempt: its outcome, or how long it was told to wait before the next one. */
export type Attempt<T> =
  | { readonly outcome: T }
  | {
      /** Milliseconds; undefined when nobody said. */
      readonly wait: number | undefined
    }

/**
 * Makes attempts until one has an outcome. Waits as long as an attempt says, otherwise backs off exponentially.
 *
 * @param attempt makes one
 * @param maxRetries how many attempts may follow the first
 * @param deadline when all of it must be over, as `Date.now()` counts: a wait that would pass it is not begun
 * @param signal ends a wait
 * @returns undefined when no attempt had an outcome
 */
export async function retry<T>(
  attempt: () => Promise<Attempt<T>>,
  maxRetries: number,
  deadline: number,
  signal: AbortSignal,
): Promise<{ outcome: T } | undefined> {
  for (let retries = 0; ; retries++) {
    const made = await attempt()
    if ('outcome' in made) return made
    const wait = made.wait ?? FIRST_WAIT * 2 ** retries * (1 + Math.random())
    if (retries >= maxRetries || Date.now() + wait >= deadline) return undefined
    await sleep(wait, signal)
  }
}

export function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer)
      reject(signal.reason)
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
 * What `work` gives, unless it takes longer: a source that stays silent must not hold up the others.
 *
 * @param timeout in milliseconds
 * @param work may end early when its signal says so
 * @throws RpcError `TIMEOUT`
 */
export async function inTime<T>(timeout: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new RpcError('TIMEOUT'))
      controller.abort()
    }, timeout)
  })
  try {
    return await Promise.race([work(controller.signal), late])
  } finally {
    clearTimeout(timer)
  }
}
