import { diagnoseStatus } from './diagnose.ts'
import { buildRequest, parseResponse, type RpcRequest } from './envelope.ts'
import { RpcError } from './error.ts'
import type { Provider } from './provider.ts'
import { type Redact, redactorOf } from './redact.ts'

/**
 * The URL of an endpoint: with an API key that of a private provider, `{base}/v3/{key}`; without one that of a node of
 * your own or of a public endpoint, which is `base` itself.
 *
 * @param base `http` or `https`
 * @param apiKey letters, digits, `.`, `_`, `~` and `-`
 * @throws RpcError `ARGUMENT_INVALID`
 *
 * @example
 * ```ts
 * import { endpointUrl } from 'rollup-state-proof/rpc'
 *
 * console.log(endpointUrl('https://endpoint.example', 'my-key')) // https://endpoint.example/v3/my-key
 * ```
 */
export function endpointUrl(base: string, apiKey?: string): string {
  parseUrl(base)
  if (apiKey === undefined) return base
  if (!/^[\w.~-]+$/.test(apiKey)) {
    throw new RpcError('ARGUMENT_INVALID', {
      found: 'an API key that is not of letters, digits, ".", "_", "~" and "-"',
    })
  }
  return `${base.replace(/\/+$/, '')}/v3/${apiKey}`
}

/** How long, how much and how often. */
export interface HttpOptions {
  /** For one request with all its retries, in milliseconds. 30 000 when left out. */
  timeout?: number
  /** Ends every request of this provider. */
  signal?: AbortSignal
  /** Of one answer, unpacked, in bytes. 16 MiB when left out. */
  maxResponseLength?: number
  /** How often a request is sent again after HTTP status 429 or 503. 4 when left out. */
  maxRetries?: number
}

const FIRST_BACK_OFF = 250

/**
 * An EIP-1193 provider over `fetch`, for those who have none. One HTTP request a call, never a batch.
 *
 * After HTTP status 429 or 503 it waits as long as `Retry-After` says, or ever longer, and tries again; when the wait would
 * pass the timeout it gives up at once. All its errors are {@link RpcError}s without the URL or any part of it.
 *
 * @param url `http` or `https`, see {@link endpointUrl}
 * @param options limits; the defaults suit some hundred keys at once
 * @throws RpcError `ARGUMENT_INVALID`
 *
 * @example
 * ```ts
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { createHttpProvider } from 'rollup-state-proof/rpc'
 * import { createService, demoWorld } from 'rollup-state-proof/service'
 *
 * const rollup = { address: '0x00000000000000000000000000000000000011ff' } as const
 * const service = createService({ genesis: demoWorld(poseidon2), rollup })
 * const { url } = await service.listen()
 * console.log(await createHttpProvider(url).request({ method: 'eth_blockNumber' })) // 0x0
 * await service.close()
 * ```
 */
export function createHttpProvider(url: string, options: HttpOptions = {}): Provider {
  const { timeout = 30_000, signal, maxResponseLength = 2 ** 24, maxRetries = 4 } = options
  const redact = redactorOf(parseUrl(url))
  let nextId = 1

  return {
    async request({ method, params = [] }) {
      if (!isArray(params)) throw new RpcError('ARGUMENT_INVALID', { found: 'params that are not an array' })
      const request = buildRequest(nextId++, method, params)
      return withDeadline(timeout, signal, async abort => {
        const deadline = Date.now() + timeout
        for (let retries = 0; ; retries++) {
          const response = await post(url, request, abort)
          const isBusy = response.status === 429 || response.status === 503
          if (!isBusy || retries >= maxRetries) return readAnswer(response, request, maxResponseLength, redact)
          await response.body?.cancel()
          const wait = readRetryAfter(response) ?? FIRST_BACK_OFF * 2 ** retries * (1 + Math.random())
          if (Date.now() + wait >= deadline) throw diagnoseStatus(response.status)
          await sleep(wait, abort)
        }
      })
    },
  }
}

