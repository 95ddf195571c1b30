import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { addDemoBlocks, createService, demoWorld, type Service } from '../../src/devnet/index.ts'
import { type Hex, slotKey, stringify } from '../../src/entry/index.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { finalizedBlockHash, recordEvidence } from '../../src/entry/rpc.ts'
import { networkFile } from '../cli/io.ts'
import { startProxyProcess } from '../cli/proxy-process.ts'
import { withNetwork } from '../network.ts'
import { PROGRAM } from '../package/build.ts'
import { countLines } from '../tools/count.ts'
import { readBundle } from './bundle.ts'
import { outcome } from './forgery.ts'
import { relay } from './relayer.ts'
import { readSettings } from './slots-by-name.ts'
import { readTokenBalance } from './token-balance.ts'
import { readBalance } from './verify-one.ts'
import { readWithEthers } from './with-ethers.ts'
import { readWithViem } from './with-viem.ts'
import worker from './worker.ts'

/**
 * Nine programs as their authors would write them: they import only the package, and what they use beside it. They show what the
 * public API costs: each has a limit of lines.
 */
const LIMITS: Readonly<Record<string, number>> = {
  'bundle.ts': 10,
  'forgery.ts': 10,
  'relayer.ts': 18,
  'slots-by-name.ts': 8,
  'token-balance.ts': 13,
  'verify-one.ts': 6,
  'with-ethers.ts': 10,
  'with-viem.ts': 10,
  'worker.ts': 12,
}

const rollup = { address: '0x00000000000000000000000000000000000011ff', chainId: 1337 } as const
const [user, payee, contract, token] = ['a1', 'b2', 'c0', '70'].map((pair): Hex => `0x${pair.repeat(20)}`) as [
  ...[Hex, Hex, Hex, Hex],
]
const PAYEE_TOKENS = 250n * 10n ** 18n

let service: Service
let [l1, l2] = ['', '']
beforeAll(async () => {
  service = createService({ genesis: demoWorld(poseidon2), rollup })
  addDemoBlocks(service.chain)
  const urls = await service.listen()
  ;[l1, l2] = [urls.l1Url, urls.url]
})
afterAll(() => service.close())

/** An answer for the newest block, whose root is returned too. */
function answerFor(address: Hex, keys: readonly Hex[] = []) {
  const { pending } = service.chain
  return { answer: pending.getProof(address, keys), stateRoot: pending.stateRoot() }
}

it.each(Object.entries(LIMITS))('keeps %s within %i lines', (name, limit) => {
  expect(countLines(`test/programs/${name}`)).toBeLessThanOrEqual(limit)
})

it('has nine programs, which import only the packages and what they use beside it', () => {
  const names = readdirSync('test/programs').filter(name => !name.endsWith('.test.ts'))
  expect(names).toEqual(Object.keys(LIMITS))
  for (const name of names) {
    const text = readFileSync(`test/programs/${name}`, 'utf8')
    const imported = [...text.matchAll(/ from '(.*)'$/gm)].map(([, specifier]) => specifier)
    expect(imported.join(), name).toMatch(/^((rollup-state-proof(-devnet|\/\w+)?|viem|ethers|node:fs),?)+$/)
    expect(text, name).not.toMatch(/\bany\b|!\.|@ts-|value \?\? 0/)
  }
})

it('verifies one account', () => {
  const { answer, stateRoot } = answerFor(payee)
  expect(readBalance(answer, stateRoot, payee)).toBe(13n)
  expect(() => readBalance(answer, stateRoot, user)).toThrow('KEY_MISMATCH')
})

it('reads several slots by name', () => {
  const { answer, stateRoot } = answerFor(contract, [slotKey(0n), slotKey(1n), slotKey(9n)])
  expect(readSettings(answer, stateRoot, contract)).toEqual({ counter: 50n, limit: 255n, isPaused: false })
})

it('reads an ERC-20 balance by slot', async () => {
  const l1BlockHash = await finalizedBlockHash(l1)()
  expect(await readTokenBalance(l1, l2, rollup, l1BlockHash, payee)).toBe(PAYEE_TOKENS)
})

it('reads a bundle offline', async () => {
  const { bundle, verified } = await recordEvidence(withNetwork({ l1, l2, rollup, scheme: poseidon2, address: payee }))
  const read = readBundle(JSON.stringify(bundle), rollup, verified.l1Block.hash, payee)
  expect(read).toMatchObject({ account: { balance: 13n }, l1Time: verified.l1Block.timestamp, isNewest: true })
})

it('reads through viem', async () => {
  expect(await readWithViem(l1, l2, { rollup, scheme: poseidon2 }, token, payee)).toBe(PAYEE_TOKENS)
})

it('reads through ethers with its default settings', async () => {
  const args = ['--l1', l1, '--l2', l2, '--network', networkFile({ rollup })]
  const proxy = await startProxyProcess([PROGRAM], [...args, '--port', '0'], program => {
    onTestFinished(() => void program.kill('SIGKILL'))
  })
  expect(await readWithEthers(proxy.url, token, payee)).toEqual([13n, PAYEE_TOKENS])
  await proxy.end('SIGTERM')
})

it('relays each finalization once, across a restart', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'relayer-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const run = (count: number) =>
    relay(l1, ['http://127.0.0.1:1', l2], { rollup, scheme: poseidon2 }, join(folder, 'progress.json'), count)
  expect(await run(1)).toEqual([[3n, [45n]]])
  expect(await run(2)).toEqual([
    [4n, [46n]],
    [8n, [50n]],
  ])
})

it('verifies in a worker', async () => {
  const ask = async (question: object) => {
    const response = await worker.fetch(new Request('http://worker/', { method: 'POST', body: stringify(question) }))
    return [response.status, await response.text()]
  }
  const question = { ...answerFor(payee), address: payee }
  const [status, text] = await ask(question)
  expect([status, JSON.parse(String(text)).account.balance]).toEqual([200, '13'])
  expect((await ask({ ...question, address: user }))[0]).toBe(422)
  expect((await ask({ ...question, adress: user }))[0]).toBe(400)
})

it('refuses a forgery', () => {
  expect(outcome).toMatchObject({ ok: false, error: { code: 'STATE_ROOT_MISMATCH', path: 'accountProof.proof' } })
})
