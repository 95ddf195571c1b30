import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Rollup } from '../anchor/rollup.ts'
import type { World } from '../world/world.ts'
import { type Chain, createChain } from './chain.ts'
import { l1Methods, l2Methods, MethodError, type Methods, rpcCodes } from './methods.ts'
import { createRateLimit } from './rate-limit.ts'

/** What the service serves, and whom. */
export interface ServiceOptions {
  /** The state of block 0. */
  genesis: World
  /** The contract that the simulated L1 has. */
  rollup: Rollup
  /** 1337 when left out. */
  chainId?: bigint
  /** 1338 when left out. */
  l1ChainId?: bigint
  /** Who asks at `/v3/{key}` with one of these is not limited. None when left out. */
  apiKeys?: readonly string[]
  /** Requests a second that each client may send without a key. No limit when left out. */
  publicRate?: number
  /** How many finalizations the proofs are behind L1, as those of real endpoints sometimes are. 0 when left out. */
  proofLag?: number
}

/** An endpoint of the rollup and one of its L1, on this machine. */
export interface Service {
  /** What is served: write to its pending state, add blocks, finalize. */
  readonly chain: Chain
  /**
   * Takes requests from now on. Rejects with the system's error when the port is taken.
   *
   * @param port any free one when left out
   * @param host 127.0.0.1 when left out
   * @returns the URL of the rollup's endpoint, and that of L1; `/v3/{key}` may be added to either
   */
  listen(
    port?: number,
    host?: string,
  ): Promise<{
    /** Of the rollup's endpoint. */
    url: string
    /** Of the L1's endpoint. */
    l1Url: string
  }>
  /**
   * Answers what was asked, takes no more, and ends.
   *
   * @param grace milliseconds after which it cuts what is left; 5000 when left out
   */
  close(grace?: number): Promise<void>
}

const MAX_BODY_LENGTH = 2 ** 20
const CORS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': 'POST, OPTIONS',
  'Access-Control-Allow-Headers': 'Content-Type',
  'Access-Control-Max-Age': '86400',
}

/**
 * The service itself, embedded, for devnets and tests: it answers `rollup_getProof` and the standard methods over a chain of
 * worlds, finalizes it on a simulated L1, and behaves as real providers do where they refuse.
 *
 * @param options the state to begin with, the contract on L1, API keys and limits
 * @throws ProofError `BAD_HEX`, `WRONG_LENGTH` when the contract's address is not one
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
  const { genesis, rollup, chainId = 1337n, l1ChainId = 1338n, apiKeys = [], publicRate, proofLag } = options
  const chain = createChain(genesis, rollup, proofLag)
  const keys = new Set(apiKeys)
  const limit = publicRate === undefined ? undefined : createRateLimit(publicRate)
  const endpoints = new Map<string, Methods>([
    ['', l2Methods(chain, chainId)],
    ['/l1', l1Methods(chain, l1ChainId)],
  ])

  /** The methods of the endpoint that the request is for, when it may use them. */
  function admit(request: IncomingMessage): Methods {
    const [, base = '', key] = /^(.*?)(?:\/v3\/([^/]*))?\/?$/.exec(request.url ?? '') ?? []
    const methods = endpoints.get(base)
    if (methods === undefined) throw new HttpError(404, rpcCodes.invalidRequest, 'no such endpoint')
    if (request.method !== 'POST') throw new HttpError(405, rpcCodes.invalidRequest, 'use POST', { Allow: 'POST' })
    if (key !== undefined && !keys.has(key)) throw new HttpError(401, rpcCodes.serverError, 'invalid API key')
    const wait = key === undefined ? (limit?.take(request.socket.remoteAddress ?? '') ?? 0) : 0
    if (wait > 0) throw new HttpError(429, -32005, 'too many requests', { 'Retry-After': `${wait}` })
    if (!/^application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? '')) {
      throw new HttpError(415, rpcCodes.invalidRequest, 'Content-Type must be application/json')
    }
    return methods
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === 'OPTIONS') {
      response.writeHead(204, CORS).end()
      return
    }
    try {
      const methods = admit(request)
      send(response, 200, handle(methods, await readBody(request)))
    } catch (error) {
      if (!(error instanceof HttpError)) throw error
      send(response, error.status, errorResponse(null, error.code, error.message), {
        ...error.headers,
        Connection: 'close',
      })
    }
  }

  let isClosing = false
  const server = createServer((request, response) => {
    // A connection that is kept alive would keep the service open.
    response.on('close', () => {
      if (isClosing) server.closeIdleConnections()
    })
    // What is left is a client that went away in the middle.
    answer(request, response).catch(() => response.destroy())
  })
  server.requestTimeout = 30_000
  server.headersTimeout = 10_000

  return {
    chain,
    listen: (port = 0, host = '127.0.0.1') =>
      new Promise((resolve, reject) => {
        server.once('error', reject)
        server.listen(port, host, () => {
          const address = server.address()
          const bound = typeof address === 'object' && address !== null ? address.port : port
          const url = `http://${host.includes(':') ? `[${host}]` : host}:${bound}`
          resolve({ url, l1Url: `${url}/l1` })
        })
      }),
    close: (grace = 5000) =>
      new Promise(resolve => {
        isClosing = true
        const timer = setTimeout(() => server.closeAllConnections(), grace)
        server.close(() => {
          clearTimeout(timer)
          resolve()
        })
        server.closeIdleConnections()
      }),
  }
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

/** One request's text -> its response. */
function handle(methods: Methods, body: string): object {
  let request: unknown
  try {
    request = JSON.parse(body)
  } catch {
    return errorResponse(null, rpcCodes.parse, 'this is not JSON')
  }
  if (Array.isArray(request)) return errorResponse(null, rpcCodes.invalidRequest, 'batches are not supported')
  if (typeof request !== 'object' || request === null) {
    return errorResponse(null, rpcCodes.invalidRequest, 'this is not a request object')
  }
  const { jsonrpc, id, method, params = [] } = request as Readonly<Record<string, unknown>>
  const knownId = typeof id === 'number' && Number.isSafeInteger(id) ? id : null
  if (knownId === null) return errorResponse(null, rpcCodes.invalidRequest, 'id must be an integer')
  if (jsonrpc !== '2.0') return errorResponse(knownId, rpcCodes.invalidRequest, 'jsonrpc must be "2.0"')
  if (typeof method !== 'string') return errorResponse(knownId, rpcCodes.invalidRequest, 'method must be a string')
  if (!Array.isArray(params)) return errorResponse(knownId, rpcCodes.invalidParams, 'params must be an array')
  const answer = methods.get(method)
  if (answer === undefined) return errorResponse(knownId, rpcCodes.methodNotFound, 'the method does not exist')
  try {
    return { jsonrpc: '2.0', id: knownId, result: answer(params) }
  } catch (error) {
    if (error instanceof MethodError) return errorResponse(knownId, error.code, error.message)
    return errorResponse(knownId, -32603, 'internal error')
  }
}

const errorResponse = (id: number | null, code: number, message: string) => ({
  jsonrpc: '2.0',
  id,
  error: { code, message },
})

function send(response: ServerResponse, status: number, body: object, headers: Readonly<Record<string, string>> = {}) {
  response.writeHead(status, { ...CORS, ...headers, 'Content-Type': 'application/json' }).end(JSON.stringify(body))
}
