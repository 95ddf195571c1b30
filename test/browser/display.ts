import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** A virtual display for browsers without a headless mode. */
export interface Display {
  /** The value of `DISPLAY`. */
  readonly name: string
  close(): Promise<void>
}

export async function openDisplay(): Promise<Display> {
  const options = ['-displayfd', '3', '-nolisten', 'tcp', '-screen', '0', '1400x2200x24']
  const server = spawn('Xvfb', options, { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] })
  const [number] = await Promise.race([once(server.stdio[3] ?? server, 'data'), failureOf(server)])
  return {
    name: `:${String(number).trim()}`,
    async close() {
      server.kill()
      if (server.exitCode === null) await once(server, 'exit')
    },
  }
}

async function failureOf(server: ReturnType<typeof spawn>): Promise<never> {
  const [code] = await once(server, 'exit')
  throw new Error(`Xvfb ended with ${code}`)
}
