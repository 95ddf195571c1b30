import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { request as httpRequest, Server } from 'node:http'
import { Readable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { createPublicClient, encodeFunctionData, http, parseAbi } from 'viem'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { serveProxy } from '../../src/cli/commands/proxy-server.ts'
import { run } from '../../src/cli/run.ts'
import { addDemoBlocks, createService, demoWorld } from '../../src/devnet/index.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import type { RequestProvider } from '../../src/entry/rpc.ts'
import { type Answering, createJsonRpcServer, type ServerLimits } from '../../src/provider/json-rpc.ts'
import { startServer } from '../client/servers.ts'
import { PROGRAM } from '../package/build.ts'
import { freePort } from '../port.ts'
import { collector, networkOf, runHere } from './io.ts'
import { startProxyProcess } from './proxy-process.ts'

const ROLLUP = '0x00000000000000000000000000000000000011ff'
const TOKEN = `0x${'70'.repeat(20)}` as const
const [ALICE, BOB] = [`0x${'a1'.repeat(20)}`, `0x${'b2'.repeat(20)}`] as const
const abi = parseAbi(['function balanceOf(address) view returns (uint256)'])

async function startService(port = 0) {
  const service = createService({ genesis: demoWorld(poseidon2), rollup: { address: ROLLUP } })
  addDemoBlocks(service.chain)
  const urls = await service.listen(port)
  onTestFinished(() => service.close({ graceMs: 0 }))
  return { service, ...urls }
}

const startProxy = (port: string, l1: string, l2: string, ...more: string[]) => {
  const network = ['--l1', l1, '--l2', l2, ...networkOf(ROLLUP)]
  const args = [...network, '--port', port, ...more]
  return startProxyProcess([PROGRAM], args, program => onTestFinished(() => void program.kill('SIGKILL')))
}

/** Sends a request with curl. */
async function curl(url: string, id: unknown, method: string, params: unknown[]): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: '2.0', id, method, params })
  const args = ['-s', '-H', 'Content-Type: application/json', '-d', body, url]
  return JSON.parse((await promisify(execFile)('curl', args)).stdout)
}

const clientOf = (url: string) => createPublicClient({ transport: http(url, { batch: true, retryCount: 0 }) })

it('requires several L1 endpoints to agree, unless there is another source', async () => {
  const [{ url: l2, l1Url: l1 }, other] = [await startService(), await startService()]
  const proxy = await startProxy('0', l1, l2, '--l1', other.l1Url)
  expect(proxy.events[0]).toMatchObject({ trust: '2 of 2 L1 endpoints that must agree' })
  expect(await proxy.until(({ event }) => event === 'view')).toMatchObject({ l2BlockNumber: '8' })
})

