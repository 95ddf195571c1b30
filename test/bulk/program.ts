import { type ChildProcess, spawn } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll } from 'vitest'

/**
 * The program as JavaScript, laid out as in the package: workers cannot load the sources. Below `node_modules`, so that it
 * finds its dependencies.
 */
export function buildProgram(): { path: () => string } {
  let folder = ''
  beforeAll(async () => {
    mkdirSync('node_modules/.cache', { recursive: true })
    folder = resolve(mkdtempSync('node_modules/.cache/program-'))
    copyFileSync('package.json', join(folder, 'package.json'))
    await build({
      entryPoints: ['src/cli/main.ts', 'src/bulk/worker.ts'],
      outdir: join(folder, 'dist/cli'),
      entryNames: '[name]',
      chunkNames: '[name]-[hash]',
      ...{ bundle: true, splitting: true, platform: 'node', format: 'esm', packages: 'external', logLevel: 'error' },
    })
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return { path: () => join(folder, 'dist/cli/main.js') }
}

export interface Finished {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs it in a process of its own. `started` gets the process. */
export function runProgram(
  path: string,
  args: readonly string[],
  { stdin, started }: { stdin?: Uint8Array; started?: (child: ChildProcess) => void } = {},
): Promise<Finished> {
  const child = spawn(process.execPath, [path, ...args], { stdio: ['pipe', 'pipe', 'pipe'] })
  started?.(child)
  const [stdout, stderr]: Buffer[][] = [[], []]
  child.stdout.on('data', chunk => stdout?.push(chunk))
  child.stderr.on('data', chunk => stderr?.push(chunk))
  // It may end without having read everything.
  child.stdin.on('error', () => {})
  child.stdin.end(stdin)
  const textOf = (chunks: Buffer[] = []) => Buffer.concat(chunks).toString()
  return new Promise(done => child.on('close', code => done({ code, stdout: textOf(stdout), stderr: textOf(stderr) })))
}
