import { rmSync } from 'node:fs'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
type Signal = (typeof SIGNALS)[number]

let caught: Signal | undefined

/** The signal that made a command stop by itself; undefined if there was none. */
export const caughtSignal = (): Signal | undefined => caught

/** Runs `work` with a signal that the first Ctrl-C aborts. The second one ends the process. */
export async function untilSignal<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const end = (name: Signal) => {
    caught = name
    controller.abort()
  }
  for (const name of SIGNALS) process.once(name, end)
  try {
    return await work(controller.signal)
  } finally {
    for (const name of SIGNALS) process.off(name, end)
  }
}

/** Ends the process as the signal would have: a shell that runs it in a loop ends the loop, too. */
export function endBy(name: Signal): void {
  process.removeAllListeners(name)
  process.kill(process.pid, name)
}

const temporaries = new Set<string>()

/** Removes this file if the process ends before {@link forgetTemporary}, unless it is killed without notice. */
export function keepTemporary(path: string): void {
  if (!isWatching) watch()
  temporaries.add(path)
}

export function forgetTemporary(path: string): void {
  rmSync(path, { force: true })
  temporaries.delete(path)
}

let isWatching = false

/** Goes on for the rest of the process: a signal that arrives while a file is written is delivered only afterwards. */
function watch(): void {
  isWatching = true
  const removeAll = () => {
    for (const path of temporaries) forgetTemporary(path)
  }
  process.on('exit', removeAll)
  for (const name of SIGNALS) {
    // First, because the other listeners remove themselves.
    process.prependListener(name, () => {
      // A command that ends by itself, as with `untilSignal`, has a listener of its own.
      if (process.listenerCount(name) > 1) return
      removeAll()
      endBy(name)
    })
  }
}
