import { expect, it } from 'vitest'
import { addDemoBlocks } from '../../src/devnet/index.ts'
import type { Hex } from '../../src/entry/index.ts'
import { isProviderError } from '../../src/entry/provider.ts'
import { createJsonRpcServer } from '../../src/provider/json-rpc.ts'
import { skipTime, tokenBucket } from '../client/clock.ts'
import { createBlockEndpoints, type Endpoint } from './block-endpoints.ts'

const TOKEN: Hex = `0x${'70'.repeat(20)}`
const hex = (number: number): Hex => `0x${number.toString(16)}`

/** Each block has one transfer of the token, and the newest that is proven is `count` - 1. */
async function setUp(count: number, options: object = {}, answering = (l2: Endpoint) => l2) {
  const { chain, l2, provider } = createBlockEndpoints()
  addDemoBlocks(chain, { counts: [count], l1Blocks: 1 })
  const endpoint = l2()
  const verified = provider(answering(endpoint), options)
  await verified.view()
  endpoint.counts()
  // biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
  const ask = (method: string, ...params: unknown[]): Promise<any> => verified.request({ method, params })
  return { ask, endpoint, verified }
}
const logsOf = (from: number, to: number, address = TOKEN) => ({ fromBlock: hex(from), toBlock: hex(to), address })

it('asks for what a block holds once, whatever asks for it', async () => {
  const { ask, endpoint } = await setUp(5)
  const [log] = await ask('eth_getLogs', logsOf(3, 3))
  endpoint.counts()
  const receipt = await ask('eth_getTransactionReceipt', log.transactionHash)
  expect(endpoint.counts()).toEqual({
    eth_getTransactionByHash: 1,
    ...{ eth_getBlockByNumber: 1, eth_getBlockReceipts: 1 },
  })
  const transaction = await ask('eth_getTransactionByHash', log.transactionHash)
  const blocks = [await ask('eth_getBlockByNumber', hex(3), true), await ask('eth_getBlockByHash', log.blockHash, true)]
  expect(await ask('eth_getBlockReceipts', hex(3))).toEqual([receipt])
  expect([blocks[0], blocks[0].transactions]).toEqual([blocks[1], [transaction]])
  expect(endpoint.counts()).toEqual({})
})

it('fetches each block of overlapping ranges once, and none again for another filter', async () => {
  const { ask, endpoint } = await setUp(41)
  const found = await Promise.all(Array.from({ length: 40 }, (_, index) => ask('eth_getLogs', logsOf(1, index + 1))))
  expect(found.map(({ length }) => length)).toEqual(Array.from({ length: 40 }, (_, index) => index + 1))
  // A header, then the transactions and the receipts; the hashes of the newest of each range.
  const counts = endpoint.counts()
  expect(counts).toEqual({ eth_getBlockByNumber: 80, eth_getBlockReceipts: 40, rollup_getProof: 1 })
  expect(await ask('eth_getLogs', { fromBlock: '0x1', toBlock: hex(40) })).toEqual(found[39])
  expect(endpoint.counts()).toEqual({})
})

/** Refuses what comes faster than this. */
const limited = (perSecond: number) => (l2: Endpoint) => {
  const mayPass = tokenBucket(perSecond)
  return {
    ...l2,
    async request(args: Parameters<Endpoint['request']>[0]) {
      await new Promise(resolve => setTimeout(resolve, 50))
      if (!mayPass(performance.now())) throw { code: -32005, message: 'rate limit exceeded' }
      return l2.request(args)
    },
  }
}

it('gets further with each repeat at 2 requests per second, says how far, and ends', async () => {
  skipTime()
  const { verified, endpoint } = await setUp(61, { timeoutMs: 8_000 }, limited(2))
  const said: string[] = []
  const before: string[] = []
  const request = { method: 'eth_getLogs', params: [logsOf(1, 60)] }
  let found: unknown[] | null = null
  while (found === null && said.length < 30) {
    const onNote = (about: string, left = '') => before.push(about === 'slow' ? left : about)
    found = await verified.request<unknown[]>(request, { onNote }).catch(error => {
      if (!isProviderError(error) || error.reason !== 'TIMEOUT') throw error
      said.push(error.message)
      return null
    })
  }
  expect(found).toHaveLength(60)
  const { eth_getBlockByNumber: blocks = 0, eth_getBlockReceipts: receipts = 0 } = endpoint.counts()
  // What was under way when a round ended is asked for again, and no more.
  expect(blocks + receipts).toBeGreaterThanOrEqual(180)
  expect(blocks + receipts).toBeLessThan(180 + 3 * said.length)
  expect(said[0]).toMatch(
    /^The request did not .* It took 8000 ms\. \d+ headers are still to be fetched, at this rate in about \d+ s, and then receipts; /,
  )
  expect(said[0]).toMatch(/set `completeLogs` to false\. Ask again, and it goes on from there\.$/)
  // It says so before, too: once each time, but for the last one, which may end before.
  expect([said.length, said.length + 1]).toContain(before.length)
  expect(before[0]).toMatch(/^\d+ headers are still to be fetched/)
  expect(said.at(-1)).toMatch(
    /\d+ blocks have receipts that are still to be read, at this rate in about \d+ s\. Ask again/,
  )
  for (const kind of ['headers are', 'blocks have']) {
    const left = said.flatMap(text => new RegExp(`(\\d+) ${kind}`).exec(text)?.[1] ?? []).map(Number)
    expect(left).toEqual([...new Set(left)].sort((a, b) => b - a))
    expect(left.length).toBeGreaterThan(1)
  }
})

