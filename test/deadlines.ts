import { onTestFinished, vi } from 'vitest'

/** In milliseconds: no machine gets there. The test says when it is over. */
export const DEADLINE = 86_400_000

/** Holds the timers of deadlines. @returns ends all that run */
export function holdDeadlines(): () => void {
  const due: (() => void)[] = []
  const { setTimeout: start } = globalThis
  vi.stubGlobal('setTimeout', (work: () => void, milliseconds?: number) => {
    if (milliseconds !== DEADLINE) return start(work, milliseconds)
    due.push(work)
    return start(() => {}, DEADLINE)
  })
  onTestFinished(() => void vi.unstubAllGlobals())
  return () => {
    for (const end of due.splice(0)) end()
  }
}

/**
 * What the work comes to, which goes on while timers fire, until `end` ends it: if none fires, this does not end. From then on, `end`
 * is called at every turn: the work may still load a module before it has a deadline.
 */
export async function endingAfter<T>(turns: number, end: () => void, work: () => Promise<T>): Promise<T> {
  const timer = setInterval(() => {
    if (turns-- <= 0) end()
  })
  try {
    return await work()
  } finally {
    clearInterval(timer)
  }
}
