import { once } from 'node:events'
import { connect } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { afterEach, expect, it, onTestFinished, vi } from 'vitest'
import { WebSocket } from 'ws'
import { serveProxy } from '../../src/cli/commands/proxy-server.ts'
import {
  MAX_AT_ONCE,
  MAX_PROXY_BODY_LENGTH,
  MAX_PUSHED_LENGTH,
  MAX_SOCKETS,
  MAX_SUBSCRIPTIONS,
  MAX_SUBSCRIPTIONS_A_SOCKET,
  PROXY_LIMITS,
  PUSH_INTERVAL,
  SOCKET_CHECK,
} from '../../src/cli/limits.ts'
import { refusedFor } from '../../src/provider/error.ts'
import { type Answering, createJsonRpcServer } from '../../src/provider/json-rpc.ts'

/** The proxy over WebSocket, in front of a provider that answers at once what it is told to. */

const LIMITS = { ...PROXY_LIMITS, concurrency: 4, timeout: 600_000 }
const PAGE = 'https://wallet.example'

afterEach(() => void vi.useRealTimers())

/** A provider with one list of changes for each subscription, of which it gives `most` at once. */
function createProvider(most = 1000) {
  const changes = new Map<string, unknown[]>()
  const failures: Error[] = []
  const uninstalled: unknown[] = []
  const lengths: number[] = []
  let made = 0
  const answering: Answering = {
    async request({ method, params = [] }, { canPush, admit, reserve }) {
      const id = String(params[0])
      if (method === 'eth_subscribe') {
        if (!canPush) throw refusedFor('PARAMS_INVALID')
        const fresh = `0x1${(made++).toString(16)}`
        changes.set(fresh, ['first'])
        return fresh
      }
      if (method === 'eth_getFilterChanges') {
        const failure = failures.shift()
        if (failure !== undefined) throw failure
        const own = changes.get(id)
        if (own === undefined) throw refusedFor('FILTER_MISSING')
        // As much as there is room for.
        const fitting = own.slice(0, most).findIndex(one => reserve?.(JSON.stringify(one).length) === false)
        const found = own.splice(0, fitting < 0 ? most : fitting)
        lengths.push(found.length)
        return found
      }
      if (method === 'eth_unsubscribe' || method === 'eth_uninstallFilter') {
        uninstalled.push(id)
        return changes.delete(id.toLowerCase())
      }
      if (method === 'slow') await admit?.()
      return { method, params }
    },
  }
  return { answering, changes, failures, uninstalled, lengths: () => lengths }
}

async function serveHere(answering: Answering) {
  const admission = { origins: [PAGE], hosts: ['proxy.example'] }
  const server = await serveProxy(createJsonRpcServer(answering, LIMITS), admission, 0, '127.0.0.1')
  onTestFinished(() => server.close(0))
  const { port } = new URL(server.url)
  return { ...server, port: Number(port), at: `ws://127.0.0.1:${port}` }
}

/** A client, and what it has heard so far. */
async function connectTo(at: string, options: object = {}) {
  const ws = new WebSocket(at, options)
  const heard: unknown[] = []
  ws.on('message', data => heard.push(JSON.parse(String(data))))
  ws.on('error', () => {})
  const closed = once(ws, 'close').then(([code]) => code)
  await once(ws, 'open')
  const send = (method: string, ...params: unknown[]) => ws.send(messageOf(method, ...params))
  /** Until as many messages have come. */
  async function hear(count: number) {
    while (heard.length < count) await once(ws, 'message')
    return heard.splice(0, count)
  }
  return { ws, heard, hear, send, closed }
}

const messageOf = (method: string, ...params: unknown[]) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
const pushed = (subscription: string, result: unknown) => ({
  jsonrpc: '2.0',
  method: 'eth_subscription',
  params: { subscription, result },
})
const answered = (result: unknown) => ({ jsonrpc: '2.0', id: 1, result })
/** The status with which an upgrade is refused. */
const refusalOf = async (at: string, options: object = {}) => {
  const ws = new WebSocket(at, options)
  const status = new Promise(resolve => {
    ws.on('unexpected-response', (_, { statusCode }) => resolve(statusCode)).on('open', () => resolve('open'))
  })
  ws.on('error', () => {})
  onTestFinished(() => ws.terminate())
  return status
}

