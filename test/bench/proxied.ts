/**
 * Calls and searches for logs, asked of a provider, and over HTTP of the proxy, each with its own deadline. Whoever gets no answer
 * in time asks again, until there is one.
 */
import { bytesToHex } from '../../src/base/bytes.ts'
import { serveProxy } from '../../src/cli/commands/proxy-server.ts'
import { PROXY_LIMITS } from '../../src/cli/limits.ts'
import { CONTENTS_AT_ONCE } from '../../src/client/transport/limits.ts'
import { createService, demoWorld } from '../../src/devnet/index.ts'
import type { Hex } from '../../src/entry/index.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import type { VerifiedProvider } from '../../src/entry/provider.ts'
import { createJsonRpcServer } from '../../src/provider/json-rpc.ts'
import { DEFAULT_TIMEOUT } from '../../src/provider/limits.ts'
import { type Content, encodeTransaction, kinds, makeBlock } from '../../vectors/blocks/truth.ts'
import { named } from '../../vectors/evidence/l1.ts'
import { createBlockEndpoints } from '../provider/block-endpoints.ts'
import { createEndpoints, ROLLUP } from '../provider/endpoints.ts'
import { paramsOf, SHAPES, shapesState } from '../provider/shapes.ts'
import { countWaves, type Waves } from '../provider/waves.ts'

/** As the command has them. */
const [PROXY_TIMEOUT, GRACE, CONCURRENCY] = [8000, 1000, 16]
/** Requests that the end of the time may have cut off: as many as a search has under way. */
const AT_ONCE = 2 * CONTENTS_AT_ONCE

type Request = { method: string; params: unknown[] }
/** @returns the result; undefined if the time was over */
type Ask = (request: Request) => Promise<unknown>

/** What endpoints of both worlds have in common. */
type Source = Parameters<typeof countWaves>[0] & {
  provider(options: Waves['options'] & { timeoutMs: number }): VerifiedProvider
}

/** The reason of a failure, in what a provider throws and in the error that a client gets. */
function orTimedOut(error: unknown): undefined {
  if (Object(Object(error).data).reason === 'TIMEOUT' || Object(error).reason === 'TIMEOUT') return undefined
  throw error
}

const ofProvider =
  (provider: VerifiedProvider): Ask =>
  request =>
    provider.request(request).catch(orTimedOut)

async function ofProxy(provider: VerifiedProvider): Promise<{ ask: Ask; close: () => Promise<void> }> {
  const limits = { ...PROXY_LIMITS, timeout: PROXY_TIMEOUT + GRACE, concurrency: CONCURRENCY }
  const server = await serveProxy(createJsonRpcServer(provider, limits), { origins: [], hosts: [] }, 0, '127.0.0.1')
  return {
    async ask(request) {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, ...request })
      const answer = await fetch(server.url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body })
      const { result, error }: { result?: unknown; error?: unknown } = Object(await answer.json())
      return error === undefined ? result : orTimedOut(error)
    },
    close: () => server.close(0),
  }
}

/** Notes each request, with its parameters. */
function noting({ l1, l2, l1BlockHash }: Source) {
  const asked: string[] = []
  const noted = ({ request }: Source['l2']): Source['l2'] => ({
    request: args => {
      asked.push(JSON.stringify(args))
      return request(args)
    },
  })
  return { asked, source: { l1: noted(l1), l2: noted(l2), l1BlockHash } }
}

async function measure(through: 'provider' | 'proxy', source: Source, latency: number, asked: Request) {
  const noted = noting(source)
  const waves = countWaves(noted.source, latency)
  const timeoutMs = through === 'proxy' ? PROXY_TIMEOUT : DEFAULT_TIMEOUT
  const provider = source.provider({ ...waves.options, timeoutMs })
  const { ask, close } = through === 'proxy' ? await ofProxy(provider) : { ask: ofProvider(provider), close() {} }
  await provider.view()
  waves.take()
  noted.asked.length = 0
  const times: number[] = []
  let result: unknown
  while (result === undefined) {
    const begin = performance.now()
    result = await ask(asked)
    times.push((performance.now() - begin) / 1000)
  }
  await close()
  const taken = waves.take()
  return {
    times,
    waves: taken.length,
    requests: taken.flat().length,
    /** How many of them had been sent before. */
    again: noted.asked.length - new Set(noted.asked).size,
    size: Array.isArray(result) ? result.length : (String(result).length - 2) / 2,
  }
}

/** Every block has a log of one contract, and each 20th a transfer. The one after them holds the hash of the last. */
async function chainWithLogs(length: number) {
  const { chain } = createService({ genesis: demoWorld(poseidon2), rollup: ROLLUP })
  const all = await kinds()
  const [other, transfer] = [all[1], all[3]] as [Content, Content]
  const { transactions } = await makeBlock([other, transfer])
  const [one, another] = [other, transfer].map(({ status = 1, gasUsed, logs }, index) => ({
    transaction: bytesToHex(encodeTransaction(transactions[index] ?? {})),
    ...{ status: BigInt(status), gasUsed, logs },
  }))
  if (one === undefined || another === undefined) throw new Error('a kind of transaction is missing')
  for (let number = 1; number <= length; number++) chain.addBlock(number % 20 === 0 ? [one, another] : [one])
  chain.addBlock()
  chain.finalize()
  return { chain, other: other.logs[0]?.address as Hex, token: transfer.logs[0]?.address as Hex }
}

function sourceOfLogs(chain: Awaited<ReturnType<typeof chainWithLogs>>['chain']): Source {
  const endpoints = createBlockEndpoints(chain)
  return { ...endpoints, l2: endpoints.l2(), provider: ({ l2, ...others }) => endpoints.provider(l2, others) }
}

/** What is asked: each call; each search, over the same chain. */
async function* subjects(): AsyncGenerator<readonly [what: string, newSource: () => Source, asked: Request]> {
  for (const [name, shape] of Object.entries(SHAPES)) {
    if (!/ by multicall$|, deployless$/.test(name)) continue
    const call = { method: 'eth_call', params: paramsOf(shape(0)) }
    yield [name, () => createEndpoints(shapesState, true), call]
  }
  const most = 1000
  const { chain, other, token } = await chainWithLogs(most)
  const choices = { 'none matches': named('nobody', 20), 'one in 20 matches': token, 'all match': other }
  for (const length of [100, most])
    for (const [words, address] of Object.entries(choices)) {
      const [fromBlock, toBlock] = [most - length + 1, most].map(number => `0x${number.toString(16)}`)
      const search = { method: 'eth_getLogs', params: [{ address, fromBlock, toBlock }] }
      yield [`logs of ${length} blocks, ${words}`, () => sourceOfLogs(chain), search]
    }
}

/** Prints a table. @throws if what was asked again does not go on where it ended */
export async function printProxied(latency: number): Promise<void> {
  console.log(
    '| what | through | waves | requests | asked again | seconds | times | the longest, in seconds | logs or bytes |',
  )
  console.log('|---|---|--:|--:|--:|--:|--:|--:|--:|')
  for await (const [what, newSource, asked] of subjects())
    for (const through of ['provider', 'proxy'] as const) {
      const { waves, requests, again, times, size } = await measure(through, newSource(), latency, asked)
      if (again > AT_ONCE) throw new Error(`${what}: ${again} requests were sent again`)
      const seconds = times.reduce((sum, time) => sum + time, 0).toFixed(1)
      const counts = `${waves} | ${requests} | ${again} | ${seconds} | ${times.length}`
      console.log(`| ${what} | ${through} | ${counts} | ${Math.max(...times).toFixed(1)} | ${size} |`)
    }
}