it('serves curl and viem through a finalization, an outage, a kill and a shutdown', async () => {
  const { service, url: l2, l1Url: l1 } = await startService()
  const { chain } = service
  const port = `${await freePort()}`
  const proxy = await startProxy(port, l1, l2, '--l1-agree', l1, '--forward', 'web3_clientVersion')
  const view = await proxy.until(({ event }) => event === 'view')
  expect(view).toMatchObject({ l2BlockNumber: '8', stateRoot: chain.at(8n)?.stateRoot() })
  expect(view.timestamp).toMatch(/^\d+$/)
  expect(JSON.stringify(proxy.events)).not.toContain(l2)
  expect(proxy.events[0]).toMatchObject({
    trust: 'one endpoint only, which could invent the hash. Add --l1-agree or --checkpoint.',
    forward: ['web3_clientVersion'],
  })

  const body = JSON.stringify({ jsonrpc: '2.0', id: 'one', method: 'eth_getBalance', params: [BOB, 'latest'] })
  const balance = { jsonrpc: '2.0', id: 'one', result: '0xd' }
  expect(await curl(proxy.url, 'one', 'eth_getBalance', [BOB, 'latest'])).toEqual(balance)
  const data = encodeFunctionData({ abi, functionName: 'balanceOf', args: [BOB] })
  const called = await curl(proxy.url, 2, 'eth_call', [{ to: TOKEN, data }, 'latest'])
  expect(called).toMatchObject({ id: 2, result: expect.stringMatching(/^0x0{40}[0-9a-f]{24}$/) })
  const refused = {
    code: 4200,
    message: expect.stringMatching(
      /^Only proven answers are given here: .*--forward wallet all that sending needs\. Here, the method /,
    ),
  }
  expect(await curl(proxy.url, 3, 'eth_subscribe', ['newHeads'])).toMatchObject({ error: refused })

  const client = clientOf(proxy.url)
  const balanceOf = (owner: typeof ALICE | typeof BOB) =>
    client.readContract({ abi, address: TOKEN, functionName: 'balanceOf', args: [owner] })
  const sum = async () => (await balanceOf(ALICE)) + (await balanceOf(BOB))
  const before = await Promise.all([balanceOf(ALICE), balanceOf(BOB), client.getBlockNumber()])
  expect(before[0]).toBeGreaterThan(0n)
  // The newest block that the state after block 8 proves.
  expect(before[2]).toBe(7n)
  await expect(client.request({ method: 'eth_subscribe' } as never)).rejects.toMatchObject({ code: 4200 })

  // A finalization during requests: each is answered from one block or the other.
  const total = await sum()
  const running = (async () => {
    const seen = new Set<bigint>()
    while (!seen.has(9n)) {
      const [block, supply] = await Promise.all([client.getBlockNumber({ cacheTime: 0 }), balanceOf(ALICE)])
      // One of the requests was answered before.
      if (seen.size === 0) addDemoBlocks(chain, { counts: [2] })
      seen.add(block)
      expect(supply).toBeLessThanOrEqual(total)
    }
    return [...seen]
  })()
  expect(await running).toEqual([7n, 9n])
  await proxy.until(({ l2BlockNumber }) => l2BlockNumber === '10')
  expect(await curl(proxy.url, 4, 'eth_blockNumber', [])).toMatchObject({ result: '0x9' })

  // The endpoints go down: proven values are still served, others are refused.
  const known = await balanceOf(ALICE)
  await service.close({ graceMs: 0 })
  const failure = await proxy.until(({ event }) => event === 'failure')
  expect(failure).toMatchObject({
    reason: 'ENDPOINT_FAILED',
    action: 'wait',
    message: expect.stringContaining('UNREACHABLE'),
  })
  expect(await balanceOf(ALICE)).toBe(known)
  await expect(client.getBalance({ address: `0x${'77'.repeat(20)}` })).rejects.toThrow('UNREACHABLE')

  // The proxy is killed and restarted on the same port, with working endpoints.
  await proxy.end('SIGKILL')
  const { url: again, l1Url: l1Again } = await startService()
  const restarted = await startProxy(port, l1Again, again)
  expect(await client.getBalance({ address: BOB })).toBe(13n)
  expect(await curl(restarted.url, 'one', 'eth_getBalance', [BOB, 'latest'])).toEqual(balance)
  expect(restarted.events[0]?.trust).toContain('could invent the hash')
  // A request in progress at shutdown is answered.
  const url = new URL(proxy.url)
  const headers = { 'Content-Type': 'application/json', 'Content-Length': `${body.length}`, Expect: '100-continue' }
  const last = httpRequest(url, { method: 'POST', headers })
  last.write(body.slice(0, 10))
  // The proxy waits for the rest of it.
  await once(last, 'continue')
  restarted.program.kill('SIGINT')
  last.end(body.slice(10))
  const [answered] = await once(last, 'response')
  let text = ''
  for await (const chunk of answered) text += chunk
  expect(JSON.parse(text)).toMatchObject({ result: '0xd' })
  expect(await restarted.end()).toBe(0)
  expect(restarted.events.at(-1)).toMatchObject({ event: 'stopped' })
})

const LIMITS: ServerLimits = { concurrency: 2, maxWaiting: 2, maxBatch: 5, maxResponseLength: 200, timeout: 10_000 }

async function serveHere(
  provider: Answering,
  limits: Partial<ServerLimits> = {},
  origins = ['https://wallet.example'],
) {
  const rpc = createJsonRpcServer(provider, { ...LIMITS, ...limits })
  const server = await serveProxy(rpc, { origins, hosts: ['proxy.lan'] }, 0, '127.0.0.1')
  onTestFinished(() => server.close(0))
  return server.url
}

