/**
 * Packs the package, installs it in an empty folder, and runs the corpus from there in every runtime, with WebAssembly
 * and without: `npm run test:runtimes`. It needs the npm registry, and Debian's Chromium, Firefox and WebKitGTK.
 */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { formatTable } from '../../src/cli/output/table.ts'
import { openDisplay } from '../browser/display.ts'
import { chromium, firefox, type Installed, isInstalled, webkit } from '../browser/installed.ts'
import type { Report } from './check.ts'
import { createConsumer } from './consumer.ts'
import { runInBrowser } from './start-browser.ts'
import { runInWorkerd } from './start-workerd.ts'

interface Run {
  readonly runtime: string
  readonly webAssembly: 'used' | 'loaded' | 'missing' | 'refused'
  run(folder: string): Promise<Report & { readonly version: string }>
}

const CONSOLES = [
  // The oldest supported version, then the newest of each later major version.
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

const WORKERD = '1.20261117.1'
const workerdRun = (bundled: string, webAssembly: Run['webAssembly']): Run => ({
  ...{ runtime: 'workerd', webAssembly },
  run: async folder => ({ version: WORKERD, ...(await runInWorkerd(`workerd@${WORKERD}`, folder, bundled)) }),
})
/** workerd does not compile WebAssembly from bytes, only the modules of the program. */
const workerdRuns = [workerdRun('workerd', 'loaded'), workerdRun('bundled', 'refused')]

const CHROMIUM_OPTIONS = [
  '--headless',
  // Chromium needs this to start as root, as in a container.
  '--no-sandbox',
  ...['--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
  ...['--disable-component-update', '--disable-sync'],
]
const BROWSERS: readonly (Installed & { options(profile: string): string[] })[] = [
  { ...chromium, options: profile => [...CHROMIUM_OPTIONS, `--user-data-dir=${profile}`] },
  { ...firefox, options: profile => ['--headless', '--no-remote', '--profile', profile] },
  { ...webkit, options: () => ['--private'] },
]
const PAGES = [
  { thread: 'main thread', permitted: true },
  { thread: 'main thread', permitted: false },
  { thread: 'worker', permitted: true },
  { thread: 'worker', permitted: false },
] as const

const installed = BROWSERS.filter(browser => isInstalled(browser, `${PAGES.length} runs are skipped`))
const display = installed.some(({ name }) => name === webkit.name) ? await openDisplay() : undefined
const environment = { DISPLAY: display?.name }
const browserRuns = installed.flatMap(browser => {
  const { name, executable } = browser
  return PAGES.map((page): Run => {
    return {
      runtime: `${name}, ${page.thread}`,
      webAssembly: page.permitted ? 'used' : 'refused',
      async run(folder) {
        const env = { ...process.env, ...environment }
        const { stdout } = await promisify(execFile)(executable, ['--version'], { env })
        const version = /[\d.]+/.exec(stdout)?.[0] ?? stdout
        return { version, ...(await runInBrowser({ ...browser, environment }, folder, page)) }
      },
    }
  })
})

const folder = mkdtempSync(join(tmpdir(), 'runtimes-'))
const table = [['runtime', 'version', 'WebAssembly', 'cases', 'as expected', 'seconds']]
const problems: string[] = []
try {
  const cases = await createConsumer(folder)
  for (const { runtime, webAssembly, run } of [...consoleRuns, ...workerdRuns, ...browserRuns]) {
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
  await display?.close()
  rmSync(folder, { recursive: true, force: true })
}
console.log(formatTable(table))
for (const problem of problems) console.error(problem)
process.exitCode = problems.length === 0 ? 0 : 1
