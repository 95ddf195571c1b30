/**
 * `npm run bench:load`: the service in a separate process on loopback, under load from clients that verify every answer. Each
 * row ends after a number of requests or seconds, whichever comes first. Prints Markdown. With `--write`, also writes it to
 * docs/benchmarks.md.
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpus } from 'node:os'
import { type Hex, verifyProof } from '../../src/entry/index.ts'
import { mimc } from '../../src/entry/mimc.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { createHttpProvider } from '../../src/entry/rpc.ts'
import { networkOf } from '../cli/network-file.ts'
import { header, publish, row } from './page.ts'

const REQUESTS = 4000
const SECONDS = 20
const CLIENTS = 8
const BLOCK = 8n

const word = (value: number): Hex => `0x${value.toString(16).padStart(64, '0')}`
const CONTRACT: Hex = `0x${'c0'.repeat(20)}`
const questions = {
  'an account': { address: CONTRACT, storageKeys: [] },
  'no such account': { address: `0x${'77'.repeat(20)}`, storageKeys: [] },
  'ten slots, seven absent': { address: CONTRACT, storageKeys: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map(word) },
} as const

interface Load {
  readonly latencies: readonly number[]
  readonly seconds: number
  readonly bytes: number
}

/** Sends requests until a bound is reached. Throws if an answer does not verify. */
async function load(url: string, claim: Parameters<typeof verifyProof>[1]): Promise<Load> {
  const { address, storageKeys = [] } = claim
  const latencies: number[] = []
  let [bytes, asked] = [0, 0]
  const start = performance.now()
  const client = async () => {
    const { request } = createHttpProvider(url)
    while (asked < REQUESTS && performance.now() - start < SECONDS * 1000) {
      asked++
      const sent = performance.now()
      const answer = await request({
        method: 'rollup_getProof',
        params: [address, storageKeys, `0x${BLOCK.toString(16)}`],
      })
      verifyProof(answer, claim)
      latencies.push(performance.now() - sent)
      // Measured once, because all answers have the same length.
      bytes ||= JSON.stringify(answer).length
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, client))
  return { latencies: latencies.sort((a, b) => a - b), seconds: (performance.now() - start) / 1000, bytes }
}

/** Starts the service over the demo state, and reads the root of its last block. */
async function startService(scheme: string) {
  const network = networkOf(`0x${'00'.repeat(18)}11ff`, { scheme })
  const program = spawn(process.execPath, ['src/cli/main.js', 'serve', '--port', '0', ...network])
  let printed = ''
  for await (const chunk of program.stdout) {
    printed += chunk
    if (/state root +0x[0-9a-f]{64}/.test(printed)) break
  }
  const stateRoot: Hex = `0x${/state root +0x([0-9a-f]{64})/.exec(printed)?.[1] ?? ''}`
  return { program, url: /L2 +(\S+)/.exec(printed)?.[1] ?? '', stateRoot }
}

console.log(
  `${cpus()[0]?.model.trim()}, ${cpus().length} cores, Node ${process.version}; ${CLIENTS} clients in one process.`,
)
const lines = header('', 'verified answers', 'per second', 'p50, ms', 'p99, ms', 'kB per answer')
for (const scheme of [poseidon2, mimc]) {
  const { program, url, stateRoot } = await startService(scheme.name)
  for (const [name, question] of Object.entries(questions)) {
    const { latencies, seconds, bytes } = await load(url, { scheme, stateRoot, ...question })
    const at = (share: number) => (latencies[Math.floor(share * (latencies.length - 1))] ?? Number.NaN).toFixed(1)
    const rate = (latencies.length / seconds).toFixed(0)
    const cells = [`${latencies.length}`, rate, at(0.5), at(0.99), (bytes / 1000).toFixed(1)]
    lines.push(row(`${scheme.name}: ${name}`, ...cells))
  }
  program.kill('SIGTERM')
  await once(program, 'close')
}
publish('load', lines)
