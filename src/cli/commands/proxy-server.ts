import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { isIP } from 'node:net'
import type { JsonRpcServer } from '../../provider/json-rpc.ts'

/** Who may send requests to the proxy. */
export interface Admission {
  /** Origins of web pages, such as `https://wallet.example`; `*` for all of them. */
  readonly origins: readonly string[]
  /** Host names under which the proxy may be reached, besides localhost and IP addresses. */
  readonly hosts: readonly string[]
}

/** The proxy's HTTP server, running. */
export interface ProxyServer {
  readonly url: string
  /** Accepts no more requests, and cuts off those that are unanswered after `grace` milliseconds. */
  close(grace: number): Promise<void>
}

const MAX_BODY_LENGTH = 2 ** 22
/** In bytes, for all requests that are being read or answered and all responses that are not sent yet. */
const MAX_HELD_LENGTH = 2 ** 25
/** How long a client may read nothing of its response, in milliseconds. */
const SEND_TIMEOUT = 30_000
const MAX_CONNECTIONS = 256

/** A request that gets an HTTP error instead of a JSON-RPC answer. */
class Refusal extends Error {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message)
    this.status = status
    this.headers = headers
  }
}

/** Serves JSON-RPC at the path `/`. @throws the system's error if the port is taken */
export async function serveProxy(
  rpc: JsonRpcServer,
  admission: Admission,
  port: number,
  host: string,
): Promise<ProxyServer> {
  let isClosing = false
  let heldLength = 0

  /** Counts the bytes held for a client, until its response is sent or it disconnects. */
  function createHold(response: ServerResponse): (length: number) => void {
    let own = 0
    response.on('close', () => {
      heldLength -= own
      own = 0
    })
    return length => {
      if (heldLength + length > MAX_HELD_LENGTH) throw new Refusal(503, 'Too much at once: try again later.')
      if (response.closed) return
      heldLength += length
      own += length
    }
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let cors: Record<string, string> = {}
    try {
      verifyHost(request.headers.host, admission.hosts)
      cors = corsOf(request.headers.origin, admission.origins)
      if (request.url !== '/') throw new Refusal(404, 'Nothing is served but /.')
      if (request.method === 'OPTIONS') {
        response.writeHead(204, { ...cors, ...preflightOf(request) }).end()
        return
      }
      if (request.method !== 'POST') throw new Refusal(405, 'Use POST.', { Allow: 'POST, OPTIONS' })
      if (!/^application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? '')) {
        throw new Refusal(415, 'Content-Type must be application/json.')
      }
      const hold = createHold(response)
      const text = await rpc.answer(await readBody(request, hold))
      if (text === null) response.writeHead(204, cors).end()
      else {
        hold(Buffer.byteLength(text))
        send(response, 200, 'application/json', text, cors)
      }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      const headers = { ...cors, ...error.headers, Connection: 'close' }
      send(response, error.status, 'text/plain; charset=utf-8', `${error.message}\n`, headers)
    }
  }

  const server = createServer((request, response) => {
    // A connection that is kept alive would keep the server open.
    response.on('close', () => {
      if (isClosing) server.closeIdleConnections()
    })
    // The only failure left is a client that disconnected midway.
    answer(request, response).catch(() => response.destroy())
  })
  server.requestTimeout = 30_000
  server.headersTimeout = 10_000
  server.maxConnections = MAX_CONNECTIONS

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const address = server.address()
  const bound = typeof address === 'object' && address !== null ? address.port : port
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    close: grace =>
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

/**
 * Prevents DNS rebinding: a web page can point its own host name at this machine, and then has the same origin as the proxy.
 * So a host name must be known. An IP address cannot be pointed elsewhere.
 */
function verifyHost(header: string | undefined, hosts: readonly string[]): void {
  const [, bracketed, plain] = /^(?:\[([0-9a-f:.]{2,45})\]|([^:[\]]{1,253}))(?::\d{1,5})?$/i.exec(header ?? '') ?? []
  const name = (bracketed ?? plain ?? '').toLowerCase()
  if (isIP(name) !== 0 || name === 'localhost' || hosts.some(host => host.toLowerCase() === name)) return
  throw new Refusal(403, 'This Host is not known here: start the proxy with --allow-host NAME.')
}

/** Programs send no Origin header, but a browser adds it to the requests of a page. */
function corsOf(origin: string | undefined, origins: readonly string[]): Record<string, string> {
  if (origin === undefined) return {}
  if (!origins.includes('*') && !origins.includes(origin)) {
    throw new Refusal(403, 'This Origin may not ask here: start the proxy with --allow-origin ORIGIN.', {
      Vary: 'Origin',
    })
  }
  return { 'Access-Control-Allow-Origin': origin, Vary: 'Origin' }
}

function preflightOf({ headers }: IncomingMessage): Record<string, string> {
  return {
    'Access-Control-Allow-Methods': 'POST',
    'Access-Control-Allow-Headers': 'Content-Type',
    'Access-Control-Max-Age': '600',
    // For a page from the internet that sends requests to a machine in the local network.
    ...(headers['access-control-request-private-network'] === 'true' && {
      'Access-Control-Allow-Private-Network': 'true',
    }),
  }
}

async function readBody(request: IncomingMessage, hold: (length: number) => void): Promise<string> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of request) {
    length += chunk.length
    if (length > MAX_BODY_LENGTH) throw new Refusal(413, `The request is larger than ${MAX_BODY_LENGTH} bytes.`)
    hold(chunk.length)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function send(
  response: ServerResponse,
  status: number,
  type: string,
  text: string,
  headers: Readonly<Record<string, string>>,
): void {
  const bytes = Buffer.from(text)
  response.setTimeout(SEND_TIMEOUT, () => response.destroy())
  response.writeHead(status, { ...headers, 'Content-Type': type, 'Content-Length': `${bytes.length}` }).end(bytes)
}
