import { spawn } from 'node:child_process'
import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { BATCH_LENGTH } from '../../src/bulk/audit.ts'
import { textsOf } from '../../src/bulk/audited.ts'
import { readFileChunks, unpack } from '../../src/bulk/input.ts'
import { linesOf, readBatches } from '../../src/bulk/lines.ts'
import { createRecordVerifier } from '../../src/bulk/record.ts'
import type { Hex } from '../../src/index.ts'
import { poseidon2 } from '../../src/poseidon2.ts'
import { createWorld } from '../../src/world.ts'

/**
 * How well `audit` uses the cores: its time against that of its parts, each timed alone in this process over the same lines.
 * And its memory, which must not depend on how many lines there are.
 */
const [COUNT = '200000'] = process.argv.slice(2)
const LINES = Number(COUNT)
const ACCOUNTS = Math.min(LINES, 20_000)

const folder = mkdtempSync(join(tmpdir(), 'bench-audit-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))

const addressOf = (index: number): Hex => `0x${(index + 1).toString(16).padStart(40, '0')}`

/** One-account answers under one root, none of which comes again before all others have come. */
const world = createWorld(poseidon2)
for (let index = 0; index < ACCOUNTS; index++) world.setAccount(addressOf(index), { balance: BigInt(index) })
const stateRoot = world.stateRoot()
const lineOf = (index: number): string => {
  const address = addressOf(index)
  return `${JSON.stringify({ scheme: 'poseidon2', stateRoot, address, storageKeys: [], result: world.getProof(address) })}\n`
}
// Asked for once: making proofs takes longer than verifying them.
const all = Array.from({ length: ACCOUNTS }, (_, index) => Buffer.from(lineOf(index)))

function* linesUpTo(count: number): Generator<Buffer> {
  // Not in the order of the leaves, in which neighbours share most of their paths.
  for (let index = 0; index < count; index++) yield all[(index * 7919) % ACCOUNTS] ?? Buffer.alloc(0)
}

const block = Buffer.concat([...linesUpTo(ACCOUNTS)])
const packedBlock = gzipSync(block)

/** The lines repeat: packed, each round is a member of its own, as in files that were put together. */
function writeInput(name: string, count: number, isPacked: boolean): string {
  const path = join(folder, name)
  writeFileSync(path, '')
  for (let lines = 0; lines < count; lines += ACCOUNTS) appendFileSync(path, isPacked ? packedBlock : block)
  return path
}

async function secondsOf(work: () => Promise<unknown> | unknown): Promise<number> {
  const begun = performance.now()
  await work()
  return (performance.now() - begun) / 1000
}

/** The parts of the work, one after the other on one thread. Parsing and verifying are timed over some of the lines. */
async function measureParts(path: string): Promise<{ reading: number; parsing: number; verifying: number }> {
  const reading = await secondsOf(async () => {
    const chunks = unpack(readFileChunks(path))
    for await (const batch of readBatches(chunks, { batchLength: BATCH_LENGTH, maxLineLength: 2 ** 24 }))
      for (const _ of linesOf(batch));
  })
  const verify = createRecordVerifier({})
  const sample = [...linesUpTo(Math.min(5000, LINES))]
  for (const line of sample) verify(line)
  let parsed: unknown[] = []
  const batch = new Uint8Array(Buffer.concat(sample))
  const parsing = await secondsOf(() => {
    const toText = textsOf(batch)
    let start = 0
    parsed = sample.map(({ length }) => {
      const line = batch.subarray(start, start + length)
      start += length
      return JSON.parse(`${toText(line)}`)
    })
  })
  const verifying = await secondsOf(() => {
    for (const record of parsed) if (verify(record).verdict !== 'present') throw new Error('not verified')
  })
  const scale = LINES / sample.length
  return { reading, parsing: parsing * scale, verifying: verifying * scale }
}

/** @returns seconds, and the peak memory in MiB where the system tells */
function runAudit(path: string, jobs: number): Promise<{ seconds: number; peak: number }> {
  const program = new URL('cli/main.js', import.meta.url).pathname
  const begun = performance.now()
  const child = spawn(process.execPath, [program, 'audit', path, '--jobs', `${jobs}`], { stdio: 'ignore' })
  let peak = 0
  const timer = setInterval(() => {
    try {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
      peak = Math.max(peak, Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1024)
    } catch {
      // It has ended, or this is not Linux.
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
const round = (value: number, digits = 1): string => value.toFixed(digits)
for (const isPacked of [false, true]) {
  const path = writeInput(isPacked ? 'in.ndjson.gz' : 'in.ndjson', LINES, isPacked)
  const { reading, parsing, verifying } = await measureParts(path)
  const sum = reading + parsing + verifying
  console.log(`${isPacked ? 'gzip' : 'plain'}: ${LINES} lines, ${round(statSync(path).size / 2 ** 20)} MiB`)
  console.log(
    `  each alone: reading${isPacked ? ' and unpacking' : ''} ${round(reading)} s, parsing ${round(parsing)} s, verifying ${round(verifying)} s; sum ${round(sum)} s`,
  )
  for (const jobs of new Set([1, cores])) {
    const { seconds, peak } = await runAudit(path, jobs)
    const perHour = (3600 * LINES) / seconds / 1e6
    console.log(
      `  ${jobs} ${jobs === 1 ? 'job' : 'jobs'}: ${round(seconds)} s, ${round(perHour)} million per hour, efficiency ${round(sum / jobs / seconds, 2)}, peak ${round(peak, 0)} MiB`,
    )
  }
  rmSync(path)
}
const tenth = writeInput('tenth.ndjson.gz', LINES / 10, true)
const { peak } = await runAudit(tenth, cores)
console.log(`a tenth of the lines, packed, ${cores} jobs: peak ${round(peak, 0)} MiB`)
