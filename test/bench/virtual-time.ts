/** Simulated time for a bench: whenever nothing but time is waited for, it has passed. */

interface Timer {
  readonly at: number
  readonly work: () => void
}

/** Runs `work` in simulated time. @returns what it returns, and the simulated seconds that it took */
export async function inVirtualTime<T>(work: () => Promise<T>): Promise<{ value: T; seconds: number }> {
  const real = { setTimeout, clearTimeout, performanceNow: performance.now, dateNow: Date.now }
  const timers = new Map<number, Timer>()
  let [now, count] = [1_000_000, 0]
  const later = (run: (...args: unknown[]) => void, delay = 0, ...args: unknown[]) => {
    timers.set(++count, { at: now + Math.max(0, delay), work: () => run(...args) })
    return count
  }
  const never = (id: number) => void timers.delete(id)
  Object.assign(globalThis, { setTimeout: later, clearTimeout: never })
  performance.now = () => now
  Date.now = () => now
  try {
    let isOver = false
    const end = () => {
      isOver = true
    }
    const working = work()
    working.then(end, end)
    for (;;) {
      // Whatever follows from the last timer happens first.
      for (let round = 0; round < 3; round++) await new Promise<void>(resolve => setImmediate(resolve))
      if (isOver) return { value: await working, seconds: (now - 1_000_000) / 1000 }
      let first: number | undefined
      for (const [id, { at }] of timers) if (first === undefined || at < (timers.get(first)?.at ?? 0)) first = id
      const timer = first === undefined ? undefined : timers.get(first)
      if (first === undefined || timer === undefined) throw new Error('nothing more will happen')
      now = Math.max(now, timer.at)
      // All that are due, in their order.
      const due = [...timers].filter(([, { at }]) => at <= now).sort(([, a], [, b]) => a.at - b.at)
      for (const [id, { work: run }] of due) if (timers.delete(id)) run()
    }
  } finally {
    Object.assign(globalThis, { setTimeout: real.setTimeout, clearTimeout: real.clearTimeout })
    performance.now = real.performanceNow
    Date.now = real.dateNow
  }
}
