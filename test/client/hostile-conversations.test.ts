import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it, onTestFinished, vi } from 'vitest'
import { addDemoBlocks } from '../../src/devnet/index.ts'
import { ProofError } from '../../src/entry/index.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import {
  createHttpProvider,
  createRollupClient,
  EndpointError,
  type RecordProgress,
  recordEvidence,
} from '../../src/entry/rpc.ts'
import { runHere } from '../cli/io.ts'
import { networkOf } from '../cli/network-file.ts'
import { withNetwork } from '../network.ts'
import { randomOf } from '../random.ts'
import { sized } from '../size.ts'
import { fetchAnswer } from './fetching.ts'
import { demoChain, ENDPOINTS, everythingIn, hostileFetch, keysIn } from './hostile-conversations.ts'
import { CONTRACT, ROLLUP, word } from './servers.ts'

const RUNS = sized(130)

const storageKeys = [0, 1, 2, 7, 9].map(word)
const chain = demoChain()
/** L1 holds the hash of block 10. */
const upgraded = demoChain()
upgraded.upgrade()
addDemoBlocks(upgraded, { counts: [2] })
const world = chain.at(8n)
const stateRoot = world?.stateRoot() ?? '0x'
const truth = world?.getProof(CONTRACT, storageKeys)
const values = storageKeys.map(key => world?.getStorage(CONTRACT, key))
/** A bound on the characters of an answer or checkpoint for five keys. */
const MAX_HELD = 10 * 2 ** 16

afterEach(() => vi.unstubAllGlobals())

type Outcome = { shown: string; accepted: boolean }

/** Runs a conversation with hostile endpoints. Throws unless it ends with the truth or an error of the library. */
async function converse(seed: number, kind: number): Promise<Outcome> {
  const at = kind === 3 ? upgraded : chain
  const random = randomOf(seed)
  const endpoint = () => ENDPOINTS[Math.floor(random() * ENDPOINTS.length)]?.url ?? ''
  const [l1Url, url] = [`${endpoint()}`, endpoint()]
  const rate = random() * 0.6
  // Both endpoints may have the same URL. Then all requests get the answers of L1.
  const { fetch, count } = hostileFetch({ random, chain: at, rate, l1Url })
  vi.stubGlobal('fetch', fetch)
  const open = (each: string) => createHttpProvider(each, { timeoutMs: 1000, maxRetries: 0 })
  // One endpoint, or several. All are hostile.
  const [urls, l1Urls] = [url, l1Url].map(each => (random() < 0.3 ? [each, endpoint()] : [each]))
  const [provider, l1] = [urls, l1Urls].map(each => (each ?? []).map(open))
  if (provider === undefined || l1 === undefined) throw new Error('two layers')
  const request = { address: CONTRACT, storageKeys, l2BlockNumber: 8n }
  const options = { maxKeysPerRequest: 1 + Math.floor(random() * 5) }
  const steps: RecordProgress[] = []
  const shown: string[] = []
  let accepted = false
  try {
    if (kind === 0) {
      const state = await createRollupClient(provider, options).getVerifiedState({
        ...request,
        scheme: poseidon2,
        stateRoot,
      })
      expect(state.storage.map(({ value }) => value)).toEqual(values)
      accepted = true
    } else if (kind === 1) {
      const answer = await fetchAnswer(provider, { ...request, scheme: poseidon2, stateRoot }, options)
      expect(answer).toEqual(truth)
      accepted = true
    } else {
      const onProgress = (progress: RecordProgress) => void steps.push(progress)
      const asked = { scheme: poseidon2, rollup: ROLLUP, address: CONTRACT, storageKeys }
      const { verified: evidence, bundle } = await recordEvidence(
        withNetwork({
          l1,
          l2: provider,
          ...asked,
          ...options,
          onProgress,
        }),
      )
      const held = at.at(evidence.l2BlockNumber)
      const { hash } = Object(at.getBlock(evidence.l2BlockNumber))
      if ('l2Block' in evidence) expect(evidence.l2Block.hash).toBe(hash)
      else expect(evidence.stateRoot).toBe(held?.stateRoot())
      expect(evidence.storage.map(({ value }) => value)).toEqual(
        storageKeys.map(key => held?.getStorage(CONTRACT, key)),
      )
      shown.push(JSON.stringify(bundle))
      accepted = true
    }
  } catch (error) {
    if (!(error instanceof ProofError) && !(error instanceof EndpointError)) throw error
    shown.push(everythingIn(error))
  }
  for (const step of steps) {
    const text = JSON.stringify(step, (_, value: unknown) => (typeof value === 'bigint' ? `${value}` : value))
    expect(text.length).toBeLessThan(MAX_HELD)
    shown.push(text)
  }
  expect(keysIn(shown.join('\n'), [...(urls ?? []), ...(l1Urls ?? [])])).toEqual([])
  expect(count()).toBeLessThan(600)
  return { shown: shown.join('\n'), accepted }
}

