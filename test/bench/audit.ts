import { execFile, spawn } from 'node:child_process'
import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import type { Hex } from '../../src/index.ts'
import { poseidon2 } from '../../src/poseidon2.ts'
import { createWorld } from '../../src/world.ts'

/**
 * Measures how well `audit` uses the cores, by comparing its time with that of its parts over the same lines, and its memory,
 * which must not depend on the number of lines.
 *
 * Usage: `npm run bench:audit -- [LINES] [ROUNDS]`. All figures are medians of the rounds; an efficiency compares times of one
 * round.
 */
const [COUNT = '200000', ROUNDS = '1'] = process.argv.slice(2)
const LINES = Number(COUNT)
const ACCOUNTS = Math.min(LINES, 20_000)

const folder = mkdtempSync(join(tmpdir(), 'bench-audit-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))

const addressOf = (index: number): Hex => `0x${(index + 1).toString(16).padStart(40, '0')}`

/** Answers for different accounts under one root. None repeats before all others have been used. */
const world = createWorld(poseidon2)
for (let index = 0; index < ACCOUNTS; index++) world.setAccount(addressOf(index), { balance: BigInt(index) })
const stateRoot = world.stateRoot()
const lineOf = (index: number): string => {
  const address = addressOf(index)
  return `${JSON.stringify({ scheme: 'poseidon2', stateRoot, address, storageKeys: [], result: world.getProof(address) })}\n`
}
// Created once, because making proofs takes longer than verifying them.
const all = Array.from({ length: ACCOUNTS }, (_, index) => Buffer.from(lineOf(index)))

function* linesUpTo(count: number): Generator<Buffer> {
  // Not in leaf order, because neighbouring leaves share most of their paths.
  for (let index = 0; index < count; index++) yield all[(index * 7919) % ACCOUNTS] ?? Buffer.alloc(0)
}

const block = Buffer.concat([...linesUpTo(ACCOUNTS)])
const packedBlock = gzipSync(block)

/** Writes repeated lines. In a gzip file, each repetition is a separate member, as in concatenated files. */
function writeInput(name: string, count: number, isPacked: boolean): string {
  const path = join(folder, name)
  writeFileSync(path, '')
  for (let lines = 0; lines < count; lines += ACCOUNTS) appendFileSync(path, isPacked ? packedBlock : block)
  return path
}

const programAt = (path: string): string => new URL(path, import.meta.url).pathname

/** Seconds for each part of the work on one thread. */
interface Parts {
  readonly reading: number
  readonly parsing: number
  readonly verifying: number
}

const sumOf = ({ reading, parsing, verifying }: Parts): number => reading + parsing + verifying

/** Measures the parts in several processes at once. */
async function measureParts(path: string, processes: number): Promise<Parts[]> {
  const measure = () => promisify(execFile)(process.execPath, [programAt('audit-parts.mjs'), path])
  const printed = await Promise.all(Array.from({ length: processes }, measure))
  return printed.map(({ stdout }): Parts => JSON.parse(stdout))
}

/** @returns seconds, and the peak memory in MiB (0 if unknown) */
function runAudit(path: string, jobs: number): Promise<{ seconds: number; peak: number }> {
  const program = programAt('../cli/main.js')
  const begun = performance.now()
  const child = spawn(process.execPath, [program, 'audit', path, '--jobs', `${jobs}`], { stdio: 'ignore' })
  let peak = 0
  const timer = setInterval(() => {
    try {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
      peak = Math.max(peak, Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1024)
    } catch {
      // The process has ended, or this is not Linux.
    }
  }, 20)
  return new Promise((resolve, reject) => {
    child.once('exit', code => {
      clearInterval(timer)
      if (code === 0) resolve({ seconds: (performance.now() - begun) / 1000, peak })
      else reject(new Error(`audit ended with ${code}`))
    })
  })
}

const cores = availableParallelism()
const JOBS = [...new Set([1, cores])]
const shown = (value: number, digits = 1): string => value.toFixed(digits)
const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length
const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN

/** What one round measured. */
interface Round {
  readonly parts: Parts
  /** Seconds for all parts, one after the other, in a process of its own. */
  readonly alone: number
  /** The same with one process per core at once, on average. */
  readonly together: number
  /** One per element of `JOBS`. */
  readonly runs: readonly { seconds: number; peak: number }[]
}

async function measureRound(path: string): Promise<Round> {
  const [parts = { reading: 0, parsing: 0, verifying: 0 }] = await measureParts(path, 1)
  const runs: { seconds: number; peak: number }[] = []
  for (const jobs of JOBS) runs.push(await runAudit(path, jobs))
  const together = mean((await measureParts(path, cores)).map(sumOf))
  return { parts, alone: sumOf(parts), together, runs }
}

function report(rounds: readonly Round[], isPacked: boolean): void {
  const of = (figure: (round: Round) => number): string => shown(median(rounds.map(figure)))
  console.log(
    `  each part by itself: reading${isPacked ? ' and unpacking' : ''} ${of(round => round.parts.reading)} s, parsing ${of(round => round.parts.parsing)} s, verifying ${of(round => round.parts.verifying)} s; sum ${of(round => round.alone)} s, or ${of(round => round.together)} s when all cores do it`,
  )
  for (const [index, jobs] of JOBS.entries()) {
    const runs = rounds.map(({ runs, ...work }) => ({ ...work, ...(runs[index] ?? { seconds: 0, peak: 0 }) }))
    const seconds = median(runs.map(run => run.seconds))
    const efficiency = (work: 'alone' | 'together') => shown(median(runs.map(run => run[work] / jobs / run.seconds)), 2)
    console.log(
      `  ${jobs} ${jobs === 1 ? 'job' : 'jobs'}: ${shown(seconds)} s, ${shown((3600 * LINES) / seconds / 1e6)} million per hour, efficiency ${jobs === 1 ? efficiency('alone') : `${efficiency('together')} (${efficiency('alone')} of cores that do not slow each other)`}, peak ${shown(Math.max(...runs.map(run => run.peak)), 0)} MiB`,
    )
  }
}

for (const isPacked of [false, true]) {
  const path = writeInput(isPacked ? 'in.ndjson.gz' : 'in.ndjson', LINES, isPacked)
  console.log(`${isPacked ? 'gzip' : 'plain'}: ${LINES} lines, ${shown(statSync(path).size / 2 ** 20)} MiB`)
  const rounds: Round[] = []
  for (let round = 0; round < Number(ROUNDS); round++) rounds.push(await measureRound(path))
  report(rounds, isPacked)
  rmSync(path)
}
const tenth = writeInput('tenth.ndjson.gz', LINES / 10, true)
const { peak } = await runAudit(tenth, cores)
console.log(`${LINES / 10} lines, packed, ${cores} jobs: peak ${shown(peak, 0)} MiB`)
