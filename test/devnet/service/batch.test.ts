import { JsonRpcProvider } from 'ethers'
import { createPublicClient, http } from 'viem'
import { expect, it } from 'vitest'
import type { Fault, FaultRequest } from '../../../src/devnet/index.ts'
import type { Hex } from '../../../src/entry/index.ts'
import { CONTRACT, startService, USER, word } from '../../client/servers.ts'

interface Answered {
  readonly status: number
  readonly retryAfter: string | null
  readonly text: string
  readonly body: unknown
}

async function post(url: string, message: unknown): Promise<Answered> {
  const body = typeof message === 'string' ? message : JSON.stringify(message)
  const response = await fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body })
  const text = await response.text()
  const parsed: unknown = text === '' ? null : JSON.parse(text)
  return { status: response.status, retryAfter: response.headers.get('Retry-After'), text, body: parsed }
}

const ask = (id: unknown, method = 'eth_blockNumber', params: unknown = []) => ({ jsonrpc: '2.0', id, method, params })
const answered = (id: unknown, result: unknown) => ({ jsonrpc: '2.0', id, result })
const refused = (id: unknown, code: number) => ({
  jsonrpc: '2.0',
  id,
  error: { code, message: expect.any(String) },
})

it('serves ethers as it is by default, which batches', async () => {
  let requests = 0
  const { url } = await startService({ faults: () => void requests++ })
  const ethers = new JsonRpcProvider(url)
  const answers = Promise.all([
    ethers.getBlockNumber(),
    ethers.getBalance(USER),
    ethers.getTransactionCount(USER),
    ethers.getStorage(CONTRACT, 0),
    // By these words, it knows that the method is not there.
    ethers.send('eth_nothing', []).catch((error: { code: string }) => error.code),
  ])
  expect(await answers).toEqual([1, 10n ** 18n, 7, word(43), 'UNSUPPORTED_OPERATION'])
  expect(requests).toBeGreaterThan(4)
  ethers.destroy()
})

it('serves viem when it batches', async () => {
  const { url } = await startService()
  const viem = createPublicClient({ transport: http(url, { batch: true, retryCount: 0 }) })
  const answers = [viem.getBlockNumber(), viem.getChainId(), viem.getBalance({ address: USER })]
  expect(await Promise.all(answers)).toEqual([1n, 1337, 10n ** 18n])
})

it('answers each request of a batch in order, with its own error', async () => {
  const { url, l1Url } = await startService()
  const batch = [
    ask(1),
    ask('two', 'eth_nothing'),
    7,
    ask(null, 'eth_chainId'),
    [],
    ask(3, 'eth_getBalance', ['0x12', 'latest']),
    { jsonrpc: '2.0', id: 4 },
    { ...ask(5), jsonrpc: '1.0' },
    ask(6, 'eth_blockNumber', {}),
    ask(1.5),
    ask(1),
  ]
  expect((await post(url, batch)).body).toEqual([
    answered(1, '0x1'),
    refused('two', -32601),
    refused(null, -32600),
    answered(null, '0x539'),
    refused(null, -32600),
    refused(3, -32602),
    refused(4, -32600),
    refused(5, -32600),
    refused(6, -32602),
    refused(null, -32600),
    answered(1, '0x1'),
  ])
  expect((await post(l1Url, [ask(1, 'eth_chainId')])).body).toEqual([answered(1, '0x53a')])
})

