import { invalid, isArray } from '../../base/arguments.ts'
import { ArgumentError } from '../../base/errors.ts'
import { ExcessiveJson, parseBounded } from '../../base/json/parse.ts'
import { readOptions, verifyWhole } from '../../base/options.ts'
import { type Asked, diagnoseStatus, parseResponse, type RpcRequest, redactError } from './diagnose.ts'
import { abortedBy, EndpointError, isEndpointError, withMethod } from './error.ts'
import {
  CODE_RESPONSE_LENGTH,
  DEFAULT_RESPONSE_LENGTH,
  ENDPOINT_SHARE,
  HEADER_RESPONSE_LENGTH,
  HELD_LENGTH,
  LARGE_RESPONSE_LENGTH,
  LONGEST_RETRY_AFTER,
  MAX_RETRIES,
  PROOF_RESPONSE_LENGTH,
  REQUEST_TIMEOUT_MS,
  SHORT_RESPONSE_LENGTH,
} from './limits.ts'
import { oneCoding } from './one-coding.ts'
import { type Origin, type RequestProvider, setOrigin } from './provider.ts'
import { queueAt } from './queue.ts'
import { basicAuthorization, redactorOf } from './redact.ts'
import { createBudget, inherit, isSignal, partOf, verifySignal, verifyTimeout } from './waiting.ts'

/** Limits for requests. */
export interface HttpOptions {
  /**
   * Time limit for one request, from when it is sent, in milliseconds; and for the pauses of a busy endpoint, all together. Default:
   * 30,000.
   */
  timeoutMs?: number | undefined
  /** Aborts every request of this provider. */
  signal?: AbortSignal | undefined
  /** How often a request is retried if the endpoint limits the rate, or after HTTP status 503. Default: 4. */
  maxRetries?: number | undefined
}

/**
 * An EIP-1193 provider over `fetch`, for programs that have none. It sends one HTTP request per call, never a batch.
 *
 * All requests of the process to one URL wait in one queue, which learns from refusals how many per second the endpoint allows. If
 * it limits the rate, or answers with HTTP status 503, the queue honours `Retry-After`, otherwise it backs off exponentially. If the
 * pauses would exceed the timeout, it gives up at once. A request whose connection the server has closed is sent once more. A user and
 * password in the URL are sent as basic authentication. All its errors are {@link EndpointError}s without the URL, and without any part
 * of it that may be a key: query values, path segments, host and port. Keys of 4 or more characters are removed wherever they occur,
 * shorter ones only as separate words.
 *
 * @param url an `http` or `https` URL
 * @param options limits; the defaults suit a few hundred keys per request
 * @throws ArgumentError
 *
 * @example
 * ```ts
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { createHttpProvider } from 'rollup-state-proof/rpc'
 * import { createService, demoWorld } from 'rollup-state-proof-devnet'
 *
 * const rollup = { address: '0x00000000000000000000000000000000000011ff' } as const
 * const service = createService({ genesis: demoWorld(poseidon2), rollup })
 * const { url } = await service.listen()
 * console.log(await createHttpProvider(url).request({ method: 'eth_blockNumber' })) // 0x0
 * await service.close()
 * ```
 */
export function createHttpProvider(url: string | URL, options: HttpOptions = {}): RequestProvider {
  const { origin, exchange } = createConnection(url, options)
  let nextId = 1
  const provider: RequestProvider = {
    /** @param over ends the request: from an `OpenProvider`. Clients pass other things */
    async request(args, over?: unknown) {
      // Despite the type, there may be none. Other fields are ignored, because clients send them.
      const { method, params = [] }: { method?: unknown; params?: unknown } = Object(args)
      if (typeof method !== 'string') throw invalid('method', 'the name of a method', method)
      if (!isArray(params)) throw invalid('params', 'an array', params)
      const request: RpcRequest = { jsonrpc: '2.0', id: nextId++, method, params }
      const wanted: Wanted = {
        asked: request,
        init: { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: encodeRequest(request) },
        maxLength: lengthOf(request),
        parse: body => parseResponse(body, request, origin.redact),
      }
      return exchange(wanted, isSignal(over) ? over : undefined)
    },
  }
  setOrigin(provider, origin)
  return provider
}

