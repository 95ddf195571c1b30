import type { IncomingMessage, ServerResponse } from 'node:http'
import { isIP } from 'node:net'
import { createHttpServer, isJson, Refusal, readBody, send, targetOf } from '../../devnet/http/server.ts'
import type { JsonRpcServer } from '../../provider/json-rpc.ts'
import { MAX_CLIENT_LENGTH } from '../../provider/limits.ts'
import { MAX_CONNECTIONS, MAX_PROXY_BODY_LENGTH } from '../limits.ts'
import { createHeld, createSockets, type Held } from './proxy-socket.ts'

export interface Admission {
  /** Origins of web pages, such as `https://wallet.example`; `*` for all of them. */
  readonly origins: readonly string[]
  /** Host names under which the proxy may be reached, besides localhost and IP addresses. */
  readonly hosts: readonly string[]
}

/** Counts the bytes held for a client, until its response is sent or it disconnects. @returns throws a Refusal */
function createHold(held: Held, response: ServerResponse): (length: number) => void {
  let own = 0
  response.on('close', () => {
    held.free(own)
    own = 0
  })
  return length => {
    if (response.closed) return
    if (!held.take(length)) throw new Refusal(503, 'Too much at once: try again later.')
    own += length
  }
}

/** Serves JSON-RPC at the path `/`, over HTTP and WebSocket. @throws the system's error if the port is taken */
export async function serveProxy(rpc: JsonRpcServer, admission: Admission, port: number, host: string) {
  const held = createHeld()
  const sockets = createSockets(rpc, held)

  /** @returns the headers by which a page may read the answer @throws Refusal */
  function admit(request: IncomingMessage): Map<string, string> {
    const { host, path } = targetOf(request)
    verifyHost(request.headers.host, admission.hosts)
    if (host !== undefined) verifyHost(host, admission.hosts)
    const cors = corsOf(request.headers.origin, admission.origins)
    if (path !== '/') throw new Refusal(404, 'Nothing is served but /.', Object.fromEntries(cors))
    return cors
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController()
    response.on('close', () => gone.abort())
    try {
      response.setHeaders(admit(request))
      if (request.method === 'OPTIONS') {
        response.writeHead(204, preflightOf(request)).end()
        return
      }
      if (request.method !== 'POST') throw new Refusal(405, 'Use POST.', { Allow: 'POST, OPTIONS' })
      if (!isJson(request)) throw new Refusal(415, 'Content-Type must be application/json or application/json-rpc.')
      const hold = createHold(held, response)
      const body = await readBody(request, MAX_PROXY_BODY_LENGTH, hold)
      if (body === null) throw new Refusal(413, `The request is larger than ${MAX_PROXY_BODY_LENGTH} bytes.`)
      const unproven = new Set<string>()
      const asker = { gone: gone.signal, name: nameOf(request), onForward: (method: string) => unproven.add(method) }
      const text = await rpc.answer(body, asker)
      if (unproven.size > 0) response.setHeader('X-Unproven', [...unproven].join(', '))
      if (text === null) response.writeHead(204).end()
      else {
        hold(Buffer.byteLength(text))
        send(response, 200, 'application/json', text)
      }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      const headers = { ...error.headers, Connection: 'close' }
      send(response, error.status, 'text/plain; charset=utf-8', `${error.message}\n`, headers)
    }
  }

  const server = createHttpServer(answer, MAX_CONNECTIONS)
  server.onWebSocket((request, socket, head) => {
    admit(request)
    sockets.open(request, socket, head, nameOf(request))
  })
  const url = await server.listen(port, host).catch((error: unknown) => {
    // Their timers would keep the process alive.
    sockets.close(0)
    throw error
  })
  return {
    url,
    push: sockets.push,
    close(grace: number) {
      sockets.close(grace)
      return server.close(grace)
    },
  }
}

/** Clients of one machine or page, as far as they can be told apart. */
const nameOf = ({ socket, headers }: IncomingMessage): string =>
  `${socket.remoteAddress} ${headers.origin ?? headers['user-agent']}`.slice(0, MAX_CLIENT_LENGTH)

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
function corsOf(origin: string | undefined, origins: readonly string[]): Map<string, string> {
  if (origin === undefined) return new Map()
  if (!origins.includes('*') && !origins.includes(origin)) {
    throw new Refusal(403, 'This Origin may not ask here: start the proxy with --allow-origin ORIGIN.', {
      Vary: 'Origin',
    })
  }
  const exposed = { 'Access-Control-Expose-Headers': 'X-Unproven' }
  return new Map(Object.entries({ 'Access-Control-Allow-Origin': origin, Vary: 'Origin', ...exposed }))
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
