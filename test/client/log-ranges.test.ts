import { expect, it, onTestFinished } from 'vitest'
import { askLogs, inOrder } from '../../src/client/l1/log-ranges.ts'
import { openProvider } from '../../src/client/transport/provider.ts'
import { demoWorld } from '../../src/devnet/index.ts'
import { createService } from '../../src/devnet/service/service.ts'
import { lineaMessageService as messageService } from '../../src/entry/messages.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import {
  createHttpProvider,
  EndpointError,
  finalizedBlockHash,
  followMessages,
  type RequestProvider,
  recordMessage,
} from '../../src/entry/rpc.ts'
import { withNetwork } from '../network.ts'
import { ROLLUP, USER } from './servers.ts'

const OTHER = `0x${'b2'.repeat(20)}` as const

/** A rollup whose second finalization has 60 blocks, with a message in every tenth; and 300 L1 blocks since. */
async function start() {
  const service = createService({ genesis: demoWorld(poseidon2), rollup: ROLLUP, messageService })
  onTestFinished(() => service.close())
  const { chain } = service
  chain.messages.sendFromL2([{ from: OTHER, to: OTHER, value: 1n }])
  chain.addBlock()
  chain.finalize()
  const numbers: bigint[] = []
  for (let block = 0; block < 60; block++) {
    if (block % 10 === 0) {
      chain.messages.sendFromL2([{ from: USER, to: OTHER, value: BigInt(block) }])
      numbers.push(BigInt(numbers.length) + 2n)
    }
    chain.addBlock()
  }
  chain.finalize()
  for (let block = 0; block < 300; block++) chain.l1.addBlock()
  const { url, l1Url } = await service.listen()
  return { numbers, l1: l1Url, l2: url }
}

/** An endpoint that allows so many blocks per request of logs, and how many requests it has got. */
function limited(url: string, blocks: number, refusal: { code: number; message: string }) {
  const { request } = createHttpProvider(url)
  const asked = { logs: 0, refused: 0, all: 0 }
  const provider: RequestProvider = {
    async request(args) {
      asked.all++
      if (args.method !== 'eth_getLogs') return request(args)
      const [{ fromBlock, toBlock }] = args.params as [{ fromBlock: string; toBlock: string }]
      asked.logs++
      if (Number(toBlock) - Number(fromBlock) < blocks) return request(args)
      asked.refused++
      throw Object.assign(new Error(refusal.message), refusal)
    },
  }
  return { provider, asked }
}

const REFUSALS = {
  5: { code: -32614, message: 'eth_getLogs is limited to a 5 range' },
  10: { code: -32600, message: 'You can make eth_getLogs requests with up to a 10 block range.' },
  500: { code: -32602, message: 'range 2000 exceeds limit of 500' },
  0: { code: -32601, message: 'the method eth_getLogs does not exist/is not available' },
} as const

it.each([
  [5, 'an L1'],
  [10, 'an L1'],
  [10, 'a pruned L1'],
  [500, 'an L1'],
  [0, 'an L1'],
] as const)(
  'records and follows messages with endpoints that allow %i blocks of logs, and %s',
  async (most, kind) => {
    const { numbers, l1, l2 } = await start()
    const [one, two] = [limited(l1, most, REFUSALS[most]), limited(l2, most, REFUSALS[most])]
    const { request } = one.provider
    if (kind === 'a pruned L1') {
      one.provider.request = async args => {
        if (args.method !== 'eth_getStorageAt') return request(args)
        throw Object.assign(new Error('missing trie node'), { code: -32000 })
      }
    }
    const about = { rollup: ROLLUP, scheme: poseidon2, messageService, l1: one.provider, l2: two.provider }
    const recorded = await recordMessage(withNetwork({ ...about, message: { from: USER } }))
    expect([recorded.verified.status, recorded.verified.message.number]).toEqual(['claimable', numbers.at(-1)])
    // Learnt in at most 11 steps, and remembered.
    expect(two.asked.refused).toBeLessThanOrEqual(11)
    expect(one.asked.refused).toBeLessThanOrEqual(13)
    expect(one.asked.all + two.asked.all).toBeLessThan(250)
    const found: bigint[] = []
    const l1BlockHash = finalizedBlockHash(one.provider)
    const following = { ...about, l1BlockHash, from: USER, fromL2BlockNumber: 0n }
    for await (const { messages } of followMessages(withNetwork(following))) {
      found.push(...messages.map(({ message }) => message.number))
      if (found.length === numbers.length) break
    }
    expect(found).toEqual(numbers)
    expect(found).toHaveLength(6)
  },
  60_000,
)

