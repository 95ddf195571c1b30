import { afterEach, expect, it, vi } from 'vitest'
import { addDemoBlocks } from '../../src/devnet/index.ts'
import type { Hex } from '../../src/entry/index.ts'
import { isProviderError, type VerifiedProvider } from '../../src/entry/provider.ts'
import { createJsonRpcServer } from '../../src/provider/json-rpc.ts'
import { FILTER_SIZE, MAX_FILTERS_A_CLIENT, MAX_FILTERS_SIZE } from '../../src/provider/limits.ts'
import type { Asking } from '../../src/provider/provider.ts'
import { skipTime } from '../client/clock.ts'
import { createBlockEndpoints, type Lie } from './block-endpoints.ts'

const TOKEN: Hex = `0x${'70'.repeat(20)}`

/** Each block has one transfer of the token, and the newest that is proven is 2. */
async function setUp(options: object = {}, lie?: Lie) {
  const { chain, l2, provider } = createBlockEndpoints()
  addDemoBlocks(chain, { counts: [3], l1Blocks: 1 })
  const endpoint = l2(lie)
  const verified = provider(endpoint, options)
  await verified.view()
  return {
    verified,
    endpoint,
    ask: askOf(verified),
    advance: async (count: number) => {
      addDemoBlocks(chain, { counts: [count], l1Blocks: 1 })
      await verified.refresh()
    },
  }
}
/** What the server states, and no user. */
const stating = (asking: Asking) => asking
const askOf =
  (provider: VerifiedProvider, client = '', canPush = false) =>
  // biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
  (method: string, ...params: unknown[]): Promise<any> =>
    provider.request({ method, params }, stating({ client, canPush }))
const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => 'answered',
    error => (isProviderError(error) ? `${error.reason} ${error.code}` : String(error)),
  )
const numbersIn = (logs: { blockNumber: Hex }[]) => logs.map(log => Number(log.blockNumber))
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)
const GONE = 'FILTER_MISSING -32000'

afterEach(() => void vi.useRealTimers())

it.each([1, 10, 600])('gives each event of a finalization of %s blocks once, in order', async count => {
  const { ask, advance } = await setUp()
  const [logs, blocks] = [await ask('eth_newFilter', { address: TOKEN }), await ask('eth_newBlockFilter')]
  expect([logs, blocks].every(id => /^0x1[\da-f]{30}$/.test(id))).toBe(true)
  expect([await ask('eth_getFilterChanges', logs), await ask('eth_getFilterChanges', blocks)]).toEqual([[], []])
  await advance(count)
  const found = await ask('eth_getFilterChanges', logs)
  expect(numbersIn(found)).toEqual(range(3, count + 2))
  const hashes = await ask('eth_getFilterChanges', blocks)
  expect([hashes.length, new Set(hashes).size]).toEqual([count, count])
  expect(hashes.at(-1)).toBe(found.at(-1).blockHash)
  expect(hashes[0]).toBe((await ask('eth_getBlockByNumber', '0x3', false)).hash)
  expect(await ask('eth_getFilterChanges', logs)).toEqual([])
  expect(await ask('eth_getFilterChanges', blocks)).toEqual([])
})

it('subscribes those to whom it can be pushed to heads and logs, and says why to nothing else', async () => {
  const { verified, advance } = await setUp()
  const ask = askOf(verified, '', true)
  const [heads, logs] = [await ask('eth_subscribe', 'newHeads'), await ask('eth_subscribe', 'logs', { address: TOKEN })]
  const none = await ask('eth_subscribe', 'logs', { address: `0x${'71'.repeat(20)}` })
  await advance(10)
  const found = Object(await ask('eth_getFilterChanges', heads))
  const blocks = range(3, 12).map(number => ask('eth_getBlockByNumber', `0x${number.toString(16)}`, false))
  expect(found.length).toBe(10)
  for (const [index, head] of found.entries()) expect(await blocks[index]).toMatchObject(head)
  expect(Object.keys(found[0])).toEqual(
    expect.arrayContaining(['number', 'hash', 'parentHash', 'logsBloom', 'timestamp']),
  )
  expect(numbersIn(Object(await ask('eth_getFilterChanges', logs)))).toEqual(range(3, 12))
  expect(await ask('eth_getFilterChanges', none)).toEqual([])
  expect([await ask('eth_unsubscribe', logs), await ask('eth_unsubscribe', logs)]).toEqual([true, false])
  expect(await reasonOf(ask('eth_getFilterChanges', logs))).toBe(GONE)
  for (const kind of ['newPendingTransactions', 'syncing', 'other', undefined]) {
    await expect(ask('eth_subscribe', kind)).rejects.toThrow('Nothing proves what is pending')
  }
  await expect(askOf(verified)('eth_subscribe', 'newHeads')).rejects.toMatchObject({ code: 4200 })
})