it('answers JSON-RPC, single requests and batches', async () => {
  const { at } = await serveHere(createProvider().answering)
  const { send, ws, hear } = await connectTo(at)
  send('eth_chainId', 1)
  expect(await hear(1)).toEqual([answered({ method: 'eth_chainId', params: [1] })])
  ws.send(`[${messageOf('one')},${messageOf('two')}]`)
  expect(await hear(1)).toEqual([[answered({ method: 'one', params: [] }), answered({ method: 'two', params: [] })]])
  ws.send('{')
  expect(await hear(1)).toMatchObject([{ id: null, error: { code: -32700 } }])
})

it('admits the hosts, origins and paths that are admitted over HTTP', async () => {
  const { at, port } = await serveHere(createProvider().answering)
  const cases: [object, unknown, string?][] = [
    [{}, 'open'],
    [{ origin: PAGE }, 'open'],
    [{ origin: 'https://evil.example' }, 403],
    [{ origin: 'null' }, 403],
    [{ headers: { host: 'evil.example' } }, 403],
    [{ headers: { host: `proxy.example:${port}` } }, 'open'],
    [{}, 404, '/other'],
  ]
  for (const [options, expected, path = '/'] of cases)
    expect(await refusalOf(`${at}${path}`, options), JSON.stringify(options)).toBe(expected)
  expect(cases.length).toBe(7)
})

it('answers a request that offers another protocol as if it did not', async () => {
  const { port } = await serveHere(createProvider().answering)
  const body = messageOf('eth_chainId')
  const lines = [
    ...['POST / HTTP/1.1', `Host: 127.0.0.1:${port}`, 'Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c'],
    ...['HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA', 'Content-Type: application/json', `Content-Length: ${body.length}`],
  ]
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  // In two pieces.
  socket.write(`${lines.join('\r\n')}\r\n\r\n${body.slice(0, 20)}`)
  await setImmediate()
  socket.write(body.slice(20))
  let text = ''
  for await (const chunk of socket) {
    text += chunk
    if (text.endsWith('}}')) break
  }
  expect(text).toMatch(/^HTTP\/1.1 200 OK\r\n.*"method":"eth_chainId"/s)
})

it('pushes what is new, in order and once, after the client knows the name', async () => {
  const provider = createProvider(3)
  const { at, push } = await serveHere(provider.answering)
  const clients = await Promise.all([connectTo(at), connectTo(at)])
  for (const [index, { send, hear }] of clients.entries()) {
    send('eth_subscribe', 'newHeads')
    const id = `0x1${index}`
    expect(await hear(2)).toEqual([answered(id), pushed(id, 'first')])
  }
  const numbers = Array.from({ length: 100 }, (_, index) => index)
  for (const own of provider.changes.values()) own.push(...numbers)
  push()
  push()
  for (const [index, { hear, heard }] of clients.entries()) {
    expect(await hear(100)).toEqual(numbers.map(number => pushed(`0x1${index}`, number)))
    expect(heard).toEqual([])
  }
  // One of them ends its subscription, and the other one its connection.
  const [one, other] = clients
  one?.send('eth_unsubscribe', '0x10')
  expect(await one?.hear(1)).toEqual([answered(true)])
  provider.changes.get('0x11')?.push('last')
  push()
  expect(await other?.hear(1)).toEqual([pushed('0x11', 'last')])
  other?.ws.close()
  await other?.closed
  while (provider.changes.size > 0) await setImmediate()
  expect([one?.heard, provider.uninstalled]).toEqual([[], ['0x10', '0x11']])
})