/** @throws ArgumentError for what JSON cannot express, because it is not that the endpoint does not answer */
function encodeRequest(request: RpcRequest): string {
  try {
    return JSON.stringify(request)
  } catch {
    throw new ArgumentError({ path: 'params', expected: 'JSON', found: 'a bigint, or an array that contains itself' })
  }
}

/** A beacon API: answers `GET` requests with JSON. */
export interface BeaconApi {
  /**
   * Fetches one document. Rejects if that fails.
   *
   * @param path from `/eth/v1` on, with its query
   * @param signal aborts the request
   * @param maxLength the longest answer that is useful, in bytes: read no more
   * @returns the body, parsed from JSON
   */
  get(path: string, signal?: AbortSignal, maxLength?: number): Promise<unknown>
}

/**
 * A beacon API over `fetch`, with the limits, the retries and the errors without URLs of {@link createHttpProvider}.
 *
 * @param url an `http` or `https` URL, without `/eth/v1`; a query in it, such as one with an API key, is sent with each request
 * @param options limits
 * @throws ArgumentError
 *
 * @example
 * ```ts
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { createBeaconApi } from 'rollup-state-proof/rpc'
 * import { createService, demoWorld } from 'rollup-state-proof-devnet'
 *
 * const rollup = { address: '0x00000000000000000000000000000000000011ff' } as const
 * const service = createService({ genesis: demoWorld(poseidon2), rollup })
 * const { beaconUrl } = await service.listen()
 * const genesis = await createBeaconApi(beaconUrl).get('/eth/v1/beacon/genesis')
 * console.log(Object.keys(Object(genesis)).join()) // data
 * await service.close()
 * ```
 */
export function createBeaconApi(url: string | URL, options: HttpOptions = {}): BeaconApi {
  const { origin, exchange } = createConnection(url, options)
  const api: BeaconApi = {
    async get(path, signal, maxLength = DEFAULT_RESPONSE_LENGTH) {
      if (typeof path !== 'string') throw invalid('path', 'a string', path)
      const to = new URL(origin.href)
      const [method = '', query = ''] = path.split('?', 2)
      to.pathname = `${to.pathname.replace(/\/$/, '')}${method}`
      for (const [key, value] of new URLSearchParams(query)) to.searchParams.set(key, value)
      return exchange({ asked: { method }, to, maxLength, parse: body => body }, signal)
    },
  }
  setOrigin(api, origin)
  return api
}

interface Wanted {
  readonly asked: Asked & { readonly method: string }
  /** Default: the URL of the endpoint. */
  readonly to?: URL
  readonly init?: RequestInit
  /** Of the response, in bytes after decompression. */
  readonly maxLength: number
  /** What the body says. @throws EndpointError */
  parse(body: unknown): unknown
}