interface Sent {
  readonly method?: string
  readonly path?: string
  readonly headers?: { readonly Host?: string; readonly Origin?: string; readonly 'Content-Type'?: string }
  readonly body?: string
}

/** Unlike `fetch`, sends any header. */
async function send(url: string, { method = 'POST', path = '/', headers = {}, body = '' }: Sent) {
  const all = { 'Content-Type': 'application/json', ...headers }
  const request = httpRequest(new URL(path, url), { method, headers: all })
  request.end(body)
  const [response] = await once(request, 'response')
  let text = ''
  for await (const chunk of response) text += chunk
  return { status: response.statusCode as number, headers: response.headers as Record<string, string>, text }
}
const PING = { jsonrpc: '2.0', id: 1, method: 'ping' }
const echo: RequestProvider = { request: async ({ method, params }) => ({ method, params }) }

it('lists the logs that its endpoint lists, and says so of each and in a header, if they may be incomplete', async () => {
  const { url: l2, l1Url: l1 } = await startService()
  const proxy = await startProxy('0', l1, l2, '--l1-agree', l1, '--incomplete-logs')
  const params = [{ fromBlock: '0x1', toBlock: '0x7', address: TOKEN }]
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getLogs', params })
  const response = await fetch(proxy.url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body })
  expect(response.headers.get('X-Unproven')).toBe('eth_getLogs (completeness)')
  const { result } = (await response.json()) as { result: { completeness: string }[] }
  expect(result.map(({ completeness }) => completeness)).toEqual(Array(7).fill('unproven'))
})

it('answers only pages of known origins, under known host names', async () => {
  const url = await serveHere(echo)
  const body = JSON.stringify(PING)
  const cases: [Sent, number][] = [
    [{ body }, 200],
    [{ body, headers: { Host: 'localhost:8545' } }, 200],
    [{ body, headers: { Host: '[::1]:8545' } }, 200],
    [{ body, headers: { Host: 'PROXY.lan' } }, 200],
    [{ body, headers: { Host: 'attacker.example' } }, 403],
    [{ body, headers: { Host: '127.0.0.1.attacker.example:8545' } }, 403],
    [{ body, headers: { Host: 'localhost.attacker.example' } }, 403],
    [{ body, headers: { Host: '127.0.0.1@attacker.example' } }, 403],
    [{ body, headers: { Origin: 'https://wallet.example' } }, 200],
    [{ body, headers: { Origin: 'https://wallet.example.attacker.example' } }, 403],
    [{ body, headers: { Origin: 'http://wallet.example' } }, 403],
    [{ body, headers: { Origin: 'null' } }, 403],
    [{ body, headers: { Origin: '*' } }, 403],
    [{ body, headers: { 'Content-Type': 'text/plain' } }, 415],
    [{ body, path: '/other' }, 404],
    [{ method: 'GET' }, 405],
    [{ body: `${body}${' '.repeat(2 ** 22)}` }, 413],
    [{ method: 'OPTIONS', headers: { Origin: 'https://wallet.example' } }, 204],
    [{ method: 'OPTIONS', headers: { Origin: 'https://attacker.example' } }, 403],
  ]
  for (const [sent, status] of cases) {
    const found = await send(url, sent).catch((error: NodeJS.ErrnoException) => error.code)
    // The connection may close before the client has read the 413 response.
    if (status === 413 && typeof found === 'string') continue
    expect(found, JSON.stringify(sent).slice(0, 200)).toMatchObject({ status })
    const { 'access-control-allow-origin': allowed } = (found as { headers: Record<string, string> }).headers
    const isPage = sent.headers?.Origin === 'https://wallet.example'
    expect(allowed).toBe(isPage ? 'https://wallet.example' : undefined)
  }
  expect(cases.length).toBe(19)
  const open = await serveHere(echo, {}, ['*'])
  const headers = { Origin: 'https://any.example', 'Access-Control-Request-Private-Network': 'true' } as const
  const preflight = await send(open, { method: 'OPTIONS', headers })
  expect(preflight.headers).toMatchObject({
    ...{ 'access-control-allow-origin': 'https://any.example', 'access-control-allow-private-network': 'true' },
  })
})

