/**
 * `npm run test:promises`: breaks each promise of the threat model on purpose, and expects the test that is named for it to fail.
 * With `-- --write`, writes the lists of `test/promises.md` instead. With `--whole`, breaks nothing, and expects all to pass.
 * Other arguments select promises by parts of their tests and titles.
 */
import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PROMISES, type Promised } from './promises/promises.ts'

const isWhole = process.argv.includes('--whole')
/** For one test, on a machine with other work. */
const MOST_MS = 180_000
const KILLED = 'killed'
const DOCUMENT = 'test/promises.md'

/** The lists in the document: each promise with its tests, by heading. */
export const listPromises = (): string =>
  Object.entries(PROMISES)
    .map(([heading, promises]) => {
      const lines = [...new Set(promises.map(({ promise }) => promise))].map(each => {
        const tests = new Set(promises.filter(({ promise }) => promise === each).map(({ test }) => test))
        return `- ${each} (${[...tests].map(test => `[${test}](${test}.test.ts)`).join(', ')})`
      })
      return `## ${heading}\n\n${lines.join('\n')}\n`
    })
    .join('\n')

/** What stands before the lists. */
export const HEAD = /^.*?(?=^## )/ms

/** Copies the source and the tests, so that what is broken is not what anybody works on. */
function makeCopy(): string {
  const folder = mkdtempSync(join(tmpdir(), 'promises-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  for (const entry of readdirSync('.')) {
    // What names or imports files of the source has to mean the copy.
    if (/^(src|test|vectors)$|\.[a-z]+$/.test(entry)) cpSync(entry, join(folder, entry), { recursive: true })
    else if (!/^(\.|dist$|coverage$|reports$|site$)/.test(entry)) symlinkSync(resolve(entry), join(folder, entry))
  }
  return folder
}

/** What is wrong with the row; undefined if the test fails without what it is named for. */
async function problemOf(folder: string, { test, title, broken }: Promised): Promise<string | undefined> {
  const [file, from, to] = broken
  const text = readFileSync(file, 'utf8')
  const count = text.split(from).length - 1
  if (count !== 1) return `what is to be changed occurs ${count} times in ${file}`
  writeFileSync(join(folder, file), isWhole ? text : text.replace(from, () => to))
  try {
    return await runTest(folder, test, title)
  } finally {
    writeFileSync(join(folder, file), text)
  }
}

async function runTest(cwd: string, test: string, title: string): Promise<string | undefined> {
  const pattern = title
    .split('…')
    .map(part => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('.*')
  const args = [
    'vitest',
    'run',
    '--config',
    'vitest.promises.config.ts',
    '--reporter=json',
    `test/${test}.test.ts`,
    '-t',
    pattern,
  ]
  const output = await new Promise<string>(end => {
    // What never ends does not keep the promise, either.
    const limits = { cwd, maxBuffer: 2 ** 28, timeout: MOST_MS, killSignal: 'SIGKILL' } as const
    execFile('npx', args, limits, (error, stdout) => end(error?.killed ? KILLED : stdout))
  })
  if (output === KILLED) return isWhole ? 'the test does not end' : undefined
  const report = /^\{"numTotalTestSuites".*$/m.exec(output)?.[0]
  if (report === undefined) return `the tests did not run: ${output.slice(-500)}`
  const { numFailedTests, numPassedTests } = JSON.parse(report)
  if (numFailedTests + numPassedTests === 0) return 'there is no such test'
  if (isWhole) return numFailedTests > 0 ? 'the test fails, although nothing is broken' : undefined
  return numFailedTests > 0 ? undefined : 'the test passes, although the promise is broken'
}

async function main(): Promise<void> {
  const wanted = process.argv.slice(2).filter(argument => argument !== '--whole')
  if (wanted.includes('--write')) {
    const [head = ''] = HEAD.exec(readFileSync(DOCUMENT, 'utf8')) ?? []
    writeFileSync(DOCUMENT, `${head}${listPromises()}`)
    return
  }
  const rows = Object.values(PROMISES)
    .flat()
    .filter(({ test, title }) => wanted.length === 0 || wanted.some(part => `${test}: ${title}`.includes(part)))
  const waiting = [...rows]
  let held = 0
  const began = performance.now()
  const work = async () => {
    const folder = makeCopy()
    for (let row = waiting.shift(); row !== undefined; row = waiting.shift()) {
      const start = performance.now()
      const problem = await problemOf(folder, row)
      const seconds = Math.round((performance.now() - start) / 1000)
      if (problem === undefined) held++
      console.log(
        `${problem === undefined ? (isWhole ? 'green' : 'red') : `PROBLEM: ${problem}`}, ${seconds} s: ${row.test}: ${row.title}`,
      )
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, work))
  console.log(
    `${held} of ${rows.length} promises: the named test ${isWhole ? 'passes' : 'fails without it'}. ${Math.round((performance.now() - began) / 1000)} s`,
  )
  if (held < rows.length) process.exitCode = 1
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main()