const isArray = (params: object): params is readonly unknown[] => Array.isArray(params)

function parseUrl(url: string): URL {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol)) {
    throw new RpcError('ARGUMENT_INVALID', { found: 'a URL that is neither http nor https' })
  }
  // fetch refuses these, with the whole URL in its message.
  if (parsed.username !== '' || parsed.password !== '') {
    throw new RpcError('ARGUMENT_INVALID', { found: 'a URL with a user or password' })
  }
  return parsed
}

/** Runs `work`, and ends it after `timeout` milliseconds or with `signal`. Only RpcErrors leave. */
async function withDeadline<T>(
  timeout: number,
  signal: AbortSignal | undefined,
  work: (abort: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  const end = () => controller.abort(new RpcError('ABORTED'))
  const timer = setTimeout(() => controller.abort(new RpcError('TIMEOUT')), timeout)
  signal?.addEventListener('abort', end, { once: true })
  if (signal?.aborted) end()
  try {
    return await work(controller.signal)
  } catch (error) {
    if (error instanceof RpcError) throw error
    throw controller.signal.aborted ? controller.signal.reason : new RpcError('UNREACHABLE', systemCodeIn(error))
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', end)
  }
}

/** Such as `ECONNREFUSED`. The message of the error may hold the URL. */
function systemCodeIn(error: unknown): { found?: string } {
  const cause = error instanceof Error ? error.cause : undefined
  const code: unknown = typeof cause === 'object' && cause !== null ? Reflect.get(cause, 'code') : undefined
  return typeof code === 'string' ? { found: code } : {}
}

function post(url: string, request: RpcRequest, signal: AbortSignal): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
    body: JSON.stringify(request),
    // A POST that is redirected may arrive as something else, somewhere else.
    redirect: 'manual',
    signal,
  })
}

async function readAnswer(
  response: Response,
  request: RpcRequest,
  maxLength: number,
  redact: Redact,
): Promise<unknown> {
  const text = await readText(response, maxLength)
  const parsed = parseJson(text)
  if (response.ok) {
    if (parsed === undefined) throw new RpcError('NOT_JSON', { found: describeText(response, text) })
    return parseResponse(parsed.value, request, redact)
  }
  // Some endpoints say the same twice: an HTTP status, and in the body why.
  if ([401, 403, 429].includes(response.status)) throw diagnoseStatus(response.status)
  try {
    parseResponse(parsed?.value, request, redact)
  } catch (error) {
    if (error instanceof RpcError && error.endpoint) throw error
  }
  throw diagnoseStatus(response.status)
}

/** The body, of which no more than `maxLength` bytes are ever held. */
async function readText(response: Response, maxLength: number): Promise<string> {
  const decoder = new TextDecoder('utf-8')
  const reader = response.body?.getReader()
  let text = ''
  let length = 0
  while (reader !== undefined) {
    const { done, value } = await reader.read()
    if (done) break
    length += value.length
    if (length > maxLength) {
      await reader.cancel()
      throw new RpcError('RESPONSE_TOO_LARGE', { found: `more than ${maxLength} bytes` })
    }
    text += decoder.decode(value, { stream: true })
  }
  return text + decoder.decode()
}

function parseJson(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

/** What it is instead of JSON. The text itself may hold anything, so it is not quoted. */
function describeText(response: Response, text: string): string {
  const type = response.headers.get('Content-Type') ?? ''
  if (/html/i.test(type) || /^\s*<(!doctype|html)/i.test(text)) return 'an HTML page'
  if (text.trim() === '') return 'an empty answer'
  return /^\s*[{[]/.test(text) ? 'JSON that is cut off or broken' : 'a text'
}

/** Milliseconds; undefined without the header or when it says nothing. */
function readRetryAfter({ headers }: Response): number | undefined {
  const value = headers.get('Retry-After')?.trim() ?? ''
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000
  const date = Date.parse(value)
  return Number.isNaN(date) ? undefined : Math.max(date - Date.now(), 0)
}

function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds)
    const end = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
  })
}
