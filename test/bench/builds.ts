/**
 * `npm run bench:builds -- OLD [NEW] [WORDS]`: how many times as fast the build in the folder NEW (default: this one) is as that in OLD. Each
 * folder is a checkout with its build. The two take turns in one process, and processor time is compared turn by turn. With
 * WORDS, only works with one of these in their names. Prints Markdown.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type EvidenceVector, readInputFile } from '../../src/cli/words/input-file.ts'
import { claimOfVector } from '../../vectors/run/claim.ts'
import { networkOf } from '../cli/network-file.ts'
import { demoState } from '../provider/contracts.ts'
import { createEndpoints } from '../provider/endpoints.ts'
import { CALLS } from '../provider/waves.ts'
import { type Library as L1, works } from './l1-works.ts'
import { measureProcessor } from './measure.ts'
import { header, row } from './page.ts'

type Build = L1 &
  Pick<typeof import('../../src/entry/anchor.ts'), 'verifyEvidence'> &
  Pick<typeof import('../../src/entry/beacon.ts'), 'trustBeaconBlock'> &
  Pick<typeof import('../../src/entry/blocks.ts'), 'logsEvidence'> &
  Pick<typeof import('../../src/entry/messages.ts'), 'messageEvidence'> &
  Pick<typeof import('../../src/entry/provider.ts'), 'createVerifiedProvider' | 'verifyCallEvidence'> &
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
function readVector(folder: string, path: string): EvidenceVector {
  const file = readInputFile(JSON.parse(readFileSync(resolve(folder, `vectors/${path}.json`), 'utf8')))
  if (file.kind !== 'evidence vector') throw new Error(`no vector of evidence: ${path}`)
  return file
}

/** The claim of a vector, with the objects of the build. */
function claimOf(build: Build, vector: EvidenceVector) {
  const { scheme, kind, trusted, ...claim } = claimOfVector(vector)
  const { network, beaconBlockRoot: blockRoot } = Object(Object(vector.claim).trusted)
  const { logsEvidence: logs, messageEvidence: message } = build
  const named = kind && Object({ logs, message })[Object(kind).name]
  const known: unknown = Object(scheme).name
  return {
    ...claim,
    ...(scheme && { scheme: known === 'mimc' || known === 'poseidon2' ? build[known] : scheme }),
    ...(named && { kind: named }),
    trusted: network ? build.trustBeaconBlock({ network, blockRoot }) : trusted,
  }
}

interface Work {
  readonly name: string
  /** Prepares the work for a build. */
  readonly on: (build: Build, folder: string) => (() => unknown) | Promise<() => unknown>
}

const KINDS = [
  ...['block-hash', 'state-root', 'l2-root', 'timestamp'].flatMap(reach => [
    `evidence/valid/poseidon2-${reach}`,
    `evidence/valid/mimc-${reach}`,
  ]),
  ...['poseidon2-beacon-block-root', 'ethereum-block-hash', 'ethereum-state-root', 'ethereum-l2-root'].map(
    name => `evidence/valid/${name}`,
  ),
  ...['logs/valid/transfers-poseidon2', 'logs/valid/everything', 'logs/valid/ethereum-anchored'],
  ...['messages/valid/evidence-from-l2', 'messages/valid/evidence-to-l2'],
  ...['calls/valid/balance-behind-proxy', 'calls/valid/ethereum-balance'],
]

function evidenceOf(path: string): Work {
  return {
    name: `evidence, ${path.replace('/valid', '')}`,
    on: (build, folder) => {
      const vector = readVector(folder, path)
      const text = JSON.stringify(vector.bundle)
      const claim = claimOf(build, vector)
      // Despite the types, the claim is of the kind that the vector names.
      const verify: (bundle: unknown, claim: never) => unknown =
        vector.evidence === 'call' ? build.verifyCallEvidence : build.verifyEvidence
      return () => verify(JSON.parse(text), claim as never)
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
  const { rollup, trusted } = Object(readVector(folder, 'evidence/valid/poseidon2-block-hash').claim)
  const telling = 'process.on("exit", () => process.stderr.write(JSON.stringify(process.cpuUsage())))'
  const { status, stderr } = spawnSync(
    process.execPath,
    [
      ...['--import', `data:text/javascript,${telling}`, resolve(folder, home, bin['rollup-state-proof'])],
      ...['audit', path, '--jobs', '1', ...networkOf(rollup.address), '--l1-block-hash', trusted.l1BlockHash],
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
      writeFileSync(
        path,
        `${JSON.stringify(readVector(folder, 'evidence/valid/poseidon2-block-hash').bundle)}\n`.repeat(BUNDLES),
      )
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

const [OLD = '', NEW = '.', ...WORDS] = process.argv.slice(2)
const folders = [OLD, NEW]
const builds = await Promise.all(folders.map(open))
const all: readonly Work[] = [
  ...works.map(({ name, run }) => ({ name, on: (build: Build) => () => run(build) })),
  ...KINDS.map(evidenceOf),
  warmCall,
]
console.log(header('old / new', 'median', 'quartiles').join('\n'))
const isWanted = (name: string) => WORDS.length === 0 || WORDS.some(word => name.includes(word))
for (const { name, on } of all.filter(({ name }) => isWanted(name)))
  print(
    name,
    await measureProcessor(await Promise.all(builds.map((build, index) => on(build, folders[index] ?? ''))), TURNS),
  )
if (isWanted('audit')) print(`audit of ${BUNDLES} bundles`, auditInTurns(folders))
