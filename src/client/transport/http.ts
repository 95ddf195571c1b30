import { invalid, isArray } from '../../base/arguments.ts'
import { ArgumentError } from '../../base/errors.ts'
import { ExcessiveJson, parseBounded } from '../../base/json/parse.ts'
import { readOptions, verifyWhole } from '../../base/options.ts'
import { type Asked, diagnoseStatus, parseResponse, type RpcRequest, redactCause } from './diagnose.ts'
import { abortedBy, EndpointError, isEndpointError, withMethod } from './error.ts'
import {
  CODE_RESPONSE_LENGTH,
  DEFAULT_RESPONSE_LENGTH,
  ENDPOINT_SHARE,
  FIRST_LENGTH,
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
import { isSignal, verifySignal, verifyTimeout } from './options.ts'
import type { RequestProvider } from './provider.ts'
import { queueAt } from './queue.ts'
import { basicAuthorization, type Origin, redactorOf, setOrigin } from './redact.ts'
import { type Budget, createBudget } from './waiting.ts'
import { inherit } from './whose.ts'

/** Limits for requests. */
export interface HttpOptions {
  /**
   * Time limit for one request, from when it is sent, in milliseconds; and the longest pause of a busy endpoint that is waited for.
   * Default: 30,000.
   */
  timeoutMs?: number | undefined
  /** Aborts every request of this provider. */
  signal?: AbortSignal | undefined
  /** Maximum length of one answer, in bytes after decompression. Default: 16 MiB. */
  maxResponseLength?: number | undefined
  /** How often a request is retried if the endpoint limits the rate, or after HTTP status 503. Default: 4. */
  maxRetries?: number | undefined
}

const ACCEPT = { Accept: 'application/json' }
const HTTP_OPTIONS = ['timeoutMs', 'signal', 'maxResponseLength', 'maxRetries']

/**
 * An EIP-1193 provider over `fetch`, for programs that have none. It sends one HTTP request per call, never a batch.
 *
 * All requests of the process to one URL wait in one queue, which learns from refusals how many per second the endpoint allows. If
 * it limits the rate, or answers with HTTP status 503, the queue honours `Retry-After`, otherwise it backs off exponentially. If the wait would exceed the timeout, it gives up at once. A request whose connection the server has closed is sent once more. A
 * user and password in the URL are sent as basic authentication. All its errors are {@link EndpointError}s without the URL, and without any part of it that may be a
 * key: query values, path segments, host and port. Keys of 4 or more characters are removed wherever they occur, shorter ones
 * only as separate words.
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
  const { origin, target, headers, maxResponseLength, exchange } = createConnection(url, options)
  let nextId = 1

  const provider: RequestProvider = {
    /** @param over ends the request: from `callProvider`. Clients pass other things */
    async request(args, over?: unknown) {
      const request = readRequest(args, nextId++)
      const body = encodeRequest(request)
      const init = { method: 'POST', headers: { ...headers, 'Content-Type': 'application/json' }, body }
      const maxLength = Math.min(lengthOf(request), maxResponseLength)
      const read = async (response: Response, hold: Hold) =>
        parseResponse(await readBody(response, request, { maxLength, hold }, origin), request, origin.redact)
      return exchange(request.method, target, init, read, isSignal(over) ? over : undefined)
    },
  }
  setOrigin(provider, origin)
  return provider
}

/** Other fields are ignored, because clients send them. @throws ArgumentError */
function readRequest(args: Parameters<RequestProvider['request']>[0], id: number): RpcRequest {
  // Despite the type, there may be none.
  const { method, params = [] }: { method?: unknown; params?: unknown } = Object(args)
  if (typeof method !== 'string') throw invalid('method', 'the name of a method', method)
  if (!isArray(params)) throw invalid('params', 'an array', params)
  return { jsonrpc: '2.0', id, method, params }
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
  const { origin, target: base, headers, maxResponseLength, exchange } = createConnection(url, options)
  const api: BeaconApi = {
    async get(path, signal, maxLength = maxResponseLength) {
      if (typeof path !== 'string') throw invalid('path', 'a string', path)
      const target = new URL(base)
      const [name = '', query = ''] = path.split('?', 2)
      target.pathname = `${target.pathname.replace(/\/$/, '')}${name}`
      for (const [key, value] of new URLSearchParams(query)) target.searchParams.set(key, value)
      const read = (response: Response, hold: Hold) =>
        readBody(response, { method: name }, { maxLength: Math.min(maxLength, maxResponseLength), hold }, origin)
      return exchange(name, target, { headers }, read, signal)
    },
  }
  setOrigin(api, origin)
  return api
}

