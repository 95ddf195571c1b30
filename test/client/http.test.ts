import { execFile } from 'node:child_process'
import { getEventListeners } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { expect, it, onTestFinished, vi } from 'vitest'
import { ENDPOINT_SHARE, HELD_LENGTH } from '../../src/client/transport/limits.ts'
import { openProvider } from '../../src/client/transport/provider.ts'
import {
  createBeaconApi,
  createHttpProvider,
  EndpointError,
  type EndpointErrorCode,
  type HttpOptions,
} from '../../src/entry/rpc.ts'
import { DEADLINE, holdDeadlines } from '../deadlines.ts'
import { startServer } from './servers.ts'

const KEY = 'secret-key-0123456789'
const JSON_TYPE = { 'Content-Type': 'application/json' }
const ok = (id: unknown, result: unknown = '0x7') => JSON.stringify({ jsonrpc: '2.0', id, result })
const failed = (id: unknown, code: number, message: string, data?: unknown) =>
  JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, data } })

type Answer = (response: ServerResponse, id: unknown, turn: number, body: string) => void

let asks = 0

/** The outcome of a request, and the number of requests the server received. No error may reveal the key or the host. */
async function ask(answer: Answer, options: HttpOptions = {}, params: readonly unknown[] = []) {
  const { url, turns } = await startServer(answer)
  // Systems hand out ports again, and what an endpoint has asked for counts for its URL, in the whole process.
  const provider = createHttpProvider(`${url}/${asks++}/v3/${KEY}`, { timeoutMs: 5000, ...options })
  const outcome: unknown = await provider
    .request({ method: 'rollup_getProof', params })
    .catch((error: unknown) => error)
  if (outcome instanceof Error) {
    const shown = `${outcome.message} ${outcome.stack} ${JSON.stringify({ ...outcome })}`
    expect(shown).not.toContain(KEY)
    expect(shown).not.toContain(new URL(url).host)
  }
  return { outcome, turns: turns() }
}

const end =
  (status: number, body: string, headers: Record<string, string> = JSON_TYPE): Answer =>
  response =>
    response.writeHead(status, headers).end(body)