it('proves the logs that an endpoint lists, and marks them, if completeness is given up', async () => {
  const { chain, l2, provider } = createBlockEndpoints()
  addDemoBlocks(chain, { counts: [41], l1Blocks: 1 })
  const whole = (await setUp(41)).ask
  const honest = await whole('eth_getLogs', logsOf(1, 40))
  const marked = (logs: object[]) => logs.map(log => ({ ...log, completeness: 'unproven' }))
  // biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
  const change = (work: (logs: any[]) => unknown) =>
    l2((answer, method) => (method === 'eth_getLogs' ? work(answer as []) : answer))
  async function ask(endpoints: readonly Endpoint[], query: object = logsOf(1, 40)) {
    const verified = provider(endpoints, { completeLogs: false })
    await verified.view()
    for (const endpoint of endpoints) endpoint.counts()
    let told = 0
    const asked = verified.request<object[]>(
      { method: 'eth_getLogs', params: [query] },
      { onNote: about => about === 'incomplete' && told++ },
    )
    const outcome = await asked.catch(error => `${error.reason} ${error.data.error}`)
    expect(told).toBe(1)
    return outcome
  }
  // What it hides stays hidden, and nothing else is fetched.
  const hiding = change(logs => logs.filter(({ blockNumber }) => ['0x5', '0x9'].includes(blockNumber)))
  expect(await ask([hiding])).toEqual(marked([honest[4], honest[8]]))
  expect(hiding.counts()).toEqual({
    ...{ eth_getLogs: 1, rollup_getProof: 1, eth_getBlockByNumber: 2, eth_getBlockReceipts: 2 },
  })
  expect(await ask([change(() => [])])).toEqual([])
  expect(await ask([l2()])).toEqual(marked(honest))
  expect(await ask([l2()], { blockHash: honest[6].blockHash })).toEqual(marked([honest[6]]))
  const filtering = provider(l2(), { completeLogs: false })
  const id = await filtering.request({ method: 'eth_newFilter', params: [logsOf(1, 40)] })
  expect(await filtering.request({ method: 'eth_getFilterLogs', params: [id] })).toEqual(marked(honest))
  // A list without any log says so elsewhere: the proxy sends this in a header.
  const unproven: string[] = []
  const limits = { concurrency: 1, maxWaiting: 1, maxBatch: 1, maxResponseLength: 1000, timeout: 100_000 }
  const server = createJsonRpcServer(
    provider(
      change(() => []),
      { completeLogs: false },
    ),
    limits,
  )
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getLogs', params: [logsOf(1, 40)] })
  expect(await server.answer(body, { onForward: method => unproven.push(method) })).toContain('"result":[]')
  expect(unproven).toEqual(['eth_getLogs (completeness)'])
  // Nothing that it invents is taken: only the blocks that it names count.
  const inventions = [
    change(logs => [...logs, { ...logs[0], data: `0x${'00'.repeat(32)}` }]),
    change(logs => [...logs, { ...logs[0], logIndex: '0x1', topics: { toString: 1 } }]),
    change(logs => logs.map(({ blockNumber }) => ({ blockNumber, address: { toString: 1 } }))),
  ]
  for (const lie of inventions) expect(await ask([lie])).toEqual(marked(honest))
  expect(await ask([change(logs => [{ ...logs[0], blockNumber: logs[1].blockNumber }])])).toEqual(marked([honest[1]]))
  // If it names none, or others than were asked for, the next endpoint is asked.
  const nonsense = [
    change(logs => [{ ...logs[0], blockNumber: '0x29' }]),
    change(() => [null]),
    change(() => [{ blockNumber: { toString: 1 } }]),
    change(() => ({})),
  ]
  for (const lie of nonsense) {
    expect(await ask([lie])).toMatch(/^ENDPOINT_FAILED ANSWER_MALFORMED/)
    expect(await ask([lie, l2()])).toEqual(marked(honest))
  }
  expect([inventions.length, nonsense.length]).toEqual([3, 4])
  expect(() => provider(l2(), { completeLogs: 'no' as never })).toThrow('completeLogs')
})
