/**
 * `npm run bench:builds -- OLD [NEW]`: how many times as fast the build in the folder NEW (default: this one) is as that in OLD. Each
 * folder is a checkout with its build. The two take turns in one process, and processor time is compared turn by turn. Prints
 * Markdown.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { demoState } from '../provider/contracts.ts'
import { createEndpoints } from '../provider/endpoints.ts'
import { CALLS } from '../provider/waves.ts'
import { type Library as L1, works } from './l1-works.ts'
import { measureProcessor } from './measure.ts'
import { header, row } from './page.ts'

type Build = L1 &
  Pick<typeof import('../../src/entry/anchor.ts'), 'verifyEvidence'> &
  Pick<typeof import('../../src/entry/beacon.ts'), 'trustBeaconBlock'> &
  Pick<typeof import('../../src/entry/provider.ts'), 'createVerifiedProvider'> &
  Pick<typeof import('../../src/entry/mimc.ts'), 'mimc'> &
  Pick<typeof import('../../src/entry/poseidon2.ts'), 'poseidon2'>

const DOORS = ['anchor', 'beacon', 'blocks', 'messages', 'mimc', 'poseidon2', 'provider', 'provider/evm']
const TURNS = 31
/** The command starts afresh each time, so there are fewer turns, and many records. */
const [AUDIT_TURNS, BUNDLES] = [7, 4000]

async function open(folder: string): Promise<Build> {
  const { exports } = JSON.parse(readFileSync(resolve(folder, 'package.json'), 'utf8'))
  const parts = DOORS.map(door => import(pathToFileURL(resolve(folder, exports[`./${door}`].default)).href))
  return Object.assign({}, ...(await Promise.all(parts)))
}

/** Each build reads a bundle as it writes one. */
const readVector = (folder: string, name: string) =>
  JSON.parse(readFileSync(resolve(folder, `vectors/evidence/valid/${name}.json`), 'utf8'))

function claimOf(build: Build, { operation, scheme, claim }: ReturnType<typeof readVector>) {
  const { network, beaconBlockRoot, ...others } = claim.trusted
  const trusted = network ? build.trustBeaconBlock({ network, blockRoot: beaconBlockRoot }) : { beaconBlockRoot }
  const isEthereum = operation === 'verifyEthereumEvidence' || scheme === 'ethereum'
  const kind: 'mimc' | 'poseidon2' = scheme
  return {
    ...claim,
    scheme: isEthereum ? 'ethereum' : build[kind],
    trusted: { ...others, ...(beaconBlockRoot && trusted) },
    l2BlockNumber: claim.l2BlockNumber === 'fromBundle' ? claim.l2BlockNumber : BigInt(claim.l2BlockNumber),
  }
}

interface Work {
  readonly name: string
  /** Prepares the work for a build. */
  readonly on: (build: Build, folder: string) => (() => unknown) | Promise<() => unknown>
}

const evidence = ['block-hash', 'state-root', 'l2-root', 'timestamp'].flatMap(kind => [
  `poseidon2-${kind}`,
  `mimc-${kind}`,
])
const KINDS = [
  ...evidence,
  'poseidon2-beacon-block-root',
  'ethereum-block-hash',
  'ethereum-state-root',
  'ethereum-l2-root',
]

function evidenceOf(name: string): Work {
  return {
    name: `verifyEvidence, ${name}`,
    on: (build, folder) => {
      const vector = readVector(folder, name)
      const text = JSON.stringify(vector.bundle)
      const claim = claimOf(build, vector)
      return () => build.verifyEvidence(JSON.parse(text), claim)
    },
  }
}

const warmCall: Work = {
  name: 'a warm call',
  on: async ({ createVerifiedProvider, poseidon2 }) => {
    const provider = createEndpoints(demoState).provider({ scheme: poseidon2 }, createVerifiedProvider)
    await provider.request(CALLS.quote)
    return () => provider.request(CALLS.quote)
  },
}

const quantile = (values: readonly number[], share: number) =>
  ([...values].sort((a, b) => a - b)[Math.floor(share * (values.length - 1))] ?? Number.NaN).toFixed(2)

/** The microseconds of processor time of `audit`, with all its threads. */
function auditWith(folder: string, path: string): number {
  const home = ['src/cli', '.'].find(home => existsSync(resolve(folder, home, 'package.json'))) ?? '.'
  const { bin } = JSON.parse(readFileSync(resolve(folder, home, 'package.json'), 'utf8'))
  const { rollup, trusted } = readVector(folder, 'poseidon2-block-hash').claim
  const telling = 'process.on("exit", () => process.stderr.write(JSON.stringify(process.cpuUsage())))'
  const { status, stderr } = spawnSync(
    process.execPath,
    [
      ...['--import', `data:text/javascript,${telling}`, resolve(folder, home, bin['rollup-state-proof'])],
      ...['audit', path, '--jobs', '1', '--rollup', rollup.address, '--l1-block-hash', trusted.l1BlockHash],
    ],
    { encoding: 'utf8', maxBuffer: 2 ** 28 },
  )
  if (status !== 0) throw new Error(stderr)
  const { user, system } = JSON.parse(stderr.slice(stderr.lastIndexOf('{')))
  return user + system
}

function auditInTurns(folders: readonly string[]): number[][] {
  const scratch = mkdtempSync(join(tmpdir(), 'bench-'))
  try {
    const inputs = folders.map((folder, index) => {
      const path = join(scratch, `${index}.ndjson`)
      writeFileSync(path, `${JSON.stringify(readVector(folder, 'poseidon2-block-hash').bundle)}\n`.repeat(BUNDLES))
      return { folder, path }
    })
    const turns = Array.from({ length: AUDIT_TURNS }, () => inputs.map(({ folder, path }) => auditWith(folder, path)))
    return folders.map((_, index) => turns.map(times => times[index] ?? Number.NaN))
  } finally {
    rmSync(scratch, { recursive: true })
  }
}

function print(name: string, [old = [], now = []]: readonly number[][]): void {
  const ratios = old.map((time, turn) => time / (now[turn] ?? Number.NaN))
  console.log(row(name, quantile(ratios, 0.5), `${quantile(ratios, 0.25)} to ${quantile(ratios, 0.75)}`))
}

const [OLD = '', NEW = '.'] = process.argv.slice(2)
const folders = [OLD, NEW]
const builds = await Promise.all(folders.map(open))
const all: readonly Work[] = [
  ...works.map(({ name, run }) => ({ name, on: (build: Build) => () => run(build) })),
  ...KINDS.map(evidenceOf),
  warmCall,
]
console.log(header('old / new', 'median', 'quartiles').join('\n'))
for (const { name, on } of all)
  print(
    name,
    await measureProcessor(await Promise.all(builds.map((build, index) => on(build, folders[index] ?? ''))), TURNS),
  )
print(`audit of ${BUNDLES} bundles`, auditInTurns(folders))