it('bounds its memory over all clients, and frees that of closed connections', async () => {
  const url = new URL(await serveHere(echo))
  let isOver = false
  const hoards: ReturnType<typeof httpRequest>[] = []
  /** A client that sends all but the end of a large request, then waits. If it is disconnected, it tries again. */
  const hoard = () => {
    if (isOver) return
    const headers = { 'Content-Type': 'application/json', 'Content-Length': `${2 ** 22}` }
    const request = httpRequest(url, { method: 'POST', headers })
    request.on('response', response => response.resume()).on('error', () => {})
    request.on('close', hoard)
    request.write(Buffer.alloc(2 ** 22 - 10, ' '))
    hoards.push(request)
  }
  for (let count = 0; count < 8; count++) hoard()
  const body = `${JSON.stringify(PING)}${' '.repeat(1000)}`
  const ask = async () => {
    await setTimeout(20)
    return (await send(`${url}`, { body }).catch(() => ({ status: 503 }))).status
  }
  let status = 200
  while (status === 200) status = await ask()
  expect(status).toBe(503)
  // A closed connection uses no memory.
  isOver = true
  for (const request of hoards) request.destroy()
  while (status !== 200) status = await ask()
})

it('accepts 256 connections at once', async () => {
  const listen = vi.spyOn(Server.prototype, 'listen')
  onTestFinished(() => listen.mockRestore())
  await serveHere(echo)
  expect(listen.mock.contexts).toMatchObject([{ maxConnections: 256 }])
})

it('answers single requests, batches and notifications as JSON-RPC 2.0 requires', async () => {
  const { answer } = createJsonRpcServer(echo, LIMITS)
  const result = { jsonrpc: '2.0', id: 1, result: { method: 'ping' } }
  const codeOf = (code: number, id: unknown = null) => ({ jsonrpc: '2.0', id, error: { code } })
  const cases: [unknown, unknown][] = [
    [PING, result],
    [
      { ...PING, id: 'x', params: [1] },
      { jsonrpc: '2.0', id: 'x', result: { method: 'ping', params: [1] } },
    ],
    [{ jsonrpc: '2.0', method: 'ping' }, null],
    [[{ jsonrpc: '2.0', method: 'ping' }], null],
    [
      [PING, { jsonrpc: '2.0', method: 'ping' }, 7, { ...PING, id: 2 }],
      [result, codeOf(-32600), { ...result, id: 2 }],
    ],
    [[], codeOf(-32600)],
    [[PING, PING, PING, PING, PING, PING], codeOf(-32600)],
    [[[PING]], [codeOf(-32600)]],
    [{ ...PING, id: {} }, codeOf(-32600)],
    [{ ...PING, id: true }, codeOf(-32600)],
    [{ ...PING, jsonrpc: '1.0' }, codeOf(-32600, 1)],
    [{ ...PING, method: 7 }, codeOf(-32600, 1)],
    [{ ...PING, params: { a: 1 } }, codeOf(-32602, 1)],
    [7, codeOf(-32600)],
    [null, codeOf(-32600)],
    [{ ...PING, params: ['x'.repeat(300)] }, codeOf(-32005, 1)],
  ]
  for (const [sent, expected] of cases) {
    const found = JSON.parse((await answer(JSON.stringify(sent))) ?? 'null')
    if (expected === null) expect(found).toBeNull()
    else expect(found, JSON.stringify(sent)).toMatchObject(Object(expected))
  }
  expect(cases.length).toBe(16)
  for (const text of ['', '{', '['.repeat(100_000), 'x']) {
    expect(JSON.parse((await answer(text)) ?? '')).toMatchObject(codeOf(-32700))
  }
})

it('limits concurrent and waiting requests, and refuses the rest', async () => {
  let [now, most] = [0, 0]
  const slow: Answering = {
    async request(_, { admit }) {
      await admit?.()
      most = Math.max(most, ++now)
      await setTimeout(20)
      now--
      return '0x1'
    },
  }
  const { answer } = createJsonRpcServer(slow, { ...LIMITS, maxResponseLength: 1000 })
  const batch = JSON.stringify(Array.from({ length: 5 }, (_, id) => ({ ...PING, id })))
  const answers: { error?: { code: number } }[] = JSON.parse((await answer(batch)) ?? '')
  expect(answers.map(({ error }) => error?.code ?? 0)).toEqual([0, 0, 0, 0, -32005])
  expect(most).toBe(2)

  const hanging = createJsonRpcServer({ request: () => new Promise(() => {}) }, { ...LIMITS, timeout: 20 })
  expect(await hanging.answer(JSON.stringify(PING))).toContain('took too long')
  expect(await createJsonRpcServer({ request: async () => 1n }, LIMITS).answer(JSON.stringify(PING))).toContain(
    '"error"',
  )
})

