import { appendFileSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { createWorld } from '../../src/devnet/index.ts'
import type { Hex } from '../../src/entry/index.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { median } from './measure.ts'
import { type Contestant, inTurns } from './turns.ts'

/**
 * Measures how well `audit` uses the cores, by comparing its time with that of its parts over the same lines, and its memory,
 * which must not depend on the number of lines. With N jobs, the parts run on N cores at once, and each core does its share of
 * the lines.
 *
 * Usage: `npm run bench:audit -- [LINES] [ROUNDS]`. LINES is rounded up to equal shares. All figures are medians of the rounds;
 * an efficiency compares times of one round, in which everything takes turns.
 */
const [COUNT = '200000', ROUNDS = '1'] = process.argv.slice(2)
const cores = availableParallelism()
const ACCOUNTS = Math.min(Math.ceil(Number(COUNT) / cores), 20_000)
const SHARE = Math.ceil(Number(COUNT) / cores / ACCOUNTS) * ACCOUNTS
const LINES = SHARE * cores
/** For the memory that fewer lines take. */
const FEW_LINES = Math.ceil(LINES / 10 / ACCOUNTS) * ACCOUNTS

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

const JOBS = [...new Set([1, cores])]
const programAt = (path: string): string => new URL(path, import.meta.url).pathname
const shown = (value: number, digits = 1): string => value.toFixed(digits)

const inputs = [
  { name: 'plain', path: writeInput('in.ndjson', LINES, false), share: writeInput('share.ndjson', SHARE, false) },
  { name: 'gzip', path: writeInput('in.ndjson.gz', LINES, true), share: writeInput('share.ndjson.gz', SHARE, true) },
] as const
type Input = (typeof inputs)[number]
const [plain] = inputs

/** The work up to one of its steps: all of it in one process, or a share in each of several at once. */
const stepsOf = ({ path, share }: Input, last: string, jobs: number): Contestant =>
  Array.from({ length: jobs }, () => [programAt('audit-parts.mjs'), jobs === 1 ? path : share, last])
const auditOf = (path: string, jobs: number): Contestant => [
  [programAt('../../src/cli/main.js'), 'audit', path, '--jobs', `${jobs}`],
]

/** What one round measured with one number of jobs, in seconds by the clock. */
interface Figures {
  readonly parsing: number
  readonly verifying: number
  /** One element per input. */
  readonly inputs: readonly { readonly reading: number; readonly audit: number; readonly peak: number }[]
}

async function measureRound(): Promise<Figures[]> {
  const contestants = JOBS.flatMap(jobs => [
    ...['none', 'parsing', 'verifying'].map(step => stepsOf(plain, step, jobs)),
    ...inputs.flatMap(input => [stepsOf(input, 'reading', jobs), auditOf(input.path, jobs)]),
  ])
  const turns = await inTurns(contestants)
  const next = () => turns.shift() ?? { seconds: Number.NaN, peak: Number.NaN }
  return JOBS.map(() => {
    // Each process also starts, and does the steps before its last one.
    const [none, parsing, verifying] = [next(), next(), next()] as const
    const inputFigures = inputs.map(() => {
      const [reading, { seconds, peak }] = [next(), next()]
      return { reading: reading.seconds - none.seconds, audit: seconds, peak }
    })
    const [{ reading } = { reading: Number.NaN }] = inputFigures
    return {
      parsing: parsing.seconds - none.seconds - reading,
      verifying: verifying.seconds - parsing.seconds,
      inputs: inputFigures,
    }
  })
}

const rounds: Figures[][] = []
for (let round = 0; round < Number(ROUNDS); round++) rounds.push(await measureRound())

for (const [kind, { name, path }] of inputs.entries()) {
  console.log(`${name}: ${LINES} lines, ${shown(statSync(path).size / 2 ** 20)} MiB`)
  for (const [index, jobs] of JOBS.entries()) {
    const all = rounds
      .flatMap(round => round.slice(index, index + 1))
      .map(figures => {
        const { reading = Number.NaN, audit = Number.NaN, peak = Number.NaN } = figures.inputs[kind] ?? {}
        const { parsing, verifying } = figures
        return { reading, parsing, verifying, sum: reading + parsing + verifying, audit, peak }
      })
    const of = (figure: (round: (typeof all)[number]) => number): number => median(all.map(figure))
    const seconds = of(round => round.audit)
    console.log(
      `  ${jobs === 1 ? 'one core' : `each of ${jobs} cores at once, ${SHARE} lines`}: reading ${shown(of(round => round.reading))} s, parsing ${shown(of(round => round.parsing))} s, verifying ${shown(of(round => round.verifying))} s; sum ${shown(of(round => round.sum))} s`,
    )
    console.log(
      `  ${jobs === 1 ? '1 job' : `${jobs} jobs`}: ${shown(seconds)} s, ${shown((3600 * LINES) / seconds / 1e6)} million per hour, efficiency ${shown(
        of(round => round.sum / round.audit),
        2,
      )} (${all.map(({ sum, audit }) => shown(sum / audit, 2)).join(' ')}), peak ${shown(Math.max(...all.map(({ peak }) => peak)), 0)} MiB`,
    )
  }
}
const few = writeInput('few.ndjson.gz', FEW_LINES, true)
for (const [index, { peak }] of (await inTurns(JOBS.map(jobs => auditOf(few, jobs)))).entries()) {
  console.log(`${FEW_LINES} lines, gzip, ${JOBS[index]} jobs: peak ${shown(peak, 0)} MiB`)
}