it('ends any conversation with the truth or its own error, and never shows a key', async () => {
  let [accepted, crossed] = [0, 0]
  const codes = new Set<string>()
  for (let run = 0; run < RUNS; run++) {
    const outcome = await converse(run, run % 4).catch((error: unknown) => {
      throw new Error(`conversation ${run}`, { cause: error })
    })
    if (outcome.accepted) accepted++
    if (outcome.accepted && run % 4 === 3) crossed++
    const code = /(?:Endpoint|Proof)Error: ([A-Z0-9_]+)/.exec(outcome.shown)?.[1]
    if (code !== undefined) codes.add(code)
  }
  expect(accepted).toBeGreaterThan(RUNS / 20)
  expect(crossed).toBeGreaterThan(0)
  expect(codes.size).toBeGreaterThan(8)
  expect(Reflect.get({}, 'a')).toBeUndefined()
}, 3_600_000)

it('shows no key on the command line or in a file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hostile-'))
  const exits = new Set<number>()
  try {
    for (let run = 0; run < Math.ceil(RUNS / 8); run++) {
      const random = randomOf(1_000_000 + run)
      const { url } = ENDPOINTS[run % ENDPOINTS.length] ?? { url: '' }
      const { url: l1Url } = ENDPOINTS[(run + 1) % ENDPOINTS.length] ?? { url: '' }
      vi.stubGlobal('fetch', hostileFetch({ random, chain, rate: random() * 0.5, l1Url }).fetch)
      const file = join(folder, `${run}.json`)
      const keys = storageKeys.flatMap(key => ['--storage-key', key])
      const asked = [
        '--l2',
        url,
        '--address',
        CONTRACT,
        ...keys,
        '-o',
        file,
        '--keys-per-request',
        '2',
        '--timeout',
        '2',
      ]
      const args = ['record', 'state', '--l1', l1Url, ...networkOf(ROLLUP.address), ...asked]
      const { code, stdout, stderr } = await runHere([...args, ...(run % 3 === 0 ? ['--json'] : [])])
      exits.add(code)
      expect([0, 1, 2, 3]).toContain(code)
      expect(stderr).not.toContain('unexpected')
      const files = readdirSync(folder).map(name => readFileSync(join(folder, name), 'utf8'))
      expect(keysIn([stdout, stderr, ...files].join('\n'), [url, l1Url]), `run ${run}`).toEqual([])
      for (const text of files) expect(text.length).toBeLessThan(2 ** 20)
      for (const name of readdirSync(folder)) rmSync(join(folder, name))
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
  expect(exits.size).toBeGreaterThan(1)
}, 3_600_000)

it('writes no key to a file that an endpoint has put among the nodes of a proof', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hostile-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const { url, keys: [key = ''] = [] } = ENDPOINTS[2] ?? { url: '' }
  const { url: l1Url } = ENDPOINTS[1] ?? { url: '' }
  const honest = hostileFetch({ random: randomOf(1), chain, rate: 0, l1Url }).fetch
  let count = 0
  vi.stubGlobal('fetch', async (...asked: Parameters<typeof fetch>) => {
    const response = await honest(...asked)
    const text = (await response.text()).replaceAll(/"0x[0-9a-f]{128}"/g, node => {
      count++
      return `"0x${key}${node.slice(3 + key.length)}`
    })
    return new Response(text, response)
  })
  const file = join(folder, 'answer.json')
  const endpoints = ['--l1', l1Url, '--l2', url, ...networkOf(ROLLUP.address)]
  const asked = ['--l2-block', '8', '--address', CONTRACT, '-o', file]
  const { stdout, stderr } = await runHere(['record', 'state', ...endpoints, ...asked])
  const files = readdirSync(folder).map(name => readFileSync(join(folder, name), 'utf8'))
  expect(count).toBeGreaterThan(0)
  expect(keysIn([stdout, stderr, ...files].join('\n'), [url])).toEqual([])
})
