import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import type { Rollup } from '../anchor/rollup.ts'
import type { World } from '../world/world.ts'
import { type Beacon, lazyBeacon } from './beacon.ts'
import { type Chain, type ChainOptions, createChain } from './chain.ts'
import type { FaultFunction, FaultRequest } from './faults.ts'
import { answerRequest, errorResponse, parseRequest, RequestError } from './json-rpc.ts'
import { type AccessListFunction, l1Methods, l2Methods, MethodError, type Methods, rpcCodes } from './methods.ts'
import { createRateLimit } from './rate-limit.ts'

/** What the service serves, and its limits. */
export interface ServiceOptions extends ChainOptions {
  /** The state of block 0. */
  genesis: World
  /** The rollup contract on the simulated L1. */
  rollup: Rollup
  /** Chain id of the rollup. Default: 1337. */
  chainId?: bigint
  /** Chain id of L1. Default: 1338. */
  l1ChainId?: bigint
  /** API keys: requests to `/v3/{key}` have no rate limit. Default: none. */
  apiKeys?: readonly string[]
  /** Requests per second per client without a key. Default: no limit. */
  publicRate?: number
  /** Limit on L1 blocks per `eth_getLogs` request. Default: 10,000. */
  maxLogRange?: number
  /** Executes calls for `eth_createAccessList`. Default: the method does not exist. */
  accessList?: AccessListFunction
  /** Faults to inject, for tests. Default: none. */
  faults?: FaultFunction
}

/** An HTTP server with endpoints for a rollup, its L1 and the consensus layer of L1. */
export interface Service {
  /** The chain. Write to its pending state, add blocks and finalize them. */
  readonly chain: Chain
  /** The consensus layer of L1. */
  readonly beacon: Beacon
  /**
   * Starts to accept requests. Rejects with the system's error if the port is taken.
   *
   * @param port Default: any free port
   * @param host Default: 127.0.0.1
   * @returns the URLs of the endpoints. Those of the rollup and of L1 also work with `/v3/{key}` appended
   */
  listen(
    port?: number,
    host?: string,
  ): Promise<{
    /** The rollup's endpoint. */
    url: string
    /** The L1 endpoint. */
    l1Url: string
    /** The beacon API, without `/eth/v1`. */
    beaconUrl: string
  }>
  /**
   * Stops accepting requests, answers the pending ones, and shuts down.
   *
   * @param grace milliseconds after which it closes the remaining connections. Default: 5000
   */
  close(grace?: number): Promise<void>
}

const MAX_BODY_LENGTH = 2 ** 20
const BEACON_PATH = '/beacon'
const CORS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': 'GET, POST, OPTIONS',
  'Access-Control-Allow-Headers': 'Content-Type',
  'Access-Control-Max-Age': '86400',
}

/**
 * Creates a service for devnets and tests. It answers `rollup_getProof` and the standard methods for a chain of worlds,
 * finalizes the chain on a simulated L1, and refuses requests the way real providers do.
 *
 * @param options the initial state, the contract on L1, API keys, limits and faults
 * @throws ProofError `BAD_HEX`, `WRONG_LENGTH` if the contract's address is invalid
 *
 * @example
 * ```ts
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { createClient, createHttpProvider } from 'rollup-state-proof/rpc'
 * import { createService, demoWorld } from 'rollup-state-proof/service'
 *
 * const rollup = { address: '0x00000000000000000000000000000000000011ff' } as const
 * const service = createService({ genesis: demoWorld(poseidon2), rollup })
 * const { url } = await service.listen()
 *
 * const { chain } = service
 * const address = '0x00000000000000000000000000000000000000aa'
 * chain.pending.setAccount(address, { balance: 5n })
 * const block = chain.addBlock()
 * chain.finalize()
 *
 * const claim = { scheme: poseidon2, stateRoot: chain.pending.stateRoot(), address, block } as const
 * const { account } = await createClient(createHttpProvider(url)).getVerifiedState(claim)
 * console.log(block, account?.balance) // 1n 5n
 * await service.close()
 * ```
 */