const cases: [string, EndpointErrorCode, Answer, HttpOptions?][] = [
  ['silence', 'TIMEOUT', () => {}, { timeoutMs: 200 }],
  ['a body that stops', 'TIMEOUT', r => r.writeHead(200, JSON_TYPE).write('{"jsonrpc"'), { timeoutMs: 200 }],
  ['a body that trickles', 'TIMEOUT', r => void setInterval(() => r.write(' '), 20).unref(), { timeoutMs: 200 }],
  ['an endless body', 'RESPONSE_TOO_LARGE', r => endless(r)],
  ['a connection that is cut', 'UNREACHABLE', r => r.destroy()],
  [
    'a body that is cut',
    'UNREACHABLE',
    r => r.writeHead(200, { ...JSON_TYPE, 'Content-Length': '99' }).write('{') && r.destroy(),
  ],
  ['truncated JSON', 'NOT_JSON', (r, id) => r.end(ok(id).slice(0, -3))],
  ['nothing', 'NOT_JSON', end(200, '')],
  ['an HTML page', 'NOT_JSON', end(200, '<!doctype html><p>hello', { 'Content-Type': 'text/html' })],
  ['an HTML error page', 'HTTP_ERROR', end(502, '<html>Bad gateway</html>', { 'Content-Type': 'text/html' })],
  ['a redirect', 'HTTP_ERROR', end(307, '', { Location: 'http://127.0.0.1:1/' })],
  ['another id', 'ID_MISMATCH', (r, id) => r.end(ok(Number(id) + 1))],
  ['another id as a string', 'ID_MISMATCH', (r, id) => r.end(ok(`${id}0`))],
  ['a result without an id', 'ID_MISMATCH', r => r.end(ok(null))],
  ['a batch', 'ENVELOPE_MALFORMED', (r, id) => r.end(`[${ok(id)}]`)],
  ['JSON-RPC 3.0', 'ENVELOPE_MALFORMED', (r, id) => r.end(JSON.stringify({ jsonrpc: '3.0', id, result: '0x7' }))],
  ['neither result nor error', 'ENVELOPE_MALFORMED', (r, id) => r.end(JSON.stringify({ jsonrpc: '2.0', id }))],
  [
    'both result and error',
    'ENVELOPE_MALFORMED',
    (r, id) => r.end(JSON.stringify({ jsonrpc: '2.0', id, result: 1, error: { code: 1, message: '' } })),
  ],
  ['an error that is a text', 'ENDPOINT_ERROR', (r, id) => r.end(JSON.stringify({ jsonrpc: '2.0', id, error: 'no' }))],
  [
    'an error without a code',
    'ENDPOINT_ERROR',
    (r, id) => r.end(JSON.stringify({ jsonrpc: '2.0', id, error: { message: '' } })),
  ],
  [
    'an error that says nothing',
    'ENVELOPE_MALFORMED',
    (r, id) => r.end(JSON.stringify({ jsonrpc: '2.0', id, error: true })),
  ],
  ['a number', 'ENVELOPE_MALFORMED', end(200, '7')],
  ['words and no envelope', 'RATE_LIMITED', end(200, '{"message":"Too Many Requests"}')],
  ['words of a gateway', 'UNAUTHORIZED', end(403, '{"message":"Forbidden"}')],
  ['503 of a node that has just started', 'BLOCK_MISSING', end(503, '{"code":503,"message":"node is syncing"}')],
  ['404 and a page', 'HTTP_ERROR', end(404, '<html>', { 'Content-Type': 'text/html' })],
  ['a status, and a body without an end', 'RATE_LIMITED', r => endless(r.writeHead(429)), { maxRetries: 0 }],
  [
    'a status, and a body that is cut',
    'HTTP_ERROR',
    r => void r.writeHead(410, { 'Content-Length': '9' }).write('{', () => r.destroy()),
  ],
  ['401', 'UNAUTHORIZED', end(401, `the key ${KEY} is not known`)],
  ['403 and a reason', 'UNAUTHORIZED', (r, id) => r.writeHead(403, JSON_TYPE).end(failed(id, -32000, `key ${KEY}`))],
  ['429 for ever', 'RATE_LIMITED', end(429, '', { 'Retry-After': '0' })],
  ['429 for longer than there is time', 'RATE_LIMITED', end(429, '', { 'Retry-After': '3600' })],
  ['503 for ever', 'HTTP_ERROR', end(503, '', { 'Retry-After': '0' })],
  [
    'an endpoint error that repeats the key',
    'ENDPOINT_ERROR',
    (r, id) => r.end(failed(id, -32603, `at https://x.example/v3/${KEY}`, { key: KEY })),
  ],
  ['an error without the id', 'ENDPOINT_ERROR', r => r.end(failed(null, -32700, 'parse error'))],
  [
    'an error with status 400',
    'BLOCK_MISSING',
    (r, id) => r.writeHead(400).end(failed(id, -32600, 'BLOCK_MISSING_IN_CHAIN')),
  ],
  [
    'a state that Geth has dropped',
    'BLOCK_MISSING',
    (r, id) => r.end(failed(id, -32000, 'missing trie node 0a1b (path ) state 0x0a1b is not available')),
  ],
  ['a missing block', 'BLOCK_MISSING', (r, id) => r.end(failed(id, -32600, 'BLOCK_MISSING_IN_CHAIN - block 9'))],
  ['an unknown method', 'METHOD_UNKNOWN', (r, id) => r.end(failed(id, -32601, 'nope'))],
  ['an unknown method in words', 'METHOD_UNKNOWN', (r, id) => r.end(failed(id, -32600, 'Method not supported'))],
  ['refused parameters', 'PARAMS_REFUSED', (r, id) => r.end(failed(id, -32602, 'too many keys'))],
  ['a rate limit in words', 'RATE_LIMITED', (r, id) => r.end(failed(id, -32000, 'rate limit exceeded'))],
]

function endless(response: ServerResponse): void {
  const chunk = 'x'.repeat(2 ** 16)
  const more = () => {
    while (!response.destroyed && response.write(chunk));
  }
  response.on('drain', more).on('error', () => {})
  more()
}