it('does not ask for ever where each range is refused in words that nobody knows', async () => {
  let asked = 0
  const provider: RequestProvider = {
    async request({ params }) {
      asked++
      const [{ fromBlock, toBlock }] = params as [{ fromBlock: string; toBlock: string }]
      if (fromBlock !== toBlock) throw Object.assign(new Error('not today'), { code: -32000 })
      return []
    },
  }
  const filter = { address: OTHER, topics: [] }
  const read = async () => {
    for await (const _ of askLogs(
      openProvider(provider),
      filter,
      { first: 1n, last: 100_000n },
      { signal: undefined },
    ));
  }
  await expect(read()).rejects.toMatchObject({ code: 'ENDPOINT_ERROR' })
  // Ten refusals for each block that it names in the end.
  expect(asked).toBe(501 + 50)
})

it('asks for fewer blocks where there are too many logs, and for as many as before after that', async () => {
  const asked: [number, number][] = []
  const provider: RequestProvider = {
    async request({ params }) {
      const [{ fromBlock, toBlock }] = params as [{ fromBlock: string; toBlock: string }]
      const [from, to] = [Number(fromBlock), Number(toBlock)]
      asked.push([from, to])
      // All logs are in the blocks 2,000 and 2,001.
      const error = { code: -32005, message: 'query returned more than 10000 results' }
      if (from <= 2000 && to >= 2001) throw Object.assign(new Error(error.message), error)
      return [from]
    },
  }
  const pieces = []
  const filter = { address: OTHER, topics: [] }
  for await (const piece of askLogs(
    openProvider(provider),
    filter,
    { first: 1n, last: 8000n },
    { signal: undefined },
  )) {
    pieces.push([piece.first, piece.last])
  }
  expect(pieces).toEqual([
    [1n, 2000n],
    [2001n, 4000n],
    [4001n, 6000n],
    [6001n, 8000n],
  ])
  asked.length = 0
  const cut = []
  for await (const piece of askLogs(
    openProvider(provider),
    filter,
    { first: 1000n, last: 7999n },
    { signal: undefined },
  )) {
    cut.push([piece.first, piece.last])
  }
  expect(cut).toEqual([
    [1000n, 1999n],
    [2000n, 2000n],
    [2001n, 4000n],
    [4001n, 6000n],
    [6001n, 7999n],
  ])
  expect(asked.length).toBe(16)
})

it('ends with the refusal, in a bounded number of requests, if no range is allowed or it takes too many', async () => {
  let requests = 0
  const refuse = (blocks: number): RequestProvider => ({
    async request({ params }) {
      requests++
      const [{ fromBlock, toBlock }] = params as [{ fromBlock: string; toBlock: string }]
      if (Number(toBlock) - Number(fromBlock) < blocks) return []
      throw new EndpointError('PARAMS_REFUSED', { said: 'block range too large' })
    },
  })
  const walk = async (provider: RequestProvider) => {
    requests = 0
    const filter = { address: OTHER, topics: [] }
    for await (const _ of askLogs(
      openProvider(provider),
      filter,
      { first: 0n, last: 1_000_000n },
      { signal: undefined },
    ));
  }
  await expect(walk(refuse(0))).rejects.toMatchObject({ code: 'PARAMS_REFUSED' })
  expect(requests).toBe(11)
  await expect(walk(refuse(5))).rejects.toMatchObject({
    code: 'PARAMS_REFUSED',
    found: expect.stringContaining('it allows 3 blocks'),
  })
  expect(requests).toBe(500)
})

it('sorts logs by their places, and keeps each once', () => {
  const log = (blockNumber: string, logIndex: string, data = '0x') => ({ blockNumber, logIndex, data, topics: ['0x1'] })
  const sorted = [log('0x9', '0x0'), log('0xa', '0x1'), log('0xa', '0x2')]
  const order = (logs: readonly unknown[]) => inOrder(logs).map(one => one.log)
  expect(order(sorted.toReversed())).toEqual(sorted)
  expect(order([...sorted, ...sorted])).toEqual(sorted)
  expect(inOrder(sorted).map(({ block }) => block)).toEqual([9n, 10n, 10n])
  expect(inOrder([log('0xa', '0x1'), log('0xa', '0x1', '0x01')])).toHaveLength(2)
  expect(order([null, {}, 7])).toEqual([null, {}, 7])
  expect(inOrder([null])).toMatchObject([{ block: null }])
  const odd = [{ toString: 1 }, null, 7, [{ toString: 1 }]].flatMap(data =>
    Array(2).fill({ ...log('0xa', '0x1'), data }),
  )
  expect(order(odd)).toEqual(odd)
  expect(inOrder(odd.map(({ data, ...one }) => ({ ...one, data: '0x', topics: data })))).toHaveLength(8)
})