it('gives overlapping requests each event once, and nothing of one that was given up', async () => {
  const { ask, advance, verified } = await setUp()
  const id = await ask('eth_newFilter', { address: TOKEN })
  await advance(20)
  const answers = await Promise.all(range(1, 5).map(() => ask('eth_getFilterChanges', id)))
  expect(answers.map(numbersIn)).toEqual([range(3, 22), [], [], [], []])
  await advance(3)
  const controller = new AbortController()
  const asked = { method: 'eth_getFilterChanges', params: [id] }
  const given = verified.request(asked, { signal: controller.signal })
  controller.abort()
  await expect(given).rejects.toMatchObject({ data: { error: 'ABORTED' } })
  expect(numbersIn(await ask('eth_getFilterChanges', id))).toEqual(range(23, 25))
})

it('keeps its place when an endpoint fails or lies', async () => {
  const now: { lie: Lie } = { lie: answer => answer }
  const { ask, advance } = await setUp({}, (...given) => now.lie(...given))
  const id = await ask('eth_newFilter', { address: TOKEN })
  await advance(4)
  now.lie = (answer, method) => (method === 'eth_getBlockReceipts' ? [] : answer)
  expect(await reasonOf(ask('eth_getFilterChanges', id))).toMatch(/PROOF_REFUSED|ENDPOINT_FAILED/)
  now.lie = answer => answer
  expect(numbersIn(await ask('eth_getFilterChanges', id))).toEqual(range(3, 6))
})

it('begins and ends where the query says, and gives all logs of it when asked', async () => {
  const { ask, advance } = await setUp()
  const later = await ask('eth_newFilter', { fromBlock: '0x5', toBlock: '0x7' })
  const past = await ask('eth_newFilter', { fromBlock: '0x1', toBlock: 'latest', address: TOKEN })
  const none = await ask('eth_newFilter', { address: `0x${'71'.repeat(20)}` })
  await advance(8)
  expect(numbersIn(await ask('eth_getFilterChanges', later))).toEqual(range(5, 7))
  // What was there before is not new.
  expect(numbersIn(await ask('eth_getFilterChanges', past))).toEqual(range(3, 10))
  expect(await ask('eth_getFilterChanges', none)).toEqual([])
  expect(numbersIn(await ask('eth_getFilterLogs', past))).toEqual(range(1, 10))
  expect(numbersIn(await ask('eth_getFilterLogs', later))).toEqual(range(5, 7))
  await advance(2)
  expect(await ask('eth_getFilterChanges', later)).toEqual([])
})

it('refuses what is no filter', async () => {
  const { ask } = await setUp()
  for (const id of ['0x1', '0x0', `0x1${'0'.repeat(30)}`]) {
    for (const method of ['eth_getFilterChanges', 'eth_getFilterLogs'])
      expect(await reasonOf(ask(method, id))).toBe(GONE)
    expect(await ask('eth_uninstallFilter', id)).toBe(false)
  }
  const blocks = await ask('eth_newBlockFilter')
  expect(await reasonOf(ask('eth_getFilterLogs', blocks))).toBe(GONE)
  expect([await ask('eth_uninstallFilter', blocks), await ask('eth_uninstallFilter', blocks)]).toEqual([true, false])
  expect(await reasonOf(ask('eth_getFilterChanges', blocks))).toBe(GONE)
  const wrong = [{ blockHash: `0x${'11'.repeat(32)}` }, { addres: TOKEN }, { fromBlock: '0x2', toBlock: '0x1' }, 7]
  for (const query of wrong) expect(await reasonOf(ask('eth_newFilter', query))).toBe('PARAMS_INVALID -32602')
  for (const id of [7, 'all', `0x1${'0'.repeat(32)}`])
    expect(await reasonOf(ask('eth_getFilterChanges', id))).toBe('PARAMS_INVALID -32602')
})