/** What all requests to one URL share: their limits, and the queue. Throws EndpointErrors only. */
function createConnection(url: string | URL, options: HttpOptions) {
  const parsed = parseUrl(url)
  const redact = redactorOf(parsed)
  const authorization = basicAuthorization(parsed)
  const headers = { ...ACCEPT, ...(authorization !== undefined && { Authorization: authorization }) }
  // The fragment is not sent, and fetch refuses the others, with the whole URL in its message.
  Object.assign(parsed, { hash: '', username: '', password: '' })
  const target = parsed.href
  const own = readOptions('', options, HTTP_OPTIONS)
  const {
    timeoutMs: timeout = REQUEST_TIMEOUT_MS,
    signal,
    maxResponseLength = DEFAULT_RESPONSE_LENGTH,
    maxRetries = MAX_RETRIES,
  } = own
  verifyTimeout(timeout)
  verifyWhole('maxResponseLength', maxResponseLength, 1)
  verifyWhole('maxRetries', maxRetries, 0)
  verifySignal(signal)
  const share = createBudget(HELD_LENGTH / ENDPOINT_SHARE)

  const queue = queueAt(target)

  /** The time for a request begins when it is sent. @param name of the method, or the path at a beacon API */
  async function exchange(
    name: string,
    to: string | URL,
    init: RequestInit,
    read: Read,
    ownSignal?: AbortSignal,
  ): Promise<unknown> {
    const given = anyOf(signal, ownSignal)
    const send = () => exchangeOnce(to, init, read, given)
    try {
      return await queue.run(send, { signal: given, timeoutMs: timeout, maxRetries })
    } catch (error) {
      throw isEndpointError(error) ? withMethod(error, name) : error
    }
  }

  async function exchangeOnce(
    to: string | URL,
    init: RequestInit,
    read: Read,
    given: AbortSignal | undefined,
  ): Promise<unknown> {
    // Keep this reference until the end: nothing else holds the signal strongly, and once collected, it never fires.
    const deadline = AbortSignal.timeout(timeout)
    const abort = given === undefined ? deadline : AbortSignal.any([given, deadline])
    const sendAndRead = async () => {
      // A redirected POST may arrive as another method, at another place.
      const response = await fetch(to, { ...init, redirect: 'manual', signal: abort, ...oneCoding() })
      return holding(share, abort, hold => read(response, hold))
    }
    try {
      // All requests are reads, which may arrive twice. Servers close a connection while the next request is on its way.
      return await sendAndRead().catch(error =>
        isClosed(error) && !abort.aborted ? sendAndRead() : Promise.reject(error),
      )
    } catch (error) {
      if (given?.aborted) throw abortedBy(given)
      if (isEndpointError(error) && error.code !== 'ABORTED') throw error
      if (deadline.aborted) throw new EndpointError('TIMEOUT')
      throw new EndpointError('UNREACHABLE', { ...systemCodeIn(error), cause: redactCause(error, redact) })
    }
  }

  return { origin: { redact, href: target }, target, headers, maxResponseLength, exchange }
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

/** Waits until there is room for a response of up to `length` bytes. */
type Hold = (length: number) => Promise<void>
type Read = (response: Response, hold: Hold) => Promise<unknown>

async function holding<T>(share: Budget, abort: AbortSignal, work: (hold: Hold) => Promise<T>): Promise<T> {
  const held: (() => void)[] = []
  // All that it may need, at once and in this order: two halves that wait for each other would wait for ever.
  const hold = async (length: number) => {
    if (held.length > 0) return
    for (const budget of [share, room]) held.push(await budget.take(length, abort))
  }
  try {
    return await work(hold)
  } finally {
    for (const release of held) release()
  }
}

/** Methods whose results are a number or a word. */
const SHORT_ANSWERS =
  /^(?:eth_(?:chainId|blockNumber|gasPrice|maxPriorityFeePerGas|getBalance|getTransactionCount|getStorageAt)|net_version)$/

function lengthOf({ method, params }: RpcRequest): number {
  if (SHORT_ANSWERS.test(method)) return SHORT_RESPONSE_LENGTH
  const [, second] = params
  if (/^[a-z]+_getProof$/.test(method)) return ((Array.isArray(second) ? second.length : 0) + 2) * PROOF_RESPONSE_LENGTH
  if (method === 'eth_getCode') return CODE_RESPONSE_LENGTH
  return /^eth_getBlockBy/.test(method) && second === false ? HEADER_RESPONSE_LENGTH : Number.POSITIVE_INFINITY
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

interface Room {
  readonly maxLength: number
  readonly hold: Hold
}

/** The body, parsed from JSON. @throws EndpointError for any status but success: what the body says, under the same bounds */
async function readBody(response: Response, asked: Asked, room: Room, { redact, href }: Origin): Promise<unknown> {
  if (response.ok) return readJson(response, room)
  const { status } = response
  const answered = { ...asked, status, retryAfterMs: readRetryAfter(response) }
  if (status < 400) {
    await response.body?.cancel()
    const to = response.headers.get('Location') ?? ''
    const isSecured = /^http:/.test(href) && /^https:/i.test(to.trim())
    const found = isSecured
      ? 'a redirect to https, so the URL has to begin with it'
      : 'a redirect: use the URL where it leads'
    throw new EndpointError('HTTP_ERROR', { found, status })
  }
  // Whatever is wrong with the body, the status stays.
  const text = await readText(response, room).catch(() => '')
  throw diagnoseStatus(answered, text, tryParse(text), redact)
}

function tryParse(text: string): unknown {
  try {
    return parseBounded(text)
  } catch {
    return undefined
  }
}

/** The body. Never takes more than `maxLength` bytes of it, and waits for room before most of them. */
async function readText(response: Response, { maxLength, hold }: Room): Promise<string> {
  const reader = response.body?.getReader()
  // It grows by doubling, because the pieces may be as short as the endpoint likes.
  let bytes = new Uint8Array(FIRST_LENGTH)
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
    if (length > LARGE_RESPONSE_LENGTH) await hold(maxLength)
    if (length > bytes.length) {
      const longer = new Uint8Array(Math.max(length, 2 * bytes.length))
      longer.set(bytes)
      bytes = longer
    }
    bytes.set(value, from)
  }
  return new TextDecoder('utf-8').decode(bytes.subarray(0, length))
}

async function readJson(response: Response, room: Room): Promise<unknown> {
  const text = await readText(response, room)
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
