import { type ChildProcess, spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { createInterface } from 'node:readline'

/** A line that the proxy prints with `--json`. */
export interface ProxyEvent {
  readonly event: string
  readonly url?: string
  readonly trust?: string
  readonly message?: string
  readonly timestamp?: string
  readonly l2BlockNumber?: string
}

/** A proxy in a separate process. */
export interface ProxyProcess {
  readonly program: ChildProcess
  readonly url: string
  /** The lines printed so far. */
  readonly events: ProxyEvent[]
  /** Waits until a matching event has been printed. */
  until(matches: (event: ProxyEvent) => boolean): Promise<ProxyEvent>
  /** Sends the signal, if given, and waits for the process to end. @returns the exit code */
  end(signal?: NodeJS.Signals): Promise<unknown>
}

/**
 * Starts the command, and waits until it listens.
 *
 * @param node the arguments for Node that run the program, built or from source
 * @param onStart receives the process at once, so that the caller can end it in any case
 */
export async function startProxyProcess(
  node: readonly string[],
  args: readonly string[],
  onStart: (program: ChildProcess) => void,
): Promise<ProxyProcess> {
  // No machine is too slow for an answer.
  const all = [...node, 'proxy', '--json', '--refresh', '1', '--timeout', '86400', ...args]
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
