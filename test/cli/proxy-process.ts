import { type ChildProcess, spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { createInterface } from 'node:readline'

/** A line of what the proxy says with `--json`. */
export interface ProxyEvent {
  readonly event: string
  readonly url?: string
  readonly trust?: string
  readonly timestamp?: string | null
  readonly blockNumber?: string
}

/** A proxy in a process of its own. */
export interface ProxyProcess {
  readonly program: ChildProcess
  readonly url: string
  /** What it has said, line by line. */
  readonly events: ProxyEvent[]
  /** Waits for an event that is not there yet. */
  until(matches: (event: ProxyEvent) => boolean): Promise<ProxyEvent>
  /** Waits for its end, after a signal if one is given. @returns the exit code */
  end(signal?: NodeJS.Signals): Promise<unknown>
}

/**
 * Starts the command, and waits until it listens.
 *
 * @param node what Node is to run: the program, or how to run it from its source
 * @param onStart told of the process at once, so that it ends whatever happens
 */
export async function startProxyProcess(
  node: readonly string[],
  args: readonly string[],
  onStart: (program: ChildProcess) => void,
): Promise<ProxyProcess> {
  const all = [...node, 'proxy', '--json', '--refresh', '1', ...args]
  const program = spawn(process.execPath, all, { stdio: ['ignore', 'pipe', 'inherit'] })
  onStart(program)
  const ended = once(program, 'close')
  const events: ProxyEvent[] = []
  const changes = new EventEmitter()
  createInterface({ input: program.stdout }).on('line', line => {
    events.push(JSON.parse(line))
    changes.emit('line')
  })
  async function until(matches: (event: ProxyEvent) => boolean) {
    for (;;) {
      const found = events.find(matches)
      if (found) return found
      await Promise.race([once(changes, 'line'), ended.then(() => Promise.reject(new Error('it has ended')))])
    }
  }
  const { url } = await until(({ event }) => event === 'listening')
  return {
    ...{ program, url: String(url), events, until },
    async end(signal) {
      if (signal) program.kill(signal)
      const [code] = await ended
      return code
    },
  }
}
