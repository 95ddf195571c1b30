import { type ChildProcess, spawn } from 'node:child_process'
import { PROGRAM } from '../../package/build.ts'

export interface Finished {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs the program in a separate process. `started` receives the process. */
export function runProgram(
  args: readonly string[],
  { stdin, started }: { stdin?: Uint8Array; started?: (child: ChildProcess) => void } = {},
): Promise<Finished> {
  const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ['pipe', 'pipe', 'pipe'] })
  started?.(child)
  const [stdout, stderr]: Buffer[][] = [[], []]
  child.stdout.on('data', chunk => stdout?.push(chunk))
  child.stderr.on('data', chunk => stderr?.push(chunk))
  // The program may exit before it has read all input.
  child.stdin.on('error', () => {})
  child.stdin.end(stdin)
  const textOf = (chunks: Buffer[] = []) => Buffer.concat(chunks).toString()
  return new Promise(done => child.on('close', code => done({ code, stdout: textOf(stdout), stderr: textOf(stderr) })))
}