it('answers an empty batch, and notifications not at all, as JSON-RPC 2.0 requires', async () => {
  const asked: string[] = []
  const { url } = await startService({ faults: ({ method }) => void asked.push(method) })
  const notification = { jsonrpc: '2.0', method: 'eth_blockNumber' }
  const cases: [unknown, unknown, number?][] = [
    ['[]', refused(null, -32600)],
    ['[', refused(null, -32700)],
    ['[{"jsonrpc": "2.0", "method": "a", "id": "1"}, {"jsonrpc"]', refused(null, -32700)],
    [
      [1, 2],
      [refused(null, -32600), refused(null, -32600)],
    ],
    [{}, refused(null, -32600)],
    [notification, null, 204],
    [[notification, { ...notification, method: 'eth_nothing' }], null, 204],
    [[notification, ask(2)], [answered(2, '0x1')]],
    // Not notifications: they are malformed.
    [{ jsonrpc: '2.0' }, refused(null, -32600)],
  ]
  for (const [message, body, status = 200] of cases) {
    expect(await post(url, message), JSON.stringify(message)).toMatchObject({ status, body })
  }
  // A notification is worked on: only its answer is left out.
  expect(asked).toEqual(['eth_blockNumber', 'eth_blockNumber', 'eth_nothing', 'eth_blockNumber', 'eth_blockNumber'])
})

it('bounds the number of requests in a batch', async () => {
  let asked = 0
  const { url } = await startService({ faults: () => void asked++ })
  const batchOf = (length: number) => Array.from({ length }, (_, id) => ask(id))
  const { body } = await post(url, batchOf(1000))
  expect(body).toEqual(batchOf(1000).map(({ id }) => answered(id, '0x1')))
  expect(asked).toBe(1000)
  expect((await post(url, batchOf(1001))).body).toEqual(refused(null, -32600))
  expect(asked).toBe(1000)
})

it('bounds the length of the answers to a batch, and works on none beyond it', async () => {
  let asked = 0
  const long = 'x'.repeat(2 ** 22)
  const faults = () => {
    asked++
    return { kind: 'lie', change: () => long } as const
  }
  const { url } = await startService({ faults })
  const notification = { jsonrpc: '2.0', method: 'eth_blockNumber' }
  const { text, body } = await post(url, [ask(0), ask(1), ask(2), ask(3), ask('four'), notification, 5])
  const answers = body as readonly { id: unknown; result?: string; error?: { code: number } }[]
  expect(answers.map(({ id, result, error }) => [id, result?.length ?? error?.code])).toEqual([
    ...[0, 1, 2].map(id => [id, long.length]),
    [3, -32005],
    ['four', -32005],
    [null, -32600],
  ])
  expect(text.length).toBeLessThan(2 ** 24)
  expect(asked).toBe(4)
  // A single answer is bounded by what its method allows.
  expect((await post(url, ask(6))).text.length).toBeGreaterThan(2 ** 22)
})

it('applies faults to the requests of a batch', async () => {
  const seen: FaultRequest[] = []
  let faultAt: readonly (Fault | undefined)[] = []
  const { url } = await startService({
    faults: request => {
      seen.push(request)
      return faultAt[request.turn % 3]
    },
  })
  const batch = [ask(0), ask(1, 'eth_chainId'), ask(2, 'eth_getBalance', [USER])]
  const balance: Hex = '0xde0b6b3a7640000'
  faultAt = [
    { kind: 'delay', milliseconds: 20 },
    { kind: 'error', code: -32000, message: 'a message' },
    { kind: 'lie', change: result => `${result}0` },
  ]
  expect((await post(url, batch)).body).toEqual([
    answered(0, '0x1'),
    { jsonrpc: '2.0', id: 1, error: { code: -32000, message: 'a message' } },
    answered(2, `${balance}0`),
  ])
  expect(seen).toEqual(
    batch.map(({ method, params }, turn) => ({ endpoint: 'l2', method, params, turn }) as unknown as FaultRequest),
  )
  // These concern the whole response.
  faultAt = [undefined, undefined, { kind: 'status', status: 429, retryAfterSeconds: 3 }]
  expect(await post(url, batch)).toMatchObject({ status: 429, retryAfter: '3' })
  faultAt = [undefined, undefined, { kind: 'reset' }]
  await expect(post(url, batch)).rejects.toThrow('fetch failed')
  faultAt = [undefined, { kind: 'cut' }, undefined]
  await expect(post(url, batch)).rejects.toThrow()
  expect(seen.length).toBe(12)
})