it.each(cases)('%s: %s', async (_, code, answer, options) => {
  const { outcome, turns } = await ask(answer, options)
  expect(outcome).toBeInstanceOf(EndpointError)
  expect(outcome).toMatchObject({ code, action: expect.stringMatching(/^(?:wait|change)$/) })
  expect(turns).toBeLessThanOrEqual(5)
})

it('takes the status of a refusal, even if its body stops until the deadline', async () => {
  const elapse = holdDeadlines()
  const send = fetch
  vi.stubGlobal('fetch', async (...asked: Parameters<typeof send>) => {
    const response = await send(...asked)
    // The deadline passes once the status is there.
    elapse()
    return response
  })
  const { outcome, turns } = await ask(r => r.writeHead(401).write('{'), { timeoutMs: DEADLINE })
  expect([outcome, turns]).toMatchObject([{ code: 'UNAUTHORIZED', status: 401 }, 1])
})

it('retries after 429 and 503, up to the limits on retries and waiting', async () => {
  const flapping: Answer = (response, id, turn) =>
    turn < 3 ? end(turn % 2 ? 503 : 429, '', { 'Retry-After': '0' })(response, id, turn, '') : void response.end(ok(id))
  expect(await ask(flapping)).toEqual({ outcome: '0x7', turns: 4 })
  expect((await ask(flapping, { maxRetries: 2 })).outcome).toMatchObject({ code: 'RATE_LIMITED', status: 429 })
  // A Retry-After date in the past, and no header.
  const dated: Answer = (response, id, turn) =>
    turn === 0
      ? end(503, '', { 'Retry-After': new Date(0).toUTCString() })(response, id, turn, '')
      : void response.end(ok(id))
  expect(await ask(dated)).toEqual({ outcome: '0x7', turns: 2 })
  const bare: Answer = (response, id, turn) =>
    turn === 0 ? end(503, '')(response, id, turn, '') : void response.end(ok(id))
  expect(await ask(bare)).toEqual({ outcome: '0x7', turns: 2 })
  // An hour, and more than a number holds.
  for (const seconds of ['3600', '9999999999', '9'.repeat(400)]) {
    const { outcome, turns } = await ask(end(429, '', { 'Retry-After': seconds }))
    expect([outcome, turns]).toMatchObject([{ code: 'RATE_LIMITED', retryAfterMs: expect.any(Number) }, 1])
  }
})

it('accepts a result whose envelope is almost right', async () => {
  const almost: [string, (id: unknown) => object][] = [
    ['the id as a text', id => ({ jsonrpc: '2.0', id: `${id}`, result: '0x7' })],
    ['no version', id => ({ id, result: '0x7' })],
    ['JSON-RPC 1.0', id => ({ jsonrpc: '1.0', id, result: '0x7', error: null })],
  ]
  for (const [what, body] of almost) {
    expect((await ask((r, id) => r.end(JSON.stringify(body(id))))).outcome, what).toBe('0x7')
  }
  expect(almost.length).toBe(3)
})

it('sends a request once more whose connection the server has closed, and no more', async () => {
  const cut =
    (times: number): Answer =>
    (response, id, turn) =>
      turn < times ? response.destroy() : response.end(ok(id))
  expect(await ask(cut(1))).toEqual({ outcome: '0x7', turns: 2 })
  expect(await ask(cut(9))).toMatchObject({ outcome: { code: 'UNREACHABLE' }, turns: 2 })
})

