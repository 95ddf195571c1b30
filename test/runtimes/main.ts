/**
 * Packs the package, installs it in an empty folder, and runs the corpus from there in every runtime, with WebAssembly
 * and without: `npm run test:runtimes`. It needs the npm registry, for the runtimes, and a Chromium.
 */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { formatTable } from '../../src/cli/report.ts'
import type { Report } from './check.ts'
import { runInChromium } from './chromium.ts'
import { createConsumer } from './consumer.ts'

interface Run {
  readonly runtime: string
  readonly webAssembly: 'used' | 'missing' | 'refused'
  run(folder: string): Promise<Report & { readonly version: string }>
}

const CONSOLES = [
  // The oldest that package.json promises; then the newest of each later line.
  { runtime: 'Node 20', npm: 'node@20.19.0', command: ['node'] },
  { runtime: 'Node 22', npm: 'node@22', command: ['node'] },
  { runtime: 'Node 24', npm: 'node@24', command: ['node'] },
  { runtime: 'Bun', npm: 'bun@1.4.5', command: ['bun'] },
  { runtime: 'Deno', npm: 'deno@2.9.6', command: ['deno', 'run', '--allow-read=corpus.json'] },
]

const consoleRuns = CONSOLES.flatMap(({ runtime, npm, command }): Run[] => {
  const run = async (cwd: string, ...more: string[]) => {
    const words = ['--yes', '--loglevel=error', '-p', npm, ...command, 'console.js', ...more]
    const { stdout } = await promisify(execFile)('npx', words, { cwd, timeout: 180_000 })
    return JSON.parse(stdout)
  }
  return [
    { runtime, webAssembly: 'used', run: folder => run(folder) },
    { runtime, webAssembly: 'missing', run: folder => run(folder, '--without-webassembly') },
  ]
})

const { CHROMIUM = 'chromium' } = process.env
const pages = [
  { thread: 'main thread', permitted: true },
  { thread: 'main thread', permitted: false },
  { thread: 'worker', permitted: true },
  { thread: 'worker', permitted: false },
] as const
const browserRuns = pages.map((page): Run => {
  return {
    runtime: `Chromium, ${page.thread}`,
    webAssembly: page.permitted ? 'used' : 'refused',
    async run(folder) {
      const { stdout } = await promisify(execFile)(CHROMIUM, ['--version'])
      return { version: /[\d.]+/.exec(stdout)?.[0] ?? stdout, ...(await runInChromium(CHROMIUM, folder, page)) }
    },
  }
})

const folder = mkdtempSync(join(tmpdir(), 'runtimes-'))
const table = [['runtime', 'version', 'WebAssembly', 'cases', 'as expected', 'seconds']]
const problems: string[] = []
try {
  const cases = await createConsumer(folder)
  for (const { runtime, webAssembly, run } of [...consoleRuns, ...browserRuns]) {
    const where = `${runtime}, WebAssembly ${webAssembly}`
    try {
      const report = await run(folder)
      table.push([
        ...[runtime, report.version, report.webAssembly],
        ...[`${report.cases}`, `${report.asExpected}`, report.seconds.toFixed(1)],
      ])
      problems.push(...report.mismatches.map(mismatch => `${where}: ${mismatch}`))
      if (report.webAssembly !== webAssembly) problems.push(`${where}: WebAssembly was ${report.webAssembly}`)
      if (report.asExpected !== cases) problems.push(`${where}: ${report.asExpected} of ${cases} cases as expected`)
    } catch (error) {
      table.push([runtime, '', webAssembly, '', 'did not run', ''])
      problems.push(`${where}: it did not run. ${error}`)
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
console.log(formatTable(table))
for (const problem of problems) console.error(problem)
process.exitCode = problems.length === 0 ? 0 : 1