describe('slow requests', () => {
  /** Answers `quick` at once. Any other request is slow, and ends only when its signal says so. */
  function setUp(limits: Partial<ServerLimits> = {}) {
    const started: string[] = []
    const provider: Answering = {
      async request({ method }, { signal, admit }) {
        if (method === 'quick') return '0x1'
        await admit?.()
        started.push(method)
        return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted'))))
      },
    }
    const { answer } = createJsonRpcServer(provider, { ...LIMITS, concurrency: 1, maxWaiting: 1, ...limits })
    const ask = (method: string, gone?: AbortSignal) => answer(JSON.stringify({ ...PING, method }), { gone })
    return { started, ask }
  }

  it('never keep quick ones waiting', async () => {
    const { started, ask } = setUp()
    const clients = [new AbortController(), new AbortController()]
    const slow = clients.map(({ signal }, index) => ask(`slow ${index}`, signal))
    expect(await ask('quick')).toContain('"result":"0x1"')
    expect(started).toEqual(['slow 0'])
    // One is under way, and one waits.
    expect(await ask('slow 2')).toContain('Too many requests')
    expect(await ask('quick')).toContain('"result":"0x1"')
    for (const client of clients) client.abort()
    await Promise.all(slow)
  })

  it('make room at once when their client is gone, even while they wait', async () => {
    const { started, ask } = setUp({ maxWaiting: 2 })
    const clients = [0, 1, 2].map(() => new AbortController())
    const slow = clients.map(({ signal }, index) => ask(`slow ${index}`, signal))
    clients[1]?.abort()
    await slow[1]
    expect(started).toEqual(['slow 0'])
    clients[0]?.abort()
    await slow[0]
    await setTimeout()
    expect(started).toEqual(['slow 0', 'slow 2'])
    clients[2]?.abort()
    await slow[2]
  })

  it('make room at once when they take too long', async () => {
    const { started, ask } = setUp({ timeout: 20 })
    for (let count = 0; count < 5; count++) expect(await ask(`slow ${count}`)).toContain('took too long')
    expect(started).toHaveLength(5)
  })

  it('are aborted when the connection is closed', async () => {
    let aborted: Promise<unknown> | undefined
    const provider: Answering = {
      request: (_, { signal }) => {
        aborted = signal && once(signal, 'abort')
        return new Promise(() => {})
      },
    }
    const request = httpRequest(await serveHere(provider), {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
    })
    request.on('error', () => {})
    request.end(JSON.stringify(PING))
    while (aborted === undefined) await setTimeout(5)
    request.destroy()
    expect(await aborted).toBeDefined()
  })
})

it('echoes ids, and refuses a number that would not come back unchanged', async () => {
  const { answer } = createJsonRpcServer({ request: async () => 1 }, LIMITS)
  const request = (id: string) => `{"jsonrpc":"2.0","id":${id},"method":"ping"}`
  const ids = {
    7: '7',
    '-1': '-1',
    '1e3': '1000',
    '"9007199254740993"': '"9007199254740993"',
    '"\\u00e4\\""': '"ä\\""',
  }
  for (const [id, echoed] of Object.entries(ids)) expect(await answer(request(id))).toContain(`"id":${echoed},"result"`)
  const refused = '{"jsonrpc":"2.0","id":null,"error":{"code":-32600'
  for (const id of ['9007199254740993', '1.5', '1e999']) expect(await answer(request(id))).toContain(refused)
  expect(await answer(request('null'))).toContain('"id":null,"result"')
})