it('sends a user and password as a header, and shows them nowhere', async () => {
  // Their header has padding, which an endpoint may leave out.
  const [user, password] = ['user-name', 'p%40ss/wörd']
  const token = Buffer.from('user-name:p@ss/wörd').toString('base64')
  const bare = token.replace(/=+$/, '')
  expect(bare).not.toBe(token)
  const seen: unknown[] = []
  const server = createServer((request, response) => {
    seen.push(request.headers.authorization, request.url)
    response.writeHead(400, JSON_TYPE).end(
      JSON.stringify({
        error: {
          code: -32000,
          message: `no ${user}`,
          data: ['p@ss/wörd', password, encodeURIComponent('p@ss/wörd'), token, bare],
        },
      }),
    )
  })
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const url = `http://${user}:${encodeURIComponent('p@ss/wörd')}@127.0.0.1:${port}/v1`
  const errors = [
    (await createHttpProvider(url)
      .request({ method: 'eth_chainId' })
      .catch((thrown: EndpointError) => thrown)) as EndpointError,
    (await createBeaconApi(url)
      .get('/eth/v1/x')
      .catch((thrown: EndpointError) => thrown)) as EndpointError,
  ]
  expect(seen).toEqual([`Basic ${token}`, '/v1', `Basic ${token}`, '/v1/eth/v1/x'])
  for (const error of errors) {
    const shown = `${error.message} ${error.stack} ${JSON.stringify({ ...error })}`
    for (const secret of [user, 'wörd', 'w%C3%B6rd', token, bare, `${port}`]) expect(shown).not.toContain(secret)
    expect(shown).toContain('[key]')
  }
})

it('says of a redirect where the URL is wrong, and never where it leads', async () => {
  const to = (status: number, location: string) => ask(end(status, '', { Location: location }))
  const moved = await to(301, 'https://rpc.example/v3/other-key')
  expect(moved).toMatchObject({
    outcome: { code: 'HTTP_ERROR', action: 'change', found: expect.stringContaining('https') },
  })
  expect(`${moved.outcome}`).not.toMatch(/rpc\.example|other-key/)
  expect(await to(308, '/elsewhere')).toMatchObject({ outcome: { found: 'a redirect: use the URL where it leads' } })
})

it('waits as long as Retry-After asks, in every form, and never less than its own pause', async () => {
  const after = async (value: string) => {
    const { outcome, turns } = await ask(end(429, '', { 'Retry-After': value }), { maxRetries: 0 })
    expect(turns).toBe(1)
    return (outcome as EndpointError).retryAfterMs
  }
  const forms: [string, unknown][] = [
    ...([
      ['1', 1000],
      ['1.5', 2000],
      ['0.6', 1000],
      ['1, 1', 1000],
      ['1,3', 3000],
      ['0', 0],
    ] as [string, number][]),
    ...['-1', '60;', 'soon', '', '1.2.3', new Date(0).toUTCString(), 'May'].map((form): [string, undefined] => [
      form,
      undefined,
    ]),
    ...['9999999999', '9'.repeat(400), 'Fri, 31 Dec 9999 23:59:59 GMT'].map((form): [string, number] => [
      form,
      86_400_000,
    ]),
  ]
  for (const [form, expected] of forms) expect(await after(form), form).toBe(expected)
  expect(forms.length).toBe(16)
  const inAMinute = await after(new Date(Date.now() + 60_000).toUTCString())
  expect(inAMinute).toBeGreaterThan(0)
  expect(inAMinute).toBeLessThanOrEqual(60_000)
})

it('accepts JSON of any content type, and a null error as no error', async () => {
  expect((await ask((r, id) => r.writeHead(200, { 'Content-Type': 'text/plain' }).end(ok(id)))).outcome).toBe('0x7')
  const withNull: Answer = (r, id) => r.end(JSON.stringify({ jsonrpc: '2.0', id, result: null, error: null }))
  expect((await ask(withNull)).outcome).toBeNull()
})

it('ends when the caller aborts, even during a wait', async () => {
  for (const answer of [() => {}, end(429, '', { 'Retry-After': '3' })] satisfies Answer[]) {
    const { outcome } = await ask(answer, { signal: AbortSignal.timeout(100) })
    expect(outcome).toMatchObject({ code: 'ABORTED' })
  }
  expect((await ask(() => {}, { signal: AbortSignal.abort() })).outcome).toMatchObject({ code: 'ABORTED' })
})

it('sends one request with an integer id', async () => {
  const bodies: string[] = []
  await ask(
    (r, id, _, body) => {
      bodies.push(body)
      r.end(ok(id))
    },
    {},
    ['0x1', []],
  )
  expect(bodies.map(body => JSON.parse(body))).toEqual([
    { jsonrpc: '2.0', id: 1, method: 'rollup_getProof', params: ['0x1', []] },
  ])
})