it('keeps a bounded number of filters for each client, and for all of them', async () => {
  const { verified } = await setUp()
  const make = async (ask: ReturnType<typeof askOf>, count: number, query: object = {}) => {
    const ids: Hex[] = []
    for (let index = 0; index < count; index++) ids.push(await ask('eth_newFilter', query))
    return ids
  }
  const [greedy, modest] = [askOf(verified, 'greedy'), askOf(verified, 'modest')]
  const [kept] = await make(modest, 1)
  const ids = await make(greedy, MAX_FILTERS_A_CLIENT + 1)
  expect(await reasonOf(greedy('eth_getFilterChanges', ids[0]))).toBe(GONE)
  expect(await reasonOf(greedy('eth_getFilterChanges', ids[1]))).toBe('answered')
  expect(await reasonOf(modest('eth_getFilterChanges', kept))).toBe('answered')
  // Each takes as much of the room as it names: of clients with as much each, the least lately used ones make place.
  const address = Array.from({ length: 1024 }, () => TOKEN)
  const room = Math.floor((MAX_FILTERS_SIZE - FILTER_SIZE) / (FILTER_SIZE + address.length))
  for (const id of ids) await greedy('eth_uninstallFilter', id)
  const large: Hex[] = []
  for (let index = 0; index <= room; index++) large.push(...(await make(askOf(verified, `${index}`), 1, { address })))
  const held = await Promise.all(large.map(id => reasonOf(greedy('eth_getFilterChanges', id))))
  expect(held.filter(reason => reason === 'answered')).toHaveLength(room)
  expect(held[0]).toBe(GONE)
  expect(await reasonOf(modest('eth_getFilterChanges', kept))).toBe('answered')
})

it('lets no client push out the filters of one that has less', async () => {
  const { verified } = await setUp()
  const [greedy, modest, other] = ['greedy', 'modest', 'other'].map(name => askOf(verified, name))
  const address = Array.from({ length: 1024 }, () => TOKEN)
  const largest = { address, topics: Array.from({ length: 4 }, () => address.map(() => `0x${'11'.repeat(32)}`)) }
  const kept = await Promise.all([modest?.('eth_newFilter', {}), modest?.('eth_newBlockFilter')])
  const second = await other?.('eth_newFilter', largest)
  const ids: Hex[] = []
  for (let index = 0; index < 20; index++) ids.push(await greedy?.('eth_newFilter', largest))
  const changes = (id: Hex) => reasonOf(verified.request({ method: 'eth_getFilterChanges', params: [id] }))
  expect(await Promise.all([...kept, second].map(changes))).toEqual(['answered', 'answered', 'answered'])
  // The client that has the most gives up its own, from the one that it used least lately.
  const room = Math.floor((MAX_FILTERS_SIZE - 2 * FILTER_SIZE) / (FILTER_SIZE + 5 * 1024)) - 1
  const held = await Promise.all(ids.map(changes))
  expect(held).toEqual(ids.map((_, index) => (index < ids.length - room ? GONE : 'answered')))
})

it('gives nothing at half of its time rather than failing, and goes on next time', async () => {
  const slow = { receipts: 0 }
  const { ask, advance, endpoint } = await setUp(
    { timeoutMs: 8000, signal: new AbortController().signal },
    async (answer, method) => {
      // A piece takes more than eight seconds.
      if (method === 'eth_getBlockReceipts') await new Promise(resolve => setTimeout(resolve, 100 * ++slow.receipts))
      return answer
    },
  )
  const id = await ask('eth_newFilter', { address: TOKEN })
  await advance(60)
  endpoint.counts()
  // From here on, nothing is loaded, which would take no time at all.
  skipTime()
  const parts: number[][] = []
  for (let found: number[] = []; found.length === 0; parts.push(found)) {
    slow.receipts = 0
    const began = Date.now()
    found = numbersIn(await ask('eth_getFilterChanges', id))
    expect(Date.now() - began).toBeLessThanOrEqual(4000)
  }
  expect(parts).toEqual([[], [], range(3, 62)])
  // Nothing is asked for twice: what was under way at that time is kept.
  expect(endpoint.counts()['eth_getBlockReceipts']).toBe(60)
})