export function createService(options: ServiceOptions): Service {
  const { genesis, rollup, chainId = 1337n, l1ChainId = 1338n, apiKeys = [], publicRate } = options
  const { accessList, maxLogRange, faults } = options
  const chain = createChain(genesis, rollup, options)
  const keys = new Set(apiKeys)
  const limit = publicRate === undefined ? undefined : createRateLimit(publicRate)
  const endpoints = new Map<string, { readonly name: 'l2' | 'l1'; readonly methods: Methods }>([
    ['', { name: 'l2', methods: l2Methods(chain, chainId, accessList) }],
    ['/l1', { name: 'l1', methods: l1Methods(chain, l1ChainId, maxLogRange) }],
  ])
  const beacon = lazyBeacon(chain.l1, options)
  const closing = new AbortController()
  let turn = 0

  /** Refuses requests over the rate limit or with an unknown key. */
  function admit(request: IncomingMessage, key: string | undefined): void {
    if (key !== undefined && !keys.has(key)) throw new HttpError(401, rpcCodes.serverError, 'invalid API key')
    const wait = key === undefined ? (limit?.take(request.socket.remoteAddress ?? '') ?? 0) : 0
    if (wait > 0) throw new HttpError(429, -32005, 'too many requests', { 'Retry-After': `${wait}` })
  }

  /** Injects the fault for a request, if any: throws, waits, or returns how to distort the answer. */
  async function injectFault(request: Omit<FaultRequest, 'turn'>, response: ServerResponse): Promise<Distortion> {
    const fault = faults?.({ ...request, turn: turn++ })
    switch (fault?.kind) {
      case undefined:
        return {}
      case 'status': {
        const retry = fault.retryAfter === undefined ? {} : { 'Retry-After': `${fault.retryAfter}` }
        throw new HttpError(fault.status, rpcCodes.serverError, 'an injected fault', retry)
      }
      case 'error':
        throw new MethodError(fault.code, fault.message)
      case 'reset':
        response.destroy()
        return { isGone: true }
      case 'cut':
        return { isCut: true }
      case 'delay':
        // Closing the service ends the delay.
        await setTimeout(fault.milliseconds, undefined, { signal: closing.signal, ref: false }).catch(() => {})
        return {}
      case 'lie':
        return { change: result => fault.change(structuredClone(result)) }
    }
  }

  async function answerRpc(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const [, base = '', key] = /^(.*?)(?:\/v3\/([^/]*))?\/?$/.exec(path) ?? []
    const endpoint = endpoints.get(base)
    if (endpoint === undefined) throw new HttpError(404, rpcCodes.invalidRequest, 'no such endpoint')
    if (request.method !== 'POST') throw new HttpError(405, rpcCodes.invalidRequest, 'use POST', { Allow: 'POST' })
    admit(request, key)
    if (!/^application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? '')) {
      throw new HttpError(415, rpcCodes.invalidRequest, 'Content-Type must be application/json')
    }
    const { name, methods } = endpoint
    const body = await readBody(request)
    let id: number | null = null
    try {
      const parsed = parseRequest(body)
      id = parsed.id
      const distortion = await injectFault({ endpoint: name, method: parsed.method, params: parsed.params }, response)
      if (!distortion.isGone)
        send(response, 200, await answerRequest(methods, parsed, distortion.change), {}, distortion)
    } catch (error) {
      if (!(error instanceof MethodError) || error instanceof HttpError) throw error
      send(response, 200, errorResponse(error instanceof RequestError ? error.id : id, error.code, error.message))
    }
  }

  async function answerBeacon(request: IncomingMessage, response: ServerResponse, target: string): Promise<void> {
    if (request.method !== 'GET') throw new HttpError(405, rpcCodes.invalidRequest, 'use GET', { Allow: 'GET' })
    admit(request, undefined)
    const [path = '', query = ''] = target.split('?', 2)
    const { isGone, change, ...distortion } = await injectFault(
      { endpoint: 'beacon', method: path, params: [] },
      response,
    )
    if (isGone) return
    const { status, body } = await beacon.answer(path, new URLSearchParams(query))
    send(response, status, change && status === 200 ? (change(body) as object) : body, {}, distortion)
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === 'OPTIONS') {
      response.writeHead(204, CORS).end()
      return
    }
    const { url = '' } = request
    const isBeacon = url.startsWith(BEACON_PATH)
    try {
      await (isBeacon
        ? answerBeacon(request, response, url.slice(BEACON_PATH.length))
        : answerRpc(request, response, url))
    } catch (error) {
      if (!(error instanceof MethodError)) throw error
      const [status, headers] = error instanceof HttpError ? [error.status, error.headers] : [500, {}]
      const body = isBeacon ? { code: status, message: error.message } : errorResponse(null, error.code, error.message)
      send(response, status, body, { ...headers, Connection: 'close' })
    }
  }

  const server = createServer((request, response) => {
    // An idle keep-alive connection would keep the server from closing.
    response.on('close', () => {
      if (closing.signal.aborted) server.closeIdleConnections()
    })
    // Usually the client disconnected midway.
    answer(request, response).catch(() => response.destroy())
  })
  server.requestTimeout = 30_000
  server.headersTimeout = 10_000

  return {
    chain,
    beacon,
    listen: (port = 0, host = '127.0.0.1') =>
      new Promise((resolve, reject) => {
        server.once('error', reject)
        server.listen(port, host, () => {
          const address = server.address()
          const bound = typeof address === 'object' && address !== null ? address.port : port
          const url = `http://${host.includes(':') ? `[${host}]` : host}:${bound}`
          resolve({ url, l1Url: `${url}/l1`, beaconUrl: `${url}${BEACON_PATH}` })
        })
      }),
    close: (grace = 5000) =>
      new Promise(resolve => {
        closing.abort()
        const timer = globalThis.setTimeout(() => server.closeAllConnections(), grace)
        server.close(() => {
          clearTimeout(timer)
          resolve()
        })
        server.closeIdleConnections()
      }),
  }
}

/** How a fault distorts an answer. */
interface Distortion {
  /** The connection is closed. */
  readonly isGone?: boolean
  /** Only the first half is sent. */
  readonly isCut?: boolean
  readonly change?: (result: unknown) => unknown
}

class HttpError extends MethodError {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, code: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(code, message)
    this.status = status
    this.headers = headers
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of request) {
    length += chunk.length
    if (length > MAX_BODY_LENGTH) throw new HttpError(413, rpcCodes.invalidRequest, 'the request is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function send(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
  { isCut = false }: Distortion = {},
): void {
  const bytes = Buffer.from(JSON.stringify(body))
  const length = { 'Content-Type': 'application/json', 'Content-Length': `${bytes.length}` }
  response.writeHead(status, { ...CORS, ...headers, ...length })
  if (isCut) response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy())
  else response.end(bytes)
}