/** What all requests to one URL share: their limits, and the queue. Throws EndpointErrors only. */
function createConnection(url: string | URL, options: HttpOptions) {
  const parsed = parseUrl(url)
  const [redact, authorization] = [redactorOf(parsed), basicAuthorization(parsed)]
  const headers = { Accept: 'application/json', ...(authorization !== undefined && { Authorization: authorization }) }
  // The fragment is not sent, and fetch refuses the others, with the whole URL in its message.
  Object.assign(parsed, { hash: '', username: '', password: '' })
  const own = readOptions('', options, ['timeoutMs', 'signal', 'maxRetries'])
  const { timeoutMs = REQUEST_TIMEOUT_MS, signal, maxRetries = MAX_RETRIES } = own
  verifyTimeout(timeoutMs)
  verifyWhole('maxRetries', maxRetries, 0)
  verifySignal(signal)
  const queue = queueAt(parsed.href)
  const origin: Origin = { redact, href: parsed.href, queue }
  const share = createBudget(HELD_LENGTH / ENDPOINT_SHARE)

  async function exchange(wanted: Wanted, ownSignal?: AbortSignal): Promise<unknown> {
    const given = anyOf(signal, ownSignal)
    try {
      return await queue.run(() => sendAndRead(wanted, given), { signal: given, timeoutMs, maxRetries })
    } catch (error) {
      throw withMethod(error, wanted.asked.method)
    }
  }

  /** The time for a request begins when it is sent. */
  async function sendAndRead(wanted: Wanted, given: AbortSignal | undefined): Promise<unknown> {
    const { asked, to = origin.href, init, maxLength, parse } = wanted
    const part = partOf(given)
    const timer = setTimeout(() => part.abort(), timeoutMs)
    const { signal: abort } = part
    const held: (() => void)[] = []
    // All that it may need, at once and in this order: two halves that wait for each other would wait for ever.
    const hold = async () => {
      if (held.length > 0) return
      for (const budget of [share, room]) held.push(await budget.take(maxLength, abort))
    }
    const sent: RequestInit = { ...init, headers: { ...headers, ...init?.headers }, signal: abort, redirect: 'manual' }
    const send = async () => {
      // A redirected POST may arrive as another method, at another place.
      const response = await fetch(to, { ...sent, ...oneCoding() })
      return parse(await readBody(response, asked, () => readText(response, maxLength, hold), origin))
    }
    try {
      // All requests are reads, which may arrive twice. Servers close a connection while the next request is on its way.
      return await send().catch(error => (isClosed(error) && !abort.aborted ? send() : Promise.reject(error)))
    } catch (error) {
      if (given?.aborted) throw abortedBy(given)
      // The status of a refusal is known before its body, which may never end.
      if (isEndpointError(error) && error.code !== 'ABORTED') throw error
      if (abort.aborted) throw new EndpointError('TIMEOUT')
      throw new EndpointError('UNREACHABLE', { ...systemCodeIn(error), cause: redactError(error, redact) })
    } finally {
      clearTimeout(timer)
      part.forget()
      for (const release of held) release()
    }
  }

  return { origin, exchange }
}

/** What either of them ends. Whose work it is, the second one says. */
function anyOf(signal: AbortSignal | undefined, own: AbortSignal | undefined): AbortSignal | undefined {
  if (signal === undefined || own === undefined) return signal ?? own
  const either = AbortSignal.any([signal, own])
  inherit(either, own)
  return either
}

const isClosed = (error: unknown): boolean =>
  /^(?:UND_ERR_SOCKET|ECONNRESET|EPIPE)$/.test(systemCodeIn(error).found ?? '')

/** One for the process: its memory is what many endpoints together would fill, and each is opened on its own. */
const room = createBudget(HELD_LENGTH)

/** Methods whose results are a number or a word. */
const SHORT_ANSWERS =
  /^(?:eth_(?:chainId|blockNumber|gasPrice|maxPriorityFeePerGas|getBalance|getTransactionCount|getStorageAt)|net_version)$/

function lengthOf({ method, params: [, second] }: RpcRequest): number {
  if (SHORT_ANSWERS.test(method)) return SHORT_RESPONSE_LENGTH
  if (method === 'eth_getCode') return CODE_RESPONSE_LENGTH
  if (/^eth_getBlockBy/.test(method) && second === false) return HEADER_RESPONSE_LENGTH
  if (!/^[a-z]+_getProof$/.test(method)) return DEFAULT_RESPONSE_LENGTH
  const keyCount = Array.isArray(second) ? second.length : 0
  return Math.min((keyCount + 2) * PROOF_RESPONSE_LENGTH, DEFAULT_RESPONSE_LENGTH)
}

/** Whether it is a `URL`, of this realm or another. */
export function isUrl(value: unknown): value is URL {
  try {
    return Object.prototype.toString.call(value) === '[object URL]'
  } catch {
    // A proxy can throw anything.
    return false
  }
}

function parseUrl(url: string | URL): URL {
  if (typeof url !== 'string' && !isUrl(url)) throw invalid('url', 'a URL of http or https', url)
  const text = `${url}`
  const parsed = URL.canParse(text) ? new URL(text) : undefined
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol)) {
    const found = text.trim() === '' ? 'an empty text' : 'a URL that is neither http nor https'
    throw new ArgumentError({ found: `${found}: it has to begin with http: or https:` })
  }
  return parsed
}