it('reports an unsupported tag only if a tag was sent', async () => {
  const refuse: Answer = (r, id) => r.end(failed(id, -32602, 'invalid block number'))
  expect((await ask(refuse, {}, ['0x1', [], 'finalized'])).outcome).toMatchObject({ code: 'TAG_UNSUPPORTED' })
  expect((await ask(refuse, {}, ['0x1', [], '0x7'])).outcome).toMatchObject({ code: 'PARAMS_REFUSED' })
})

it('refuses a URL that is none of http or https', () => {
  const wrong = ['rpc.example', 'ftp://a', '', undefined, 7, {}]
  for (const url of wrong) {
    expect(() => createHttpProvider(url as string)).toThrow(expect.objectContaining({ code: 'ARGUMENT_INVALID' }))
  }
  expect(wrong.length).toBe(6)
})

it('asks a URL object like its text', async () => {
  const { url } = await startServer((response, id) => response.end(ok(id)))
  expect(await createHttpProvider(new URL(url)).request({ method: 'eth_blockNumber' })).toBe('0x7')
})

it('refuses megabytes of brackets before they are parsed, of either kind of endpoint', async () => {
  const brackets = `[${'[],'.repeat(2 ** 22)}0]`
  const { url, turns } = await startServer(response => void response.writeHead(200, JSON_TYPE).end(brackets))
  const asks = [() => createBeaconApi(url).get('/eth/v1/x'), () => createHttpProvider(url).request({ method: 'x' })]
  for (const ask of asks) {
    await expect(ask()).rejects.toMatchObject({ code: 'ANSWER_MALFORMED', found: 'too many values for its length' })
  }
  expect([asks.length, turns()]).toEqual([2, 2])
})

const coded = (times: number, value = 'gzip') => Array<string>(times).fill(value)
const hostile: [string, string | string[]][] = [
  ['one coding, and garbage', 'gzip'],
  ['six codings', coded(6).join(', ')],
  ['six codings in a header each', coded(6)],
  ['six of all kinds', 'br, deflate, x-gzip, gzip, br, gzip'],
  ['a thousand', coded(1000, 'br').join()],
]
it('lives on after a response with any number of codings, then silence or an end', async () => {
  const urls = hostile.flatMap(([, encoding]) =>
    [false, true].map(async isCut => {
      const { url } = await startServer((response, id, _, body, target) => {
        // Not the second request that comes: the first one may end before it is sent.
        if (/again/.test(body + target)) return void response.end(ok(id))
        response.writeHead(200, { ...JSON_TYPE, 'Content-Encoding': encoding }).write(Buffer.alloc(50_000, 7))
        if (isCut) setTimeout(() => response.destroy(), 100)
      })
      return url
    }),
  )
  // One process for all of them, because it takes longer to start than to ask.
  const program = ['--import', 'tsx', 'test/client/coded-program.ts', ...(await Promise.all(urls))]
  const outcomes = (await run(process.execPath, program)).stdout.trim().split('\n')
  expect(outcomes).toHaveLength(20)
  for (const outcome of outcomes) expect(outcome).toMatch(/^(?:TIMEOUT|UNREACHABLE|NOT_JSON|answered)$/)
})
const run = promisify(execFile)

it('reads a response with one coding', async () => {
  const zipped = (response: ServerResponse, id: unknown) =>
    response.writeHead(200, { ...JSON_TYPE, 'Content-Encoding': 'gzip' }).end(gzipSync(ok(id)))
  expect((await ask(zipped)).outcome).toBe('0x7')
})