it('ends when it is told to, and answers others, while a call computes', async () => {
  const { url: l2, l1Url: l1 } = await startService()
  // A call that would go on for days.
  const proxy = await startProxy('0', l1, l2, '--l1-agree', l1, '--gas', '1000000000000')
  await proxy.until(({ event }) => event === 'view')
  expect(await curl(proxy.url, 1, 'eth_call', [{ data: '0x' }, 'latest'])).toMatchObject({ result: '0x' })
  const calls = [0, 1, 2].map(id =>
    curl(proxy.url, id, 'eth_call', [{ data: '0x5b5f56' }, 'latest']).catch(() => 'cut'),
  )
  for (let count = 0; count < 3; count++) {
    expect(await curl(proxy.url, 2, 'eth_chainId', [])).toMatchObject({ result: '0x539' })
  }
  expect(await proxy.end('SIGTERM')).toBe(0)
  expect(proxy.events.at(-1)).toMatchObject({ event: 'stopped' })
  await Promise.all(calls)
})

it.each([[], ['--json']])(
  'prints nothing that an endpoint has written to move the cursor, to mislead or to leak a key: %s',
  async (...json) => {
    const said = `\u001b[2J\u0007\u202e\u2066\u009b0m at https://x.example/v3/SECRET-KEY-0123 SECRET-KEY-0123 ${'x'.repeat(2 ** 16)}`
    const { url } = await startServer((response, id) =>
      response.end(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32000, message: said, data: [said] } })),
    )
    const hostile = `${url}/v3/SECRET-KEY-0123`
    const network = ['--l1', hostile, '--l2', hostile, ...networkOf(ROLLUP)]
    const stdout = collector(false)
    const io = { stdin: Readable.from([]), stdout: stdout.stream, stderr: collector(false).stream }
    const ended = run(['proxy', ...network, '--port', '0', ...json.flat()], io)
    while (!/no newer block|"failure"/.test(stdout.text())) await setTimeout(20)
    process.emit('SIGHUP')
    expect(await ended).toBe(0)
    expect(stdout.text()).toContain('ENDPOINT_ERROR')
    expect(stdout.text()).not.toMatch(/SECRET|x\.example|127\.0\.0\.1:\d+\/v3/)
    expect(stdout.text().replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
    expect(stdout.text().length).toBeLessThan(5_000)
  },
)

it('says that the endpoints are swapped, or of another chain', async () => {
  const { url: l2, l1Url: l1 } = await startService()
  const cases: [string, string, string][] = [
    [l2, l1, '--l1 serves chain 1337, but must serve chain 1338. --l2 serves chain 1338, but must serve chain 1337.'],
    [l1, l1, '--l2 serves chain 1338, but must serve chain 1337.'],
  ]
  for (const [first, second, hint] of cases) {
    const proxy = await startProxy('0', first, second)
    const failure = await proxy.until(({ event }) => event === 'failure')
    expect(failure.message).toContain(hint)
    expect(await proxy.end('SIGTERM')).toBe(0)
  }
})

it('refuses wrong options before it listens', async () => {
  const network = ['--l1', 'http://127.0.0.1:1/SECRET', '--l2', 'http://127.0.0.1:1']
  const right = [...network, ...networkOf(ROLLUP)]
  const cases = [
    [...network, '--network', 'x'],
    right.slice(2),
    ['--l1', 'ftp://SECRET', '--l2', 'http://127.0.0.1:1'],
    [...right, '--quorum', '2'],
    [...right, '--l1-agree', 'http://127.0.0.1:1/SECRET', '--quorum', '2'],
    [...right, '--l1-agree', 'http://127.0.0.1:1/SECRET', '--l1-agree', 'http://127.0.0.1:1/SECRET'],
    [...right, '--allow-origin', 'wallet.example'],
    [...right, '--allow-origin', 'https://wallet.example/'],
    [...right, '--environment', 'basefee=7'],
    [...right, '--environment', 'coinbase=0x1'],
    [...right, '--environment', 'baseFee=7', '--environment', 'baseFee=8'],
    [...network, ...networkOf(ROLLUP, { hardfork: 'frontier' })],
    [...right, '--forward', 'eth_call'],
    [...right, '--gas', '1'],
    [...right, '--port', '65536'],
    [...right, '--refresh', '0'],
  ]
  for (const args of cases) {
    const { code, stdout, stderr } = await runHere(['proxy', ...args])
    expect(code, args.join(' ')).toBe(2)
    expect(stdout + stderr).not.toContain('SECRET')
    expect(stdout).toBe('')
  }
  expect(cases.length).toBe(16)
})