function systemCodeIn(error: unknown): { found?: string } {
  const cause = error instanceof Error ? error.cause : undefined
  const code: unknown = typeof cause === 'object' && cause !== null ? Reflect.get(cause, 'code') : undefined
  return typeof code === 'string' && /^[A-Z_]{1,40}$/.test(code) ? { found: code } : {}
}

/** The body, parsed from JSON. @throws EndpointError for any status but success: what the body says, under the same bounds */
async function readBody(response: Response, asked: Asked, read: () => Promise<string>, { redact, href }: Origin) {
  const { status } = response
  if (response.ok) return parseJson(response, await read())
  if (status >= 400) {
    // Whatever is wrong with the body, the status stays.
    const text = await read().catch(() => '')
    throw diagnoseStatus({ ...asked, status, retryAfterMs: readRetryAfter(response) }, text, redact)
  }
  await response.body?.cancel()
  const to = response.headers.get('Location') ?? ''
  const isSecured = /^http:/.test(href) && /^https:/i.test(to.trim())
  const advice = isSecured ? ' to https, so the URL has to begin with it' : ': use the URL where it leads'
  throw new EndpointError('HTTP_ERROR', { found: `a redirect${advice}`, status })
}

/** The body. Never takes more than `maxLength` bytes of it, and waits for room before most of them. */
async function readText(response: Response, maxLength: number, hold: () => Promise<void>): Promise<string> {
  const reader = response.body?.getReader()
  // It grows by doubling, because the pieces may be as short as the endpoint likes.
  let bytes = new Uint8Array(2 ** 14)
  let length = 0
  while (reader !== undefined) {
    const { done, value } = await reader.read()
    if (done) break
    const from = length
    length += value.length
    if (length > maxLength) {
      await reader.cancel()
      throw new EndpointError('RESPONSE_TOO_LARGE', { found: `more than ${maxLength} bytes` })
    }
    if (length > LARGE_RESPONSE_LENGTH) await hold()
    if (length > bytes.length) {
      const longer = new Uint8Array(Math.max(length, 2 * bytes.length))
      longer.set(bytes)
      bytes = longer
    }
    bytes.set(value, from)
  }
  return new TextDecoder('utf-8').decode(bytes.subarray(0, length))
}

function parseJson(response: Response, text: string): unknown {
  try {
    return parseBounded(text)
  } catch (error) {
    if (error instanceof ExcessiveJson) throw new EndpointError('ANSWER_MALFORMED', { found: error.message })
    throw new EndpointError('NOT_JSON', { found: describeText(response, text) })
  }
}

/** What the text is instead of JSON. It may contain anything, so it is not quoted. */
function describeText(response: Response, text: string): string {
  const type = response.headers.get('Content-Type') ?? ''
  const start = text.trimStart().slice(0, 16)
  if (/html/i.test(type) || /^<(?:!doctype|html)/i.test(start)) return 'an HTML page'
  if (start === '') return 'an empty answer'
  return /^[{[]/.test(start) ? 'JSON that is cut off or broken' : 'a text'
}

/** Undefined if it is missing, past, or neither a number of seconds, several from proxies in a row, nor a date. */
function readRetryAfter({ headers }: Response): number | undefined {
  const value = headers.get('Retry-After')?.trim() ?? ''
  if (/^[\d.]+(?: *, *[\d.]+)*$/.test(value)) {
    const seconds = Math.max(...value.split(',').map(Number))
    return Number.isNaN(seconds) ? undefined : Math.min(Math.ceil(seconds) * 1000, LONGEST_RETRY_AFTER)
  }
  // JavaScript reads numbers, and words with one, as dates.
  if (!/^[A-Z][a-z]{2,8},? /.test(value)) return undefined
  const left = Date.parse(value) - Date.now()
  return left > 0 ? Math.min(left, LONGEST_RETRY_AFTER) : undefined
}