it('comes to an end with an endpoint that takes longer for each answer than a request lasts', async () => {
  const { ask, advance, endpoint } = await setUp(
    { timeoutMs: 8000, signal: new AbortController().signal },
    async (answer, method) => {
      const isOfBlocks = method === 'eth_getBlockReceipts' || method === 'eth_getBlockByNumber'
      if (isOfBlocks) await new Promise(resolve => setTimeout(resolve, 9000))
      return answer
    },
  )
  const id = await ask('eth_newFilter', { address: TOKEN })
  await advance(60)
  endpoint.counts()
  skipTime()
  const found: number[] = []
  let polls = 0
  for (; found.length < 60 && polls < 99; polls++) found.push(...numbersIn(await ask('eth_getFilterChanges', id)))
  expect(found).toEqual(range(3, 62))
  // Twice two turns of headers and three of receipts, of nine seconds each.
  expect(polls).toBeLessThan(16)
  expect(endpoint.counts()['eth_getBlockReceipts']).toBe(60)
})

it('loses no event of filters that are asked for in one batch, whatever its size, and gives what fits', async () => {
  const { verified, ask, advance } = await setUp()
  const limits = { concurrency: 16, maxWaiting: 99, maxBatch: 99, maxResponseLength: 40_000, timeout: 60_000 }
  const rpc = createJsonRpcServer(verified, limits)
  const names = range(1, 3)
  const ids: Hex[] = []
  for (const _ of names) ids.push(await ask('eth_newFilter', { address: TOKEN }))
  await advance(90)
  const found = names.map((): number[] => [])
  let [rounds, most] = [0, 0]
  for (let more = 1; more > 0; rounds++) {
    const batch = ids.map((id, index) => ({ jsonrpc: '2.0', id: index, method: 'eth_getFilterChanges', params: [id] }))
    const text = (await rpc.answer(JSON.stringify(batch))) ?? ''
    const answers: { id: number; result: { blockNumber: Hex }[] }[] = JSON.parse(text)
    more = answers.reduce((sum, { result }) => sum + result.length, 0)
    most = Math.max(most, text.length)
    for (const { id, result } of answers) found[id]?.push(...numbersIn(result))
  }
  expect(found).toEqual(names.map(() => range(3, 92)))
  expect(most).toBeLessThanOrEqual(limits.maxResponseLength)
  expect(rounds).toBeGreaterThan(5)
})

it('says of a block that never fits that it does not', async () => {
  const { ask, advance, verified } = await setUp()
  const id = await ask('eth_newFilter', { address: TOKEN })
  await advance(2)
  const asked = { method: 'eth_getFilterChanges', params: [id] }
  const limits = { concurrency: 16, maxWaiting: 99, maxBatch: 99, maxResponseLength: 500, timeout: 60_000 }
  const rpc = createJsonRpcServer(verified, limits)
  expect(await rpc.answer(JSON.stringify({ jsonrpc: '2.0', id: 1, ...asked }))).toContain('LIMIT_REACHED')
  expect(numbersIn(await verified.request(asked))).toEqual(range(3, 4))
})

it('gives the first part of what takes long, and the rest next time', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  // More than half of the time that a request has, for each block of receipts.
  const { ask, advance } = await setUp({ timeoutMs: 60_000 }, (answer, method) => {
    if (method === 'eth_getBlockReceipts') vi.advanceTimersByTime(1000)
    return answer
  })
  const id = await ask('eth_newFilter', { address: TOKEN })
  await advance(600)
  const parts: number[][] = []
  for (let found = [0]; found.length > 0; ) {
    found = numbersIn(await ask('eth_getFilterChanges', id))
    parts.push(found)
  }
  expect(parts.flat()).toEqual(range(3, 602))
  expect(parts.map(({ length }) => length)).toEqual([64, 64, 64, 64, 64, 64, 64, 64, 64, 24, 0])
})