it('pushes little at once, and what is larger alone', async () => {
  // What is pushed is asked for when the test says so, and at no other time.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const provider = createProvider()
  const { at, push } = await serveHere(provider.answering)
  const { send, hear } = await connectTo(at)
  send('eth_subscribe', 'newHeads')
  await hear(2)
  const texts = [0.4, 0.4, 0.4, 3, 0.1].map((share, index) => `${index}`.repeat(share * MAX_PUSHED_LENGTH))
  provider.changes.get('0x10')?.push(...texts)
  push()
  expect(await hear(5)).toEqual(texts.map(text => pushed('0x10', text)))
  // The first two, the third, and with four times as much room the fourth, beside which there is room again.
  expect(provider.lengths().slice(0, 7)).toEqual([1, 0, 2, 1, 0, 0, 2])
})

it('asks again after a failure, and says when a subscription is gone', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const provider = createProvider()
  const { at, push } = await serveHere(provider.answering)
  const { send, hear, heard, closed } = await connectTo(at)
  send('eth_subscribe', 'newHeads')
  await hear(2)
  provider.failures.push(refusedFor('TIMEOUT'), refusedFor('TIMEOUT'))
  provider.changes.get('0x10')?.push('late')
  push()
  while (provider.failures.length > 1) await setImmediate()
  await vi.advanceTimersByTimeAsync(PUSH_INTERVAL)
  while (provider.failures.length > 0) await setImmediate()
  expect(heard).toEqual([])
  await vi.advanceTimersByTimeAsync(PUSH_INTERVAL)
  expect(await hear(1)).toEqual([pushed('0x10', 'late')])
  provider.changes.clear()
  push()
  expect(await closed).toBe(1011)
})

it('bounds subscriptions, of a connection and of all', async () => {
  const provider = createProvider()
  const { at } = await serveHere(provider.answering)
  const limited = { error: { code: -32005, message: 'Too many subscriptions.' } }
  const full = MAX_SUBSCRIPTIONS / MAX_SUBSCRIPTIONS_A_SOCKET
  for (let count = 0; count < full; count++) {
    const { send, hear } = await connectTo(at)
    for (let index = 0; index < MAX_SUBSCRIPTIONS_A_SOCKET; index++) {
      send('eth_subscribe', 'logs')
      await hear(2)
    }
    send('eth_subscribe', 'logs')
    expect(await hear(1)).toMatchObject([limited])
  }
  const late = await connectTo(at)
  late.send('eth_subscribe', 'logs')
  expect(await late.hear(1)).toMatchObject([limited])
  expect(provider.changes.size).toBe(MAX_SUBSCRIPTIONS)
})

it('closes a connection that subscribes to too much at once, and keeps nothing of it', async () => {
  const provider = createProvider()
  const { at } = await serveHere(provider.answering)
  const { ws, closed } = await connectTo(at)
  ws.send(`[${Array.from({ length: 200 }, () => messageOf('eth_subscribe', 'newHeads')).join()}]`)
  expect(await closed).toBe(1008)
  while (provider.changes.size > 0) await setImmediate()
  expect(provider.uninstalled.length).toBe(200)
})

