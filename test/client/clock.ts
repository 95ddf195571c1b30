import { onTestFinished, vi } from 'vitest'
import type { Clock } from '../../src/client/transport/queue.ts'
import { EndpointError } from '../../src/entry/rpc.ts'

/** For a test without a network: whenever nothing but time is waited for, it has passed. */
export function skipTime(): void {
  vi.useFakeTimers()
  vi.setTimerTickMode('nextTimerAsync')
  onTestFinished(() => void vi.useRealTimers())
}

/** A clock that stands still until it is run. */
export interface FakeClock extends Clock {
  sleep(milliseconds: number): Promise<void>
  /** Lets time pass until `until` has settled. @throws if nothing more will happen */
  run<T>(until: Promise<T>): Promise<T>
}

const settled = () => new Promise<void>(resolve => setImmediate(resolve))

export function createClock(): FakeClock {
  let [time, count] = [0, 0]
  const timers = new Map<number, { readonly at: number; readonly work: () => void }>()
  const clock: FakeClock = {
    now: () => time,
    random: () => 0.5,
    after(milliseconds, work) {
      const id = count++
      timers.set(id, { at: time + milliseconds, work })
      return () => void timers.delete(id)
    },
    sleep: milliseconds => new Promise(resolve => clock.after(milliseconds, resolve)),
    async run(until) {
      let isOver = false
      const end = () => {
        isOver = true
      }
      until.then(end, end)
      for (;;) {
        await settled()
        if (isOver) return until
        const [first] = [...timers].sort(([, a], [, b]) => a.at - b.at)
        if (first === undefined) throw new Error('nothing more will happen')
        const [id, { at, work }] = first
        timers.delete(id)
        time = Math.max(time, at)
        work()
      }
    },
  }
  return clock
}

/** Says whether a request may pass now. */
export type Limiter = (now: number) => boolean

/** Holds `burst` tokens, and gets `perSecond` new ones. */
export function tokenBucket(perSecond: number, burst = perSecond): Limiter {
  let [tokens, at] = [burst, 0]
  return now => {
    tokens = Math.min(burst, tokens + ((now - at) * perSecond) / 1000)
    at = now
    if (tokens < 1) return false
    tokens--
    return true
  }
}

/** At most `count` in any span of so many milliseconds. */
export function slidingWindow(count: number, span = 1000): Limiter {
  let passed: number[] = []
  return now => {
    passed = passed.filter(at => at > now - span)
    if (passed.length >= count) return false
    passed.push(now)
    return true
  }
}

/** At most `count` in each span of so many milliseconds, counted from its beginning. */
export function fixedWindow(count: number, span = 1000): Limiter {
  let [window, passed] = [-1, 0]
  return now => {
    const own = Math.floor(now / span)
    if (own !== window) [window, passed] = [own, 0]
    return passed++ < count
  }
}

/** No two closer to each other than this rate, as proxies have it. */
export function spaced(perSecond: number): Limiter {
  let next = 0
  return now => {
    if (now < next) return false
    next = now + 1000 / perSecond
    return true
  }
}

/** An endpoint with a latency and a limit. It counts. */
export function limitedEndpoint(
  clock: FakeClock,
  latency: number,
  limiter: Limiter,
  retryAfterMs?: () => number | undefined,
) {
  const counts = { asked: 0, refused: 0, active: 0, most: 0 }
  const refusedAt: number[] = []
  return {
    counts,
    refusedAt,
    async send(): Promise<number> {
      counts.asked++
      counts.most = Math.max(counts.most, ++counts.active)
      await clock.sleep(latency / 2)
      const mayPass = limiter(clock.now())
      await clock.sleep(latency / 2)
      counts.active--
      if (mayPass) return clock.now()
      counts.refused++
      refusedAt.push(clock.now())
      throw new EndpointError('RATE_LIMITED', { status: 429, retryAfterMs: retryAfterMs?.() })
    },
  }
}
