import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { median } from './measure.ts'

const VECTOR = resolve('vectors/poseidon2/valid/account.json')
const doorUrl = (door: string): string => pathToFileURL(join('dist/entry', `${door}.js`)).href

/** Scripts for a fresh process: one reads the vector, the other also imports the package and verifies. */
const BARE = `import { readFileSync } from 'node:fs'
const { stateRoot, address, storageKeys, answer } = JSON.parse(readFileSync(${JSON.stringify(VECTOR)}, 'utf8'))`
const FIRST = `${BARE}
const { verifyProof } = await import('${doorUrl('index')}')
const { poseidon2 } = await import('${doorUrl('poseidon2')}')
verifyProof(answer, { scheme: poseidon2, stateRoot, address, storageKeys })`

const scriptMs = (script: string): number => processMs(['--input-type=module', '-e', script])

function processMs(args: readonly string[], input = ''): number {
  const start = performance.now()
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', input })
  if (status !== 0) throw new Error(stderr)
  return performance.now() - start
}

/** Median milliseconds of fresh processes, run in turns: Node alone, and Node with a first verification by the package. */
export function measureColdStart(turns: number): { bare: number; first: number } {
  const times = Array.from({ length: turns }, () => ({ bare: scriptMs(BARE), first: scriptMs(FIRST) }))
  return { bare: median(times.map(({ bare }) => bare)), first: median(times.map(({ first }) => first)) }
}

/** Median milliseconds of `verify` in fresh processes, as it is built. */
export function measureCommand(turns: number): number {
  const { stateRoot, address, storageKeys, answer } = JSON.parse(readFileSync(VECTOR, 'utf8'))
  const keys = storageKeys.flatMap((key: string) => ['--storage-key', key])
  const args = ['src/cli/main.js', 'verify', '-', '--state-root', stateRoot, '--address', address, ...keys]
  return median(Array.from({ length: turns }, () => processMs(args, JSON.stringify(answer))))
}