it('closes for what is too large, binary, or no text', async () => {
  const { at, port } = await serveHere(createProvider().answering)
  const large = await connectTo(at)
  large.ws.send('x'.repeat(MAX_PROXY_BODY_LENGTH + 1))
  expect(await large.closed).toBe(1009)
  const pieces = await connectTo(at)
  for (let count = 0; count < 5; count++) pieces.ws.send('x'.repeat(2 ** 20), { fin: false })
  expect(await pieces.closed).toBe(1009)
  const binary = await connectTo(at)
  binary.ws.send(Buffer.from('{}'))
  expect(await binary.closed).toBe(1003)
  const wrong = await connectTo(at)
  wrong.ws.send(Buffer.from([0xff, 0xfe]), { binary: false })
  expect(await wrong.closed).toBe(1007)
  // Not masked, as RFC 6455 demands of clients, and a code that nobody knows.
  for (const [byte, code] of [
    [0x81, 1002],
    [0x8f, 1002],
  ]) {
    const socket = connect(Number(port), '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    const key = 'Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\nSec-WebSocket-Version: 13'
    socket.write(`GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${key}\r\n\r\n`)
    const chunks: Buffer[] = []
    socket.once('data', () => socket.write(Buffer.from([Number(byte), 0x02, 0x7b, 0x7d])))
    for await (const chunk of socket) chunks.push(chunk)
    expect(Buffer.concat(chunks).readUInt16BE(Buffer.concat(chunks).indexOf(0x88, 100) + 2)).toBe(code)
  }
})

it('reads no more of a flood than it answers, and answers others meanwhile', async () => {
  let [now, most, count] = [0, 0, 0]
  const ends: (() => void)[] = []
  const answering: Answering = {
    async request({ method }, { admit }) {
      if (method !== 'slow') return method
      most = Math.max(most, ++now)
      await admit?.()
      await new Promise<void>(resolve => ends.push(resolve))
      now--
      return ++count
    },
  }
  const { at } = await serveHere(answering)
  const [flood, other] = await Promise.all([connectTo(at), connectTo(at)])
  const long = 'x'.repeat(1000)
  for (let sent = 0; sent < 5000; sent++) flood.send('slow', long)
  other.send('quick')
  expect(await other.hear(1)).toEqual([answered('quick')])
  while (flood.heard.length < 5000) {
    ends.shift()?.()
    await setImmediate()
  }
  expect(flood.heard).toEqual(Array.from({ length: 5000 }, (_, index) => answered(index + 1)))
  // One piece of what it sent may have more messages than are answered at once.
  expect(most).toBeLessThan(2 * MAX_AT_ONCE + 64)
})

it('cuts off who does not read, whose memory is bounded, and who is not there', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const provider = createProvider(1)
  const { at, push } = await serveHere(provider.answering)
  const [slow, gone, well] = await Promise.all([connectTo(at), connectTo(at, { autoPong: false }), connectTo(at)])
  slow.send('eth_subscribe', 'newHeads')
  await slow.hear(2)
  slow.ws.pause()
  // Far more than the system buffers.
  const changes = provider.changes.get('0x10')
  changes?.push(...Array.from({ length: 64 }, () => 'x'.repeat(2 ** 20)))
  push()
  well.send('quick')
  await well.hear(1)
  // The first check asks whether they are there.
  const pings = [gone, well].map(({ ws }) => once(ws, 'ping'))
  await vi.advanceTimersByTimeAsync(SOCKET_CHECK)
  await Promise.all(pings)
  well.send('quick')
  await well.hear(1)
  await vi.advanceTimersByTimeAsync(SOCKET_CHECK)
  expect(await gone.closed).toBe(1006)
  expect(changes?.length).toBeGreaterThan(40)
  slow.ws.resume()
  expect(await slow.closed).toBe(1006)
  well.send('quick')
  expect(await well.hear(1)).toEqual([answered({ method: 'quick', params: [] })])
})

it('closes a connection for which there is no memory, and says so', async () => {
  const long = 'x'.repeat(2 ** 23)
  const { at } = await serveHere({ request: async ({ method }) => (method === 'long' ? long : method) })
  const greedy = await connectTo(at)
  greedy.ws.pause()
  for (let count = 0; count < 20; count++) greedy.send('long')
  // It is closed in the meantime, but reads that last of all.
  const other = await connectTo(at)
  other.send('quick')
  expect(await other.hear(1)).toEqual([answered('quick')])
  greedy.ws.resume()
  expect(await greedy.closed).toBe(1013)
  expect(greedy.heard.length).toBeLessThan(20)
  other.send('long')
  expect(await other.hear(1)).toEqual([answered(long)])
})

it('has a bounded number of connections, and ends them when it ends', async () => {
  const { at, close } = await serveHere(createProvider().answering)
  const all = await Promise.all(Array.from({ length: MAX_SOCKETS }, () => connectTo(at)))
  expect(await refusalOf(at)).toBe(503)
  all[0]?.ws.close()
  await all[0]?.closed
  while ((await refusalOf(at)) !== 'open') await setImmediate()
  // One does not answer that.
  all[1]?.ws.pause()
  await close(50)
  const codes = await Promise.all(all.slice(2).map(({ closed }) => closed))
  expect(new Set(codes)).toEqual(new Set([1001]))
})
