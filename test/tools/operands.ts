/**
 * `npm run mutation:operands`: drops each side of each `&&` and `||`, and each call of a function that only refuses, in the layers
 * that decide verdicts. Stryker replaces whole conditions, and does not drop a part. Each change must give a vector another
 * outcome, or else make a test of its layer fail. Prints those that no test notices: `test/mutants.md` says why none can.
 *
 * With `LAYER=answers`, of one layer of `test/tools/rules/sites.ts`. The rest of the arguments select sites by parts of
 * `file:line`.
 */
import { execFile } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { layerOfFile, type Site } from './rules/sites.ts'
import { runAll, startWorkers } from './rules/workers.ts'

/** The tests of each layer, quickest first. The last test everything. */
const TESTS: Readonly<Record<string, readonly string[]>> = {
  'reading and decoding': [
    'test/base/json',
    'test/base/bytes.test.ts',
    'test/verify/field.test.ts',
    'test/verify/scheme.test.ts',
    'test/verify/proof',
  ],
  answers: ['test/verify/tree', 'test/verify/proof', 'test/verify/verifier', 'test/verify/vectors.test.ts'],
  'the way from L1': ['test/verify/anchor', 'test/verify/evidence'],
  beacon: ['test/verify/beacon'],
  blocks: ['test/verify/blocks', 'test/verify/evidence/logs.test.ts'],
  messages: ['test/verify/messages'],
  transitions: ['test/verify/transition'],
  evidence: ['test/verify/evidence'],
  calls: ['test/provider/proving', 'test/provider/call-evidence.test.ts'],
}

const { LAYER } = process.env
const wanted = process.argv.slice(2)
const isWanted = ({ file, line }: Site) =>
  (LAYER === undefined || layerOfFile.get(file) === LAYER) &&
  (wanted.length === 0 || wanted.some(part => `${file}:${line}`.endsWith(part)))
const show = ({ file, line, kind, text, whole }: Site) =>
  `${file}:${line} ${kind === 'call' ? `without ${text}` : `without "${text}" in "${whole}"`}`

const workers = await startWorkers()
const baseline = await runAll(workers)
const until = new Map(baseline.map(({ file, outcome }) => [file, outcome]))
const sites = workers.sites.filter(site => (site.kind === 'operand' || site.kind === 'call') && isWanted(site))
// The quick vectors first: one that changes is enough.
const cost = (file: string) => ['/calls/', '/mimc', '/beacon/'].findIndex(part => file.includes(part))
const ordered = baseline.toSorted((a, b) => cost(a.file) - cost(b.file))
const survivors: Site[] = []
await Promise.all(
  sites.map(async site => {
    const files = ordered.filter(({ seen }) => seen.includes(site.id)).map(({ file }) => file)
    const runs = await workers.run({ off: site.id, files, until })
    const isSame = runs?.every(({ file, outcome }) => until.get(file) === outcome)
    if (isSame) survivors.push(site)
  }),
)
workers.stop()
console.log(`${sites.length} places, ${sites.length - survivors.length} of which change the outcome of a vector`)

/** Whether a test of the layer fails. Vitest compiles the marked source once, and keeps it. */
const isNoticed = ({ id, file }: Site): Promise<boolean> =>
  new Promise(resolve => {
    const tests = TESTS[layerOfFile.get(file) ?? ''] ?? []
    const args = ['vitest', 'run', '--config', 'vitest.operands.config.ts', '--bail', '1', ...tests]
    const limits = { env: { ...process.env, OFF: `${id}` }, maxBuffer: 2 ** 28, timeout: 600_000 }
    execFile('npx', args, limits, error => resolve(error !== null))
  })

// Where a test fails anyway, every change would seem to be noticed.
for (const layer of new Set(survivors.map(({ file }) => layerOfFile.get(file)))) {
  const first = survivors.find(({ file }) => layerOfFile.get(file) === layer)
  if (first && (await isNoticed({ ...first, id: -1 })))
    throw new Error(`the tests of ${layer} fail, although nothing is changed`)
}
let unnoticed = 0
const work = async () => {
  for (let site = survivors.shift(); site !== undefined; site = survivors.shift()) {
    if (await isNoticed(site)) continue
    console.log(show(site))
    unnoticed++
  }
}
await Promise.all(Array.from({ length: availableParallelism() }, work))
console.log(`${unnoticed} that no test notices`)
