import { createServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { CHECK_INTERVAL, HEADERS_TIMEOUT, REQUEST_TIMEOUT, SEND_TIMEOUT } from './limits.ts'

const TIMES = { headers: HEADERS_TIMEOUT, request: REQUEST_TIMEOUT, check: CHECK_INTERVAL }

/**
 * @param answer sends the response. If it rejects, the connection is closed: usually the client disconnected midway
 * @param maxConnections Default: no limit
 * @param times for other times in tests
 */
export function createHttpServer(
  answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
  maxConnections?: number,
  times: { readonly headers: number; readonly request: number; readonly check: number } = TIMES,
) {
  let isClosing = false
  const server = createServer({ connectionsCheckingInterval: times.check }, (request, response) => {
    // An idle keep-alive connection would keep the server from closing.
    response.on('close', () => {
      if (isClosing) server.closeIdleConnections()
    })
    answer(request, response).catch(() => response.destroy())
  })
  server.requestTimeout = times.request
  server.headersTimeout = times.headers
  if (maxConnections !== undefined) server.maxConnections = maxConnections

  return {
    /** Rejects with the system's error if the port is taken; 0 is any free port. @returns the URL, without a slash at its end */
    listen: (port: number, host: string) =>
      new Promise<string>((resolve, reject) => {
        server.once('error', reject)
        server.listen(port, host, () => {
          const address = server.address()
          const bound = typeof address === 'object' && address !== null ? address.port : port
          resolve(`http://${host.includes(':') ? `[${host}]` : host}:${bound}`)
        })
      }),
    /**
     * Hands over connections that become WebSockets; `open` may throw a {@link Refusal}. Some clients offer another protocol with their
     * first request: that is answered as if they did not.
     */
    onWebSocket(open: (request: IncomingMessage, socket: Duplex, head: Buffer) => void): void {
      server.on('upgrade', (request, socket, head) => {
        if (request.headers.upgrade?.toLowerCase() !== 'websocket') return again(request, socket, head)
        try {
          open(request, socket, head)
        } catch (error) {
          socket.on('error', () => {})
          const { status, message } = error instanceof Refusal ? error : new Refusal(500, 'Failed.')
          const headers = `Connection: close\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(message) + 1}`
          socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers}\r\n\r\n${message}\n`)
        }
      })
      function again({ method, url, rawHeaders }: IncomingMessage, socket: Duplex, head: Buffer): void {
        const lines = [`${method} ${url} HTTP/1.1`]
        for (let at = 0; at < rawHeaders.length; at += 2) {
          if (!/^(?:upgrade|connection|http2-settings)$/i.test(rawHeaders[at] ?? ''))
            lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`)
        }
        socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]))
        server.emit('connection', socket)
      }
    },
    /** Accepts no more requests, and cuts off those that are unanswered after `grace` milliseconds. */
    async close(grace: number): Promise<void> {
      await new Promise<void>(resolve => {
        isClosing = true
        const timer = setTimeout(() => server.closeAllConnections(), grace)
        server.close(() => {
          clearTimeout(timer)
          resolve()
        })
        server.closeIdleConnections()
      })
      // A client in this process reads the end of a connection in one turn, and gives it up in the next. Until then, it may send a
      // request on it to whoever listens on this port from now on.
      for (let turn = 0; turn < 2; turn++) await setImmediate()
    },
  }
}

/** A request that gets an HTTP error. */
export class Refusal extends Error {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message)
    this.status = status
    this.headers = headers
  }
}

/** The body as text; null if it is longer than `maxLength` bytes. @param hold gets the length of each piece before it is kept; may throw */
export async function readBody(request: IncomingMessage, maxLength: number, hold: (length: number) => void = () => {}) {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of request) {
    length += chunk.length
    if (length > maxLength) return null
    hold(chunk.length)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** The path of a request and, if the client sent a whole URL, as proxies and some libraries do, its host. */
export function targetOf({ url = '' }: Pick<IncomingMessage, 'url'>): { host?: string; path: string } {
  const [start = '', host] = /^https?:\/\/([^/?#]{1,300})(?![^/?#])/i.exec(url) ?? []
  return host === undefined ? { path: url } : { host, path: url.slice(start.length) || '/' }
}

/** The names of JSON-RPC's content type that nodes accept. No page can send one without asking first. */
export const isJson = ({ headers }: IncomingMessage): boolean =>
  /^application\/json(?:-rpc|request)?\s*(;|$)/i.test(headers['content-type'] ?? '')

/** Sends a whole response, or only the first half of it. */
export function send(
  response: ServerResponse,
  status: number,
  type: string,
  text: string,
  headers: Readonly<Record<string, string>> = {},
  isCut = false,
): void {
  const bytes = Buffer.from(text)
  response.setTimeout(SEND_TIMEOUT, () => response.destroy())
  response.writeHead(status, { ...headers, 'Content-Type': type, 'Content-Length': `${bytes.length}` })
  if (isCut) response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy())
  else response.end(bytes)
}