it('refuses a request that is none, instead of blaming the endpoint', async () => {
  const { url, turns } = await startServer((response, id) => response.end(ok(id)))
  const provider = createHttpProvider(url)
  const around: unknown[] = []
  around.push(around)
  const cases: [string, unknown][] = [
    ...[undefined, null, 'eth_chainId', {}, { method: 7 }, { method: null }].map((args): [string, unknown] => [
      'method',
      args,
    ]),
    ...[[1n], [{ gas: 1n }], around, {}, 'x', 0].map((params): [string, unknown] => [
      'params',
      { method: 'eth_call', params },
    ]),
  ]
  for (const [path, args] of cases) {
    const asked = provider.request(args as Parameters<typeof provider.request>[0])
    await expect(asked, path).rejects.toMatchObject({ code: 'ARGUMENT_INVALID', path })
  }
  const api = createBeaconApi(url)
  for (const path of [undefined, 7, null]) {
    await expect(api.get(path as never)).rejects.toMatchObject({ code: 'ARGUMENT_INVALID', path: 'path' })
  }
  expect(turns()).toBe(0)
  // Clients send further fields.
  const args = { method: 'eth_chainId', params: undefined, chainId: 7 }
  expect(await provider.request(args)).toBe('0x7')
})

it.each([
  ['eth_blockNumber', [], 2 ** 16],
  ['eth_getStorageAt', ['0x', '0x0', 'latest'], 2 ** 16],
  ['rollup_getProof', ['0x', ['0x1', '0x2'], '0x7'], 2 ** 19],
  ['eth_getProof', ['0x', [], '0x7'], 2 ** 18],
  ['eth_getBlockByHash', ['0x', false], 2 ** 21],
  ['eth_getCode', ['0x', 'latest'], 2 ** 22],
  ['eth_getBlockByHash', ['0x', true], 2 ** 24],
  ['eth_getLogs', [{}], 2 ** 24],
])(
  'reads of an answer no more than its kind can need: %s',
  async (method, params, limit) => {
    const { url } = await startServer((response, id, turn) => {
      const around = ok(id, '').length
      response.end(ok(id, 'x'.repeat(limit - around + turn)))
    })
    const provider = createHttpProvider(url)
    const answer = String(await provider.request({ method, params }))
    expect(answer.length).toBeGreaterThan(limit - 100)
    await expect(provider.request({ method, params })).rejects.toMatchObject({
      code: 'RESPONSE_TOO_LARGE',
      found: `more than ${limit} bytes`,
    })
  },
  60_000,
)

const MIB = 2 ** 20
/** Answers every request with this many MiB of spaces, and then a result or nothing. Counts the bytes that are held. */
function stubLongAnswers(mebibytes: number, isEnding = true) {
  const part = new Uint8Array(MIB).fill(0x20)
  const held = { bytes: 0 }
  vi.stubGlobal('fetch', async (_: unknown, { body, signal }: { body: string; signal: AbortSignal }) => {
    let [turn, own] = [0, 0]
    const end = () => {
      held.bytes -= own
      own = 0
    }
    const pull = async (stream: ReadableStreamDefaultController<Uint8Array>) => {
      await new Promise(resolve => setImmediate(resolve))
      if (signal.aborted) return
      if (turn++ < mebibytes) {
        own += MIB
        held.bytes += MIB
        return stream.enqueue(part)
      }
      if (!isEnding) return new Promise<void>(() => {})
      stream.enqueue(new TextEncoder().encode(ok(JSON.parse(body).id)))
      stream.close()
      end()
    }
    const start = (stream: ReadableStreamDefaultController<Uint8Array>) =>
      signal.addEventListener('abort', () => {
        end()
        stream.error(signal.reason)
      })
    return new Response(new ReadableStream({ start, pull, cancel: end }, { highWaterMark: 0 }))
  })
  onTestFinished(() => void vi.unstubAllGlobals())
  return held
}
const URL_OF_NOBODY = 'http://127.0.0.1:1'
const someTurns = async () => {
  for (let turn = 0; turn < 200; turn++) await new Promise(resolve => setImmediate(resolve))
}

it('holds a bounded number of bytes of all answers in flight, of one endpoint and of all together', async () => {
  const held = stubLongAnswers(15, false)
  const controller = new AbortController()
  const open = () => createHttpProvider(URL_OF_NOBODY, { signal: controller.signal })
  const one = open()
  const asked = Array.from({ length: 10 }, () => one.request({ method: 'x' }))
  const outcomes = Promise.allSettled(asked)
  await someTurns()
  // Each may read what is not long, and one piece more, before it waits.
  expect(held.bytes).toBeLessThanOrEqual(HELD_LENGTH / ENDPOINT_SHARE + 10 * 2 * MIB)
  const others = Promise.allSettled(Array.from({ length: 20 }, () => open().request({ method: 'x' })))
  await someTurns()
  expect(held.bytes).toBeLessThanOrEqual(HELD_LENGTH + 30 * 2 * MIB)
  // One endpoint alone leaves room for others.
  expect(held.bytes).toBeGreaterThan(HELD_LENGTH / ENDPOINT_SHARE + 10 * 2 * MIB + 20 * 2 * MIB)
  controller.abort('enough')
  const all = [...(await outcomes), ...(await others)]
  for (const outcome of all) expect(outcome).toMatchObject({ reason: { code: 'ABORTED', cause: 'enough' } })
  expect([all.length, held.bytes]).toEqual([30, 0])
})

it('lets long answers wait for each other until their deadline, and makes room however one ends', async () => {
  // Four may be as long as all for which there is room, and one endpoint may take one half.
  const held = stubLongAnswers(3, false)
  const elapse = holdDeadlines()
  const open = () => createHttpProvider(URL_OF_NOBODY, { timeoutMs: DEADLINE })
  const hanging = [open(), open()].flatMap(one => [1, 2].map(() => one.request({ method: 'x' })))
  const hung = Promise.allSettled(hanging)
  while (held.bytes < 4 * 3 * MIB) await someTurns()
  stubLongAnswers(3)
  const late = createHttpProvider(URL_OF_NOBODY, { timeoutMs: 50 }).request({ method: 'x' })
  await expect(late).rejects.toMatchObject({ code: 'TIMEOUT' })
  const asked = Array.from({ length: 3 }, () => createHttpProvider(URL_OF_NOBODY).request({ method: 'x' }))
  const header = { method: 'eth_getBlockByHash', params: ['0x', false] }
  const tooLong = createHttpProvider(URL_OF_NOBODY).request(header)
  elapse()
  await expect(tooLong).rejects.toMatchObject({ code: 'RESPONSE_TOO_LARGE' })
  expect(await hung).toMatchObject(Array(4).fill({ reason: { code: 'TIMEOUT' } }))
  expect(await Promise.all(asked)).toEqual(['0x7', '0x7', '0x7'])
})

it('needs little memory for an answer in very many pieces', async () => {
  const pieces = [...new TextEncoder().encode(ok(1, 'ä€😀'.repeat(20_000)))]
  const body = () => {
    let turn = 0
    const pull = (stream: ReadableStreamDefaultController<Uint8Array>) => {
      const byte = pieces[turn++]
      if (byte === undefined) stream.close()
      else stream.enqueue(Uint8Array.of(byte))
    }
    return new ReadableStream({ pull }, { highWaterMark: 0 })
  }
  vi.stubGlobal('fetch', async () => new Response(body()))
  onTestFinished(() => void vi.unstubAllGlobals())
  const decode = vi.spyOn(TextDecoder.prototype, 'decode')
  onTestFinished(() => decode.mockRestore())
  expect(await createHttpProvider(URL_OF_NOBODY).request({ method: 'x' })).toBe('ä€😀'.repeat(20_000))
  expect(pieces.length).toBeGreaterThan(180_000)
  // Each of them would leave a string behind.
  expect(decode.mock.calls.length).toBeLessThan(30)
})

it('waits for one signal with one listener, however many requests it ends, and with none afterwards', async () => {
  const held: (() => void)[] = []
  const { url } = await startServer((response, id) => {
    held.push(() => response.end(ok(id)))
    if (held.length === 40) for (const answer of held) answer()
  })
  const { signal } = new AbortController()
  const provider = createHttpProvider(url, { signal })
  const ask = (own?: AbortSignal) => openProvider(provider).call('eth_gasPrice', [], own)
  const asked = Array.from({ length: 40 }, (_, index) => ask(index % 2 === 0 ? signal : undefined))
  expect(getEventListeners(signal, 'abort').length).toBe(1)
  expect(await Promise.all(asked)).toEqual(Array(40).fill('0x7'))
  expect(getEventListeners(signal, 'abort').length).toBe(0)
})
