import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { Refusal } from '../../devnet/http/server.ts'
import type { Client, JsonRpcServer } from '../../provider/json-rpc.ts'
import { MAX_CLIENT_LENGTH } from '../../provider/limits.ts'
import {
  MAX_AT_ONCE,
  MAX_HELD_LENGTH,
  MAX_PROXY_BODY_LENGTH,
  MAX_PUSHED_LENGTH,
  MAX_SOCKETS,
  MAX_SUBSCRIPTIONS,
  MAX_SUBSCRIPTIONS_A_SOCKET,
  PUSH_INTERVAL,
  SOCKET_CHECK,
} from '../limits.ts'

export type Held = ReturnType<typeof createHeld>

/** Counts the bytes that the proxy holds. */
export function createHeld() {
  let held = 0
  return {
    /** @returns false if there is no room for as many bytes */
    take(length: number): boolean {
      if (held + length > MAX_HELD_LENGTH) return false
      held += length
      return true
    },
    free(length: number): void {
      held -= length
    },
  }
}

/** Why a socket is closed, with a code of RFC 6455. */
const CLOSED = {
  ending: [1001, 'The proxy ends.'],
  binary: [1003, 'Send text.'],
  subscriptions: [1008, 'Too many subscriptions.'],
  gone: [1011, 'A subscription is gone: subscribe again.'],
  full: [1013, 'Too much at once: try again later.'],
} as const

interface Shared {
  readonly rpc: JsonRpcServer
  readonly held: Held
  mayAdd(): boolean
}

/**
 * JSON-RPC over WebSocket, and what nodes push over it: new heads, and logs. A subscription is a filter: it is asked for its changes
 * whenever there may be some, and asked again once they are sent. So whoever reads slowly holds up nobody else.
 */
export function createSockets(rpc: JsonRpcServer, held: Held) {
  const count = () => [...sessions.values()].reduce((sum, session) => sum + session.size(), 0)
  const shared: Shared = { rpc, held, mayAdd: () => count() < MAX_SUBSCRIPTIONS }
  const server = new WebSocketServer({ noServer: true, maxPayload: MAX_PROXY_BODY_LENGTH, perMessageDeflate: false })
  const sessions = new Map<WebSocket, Session>()
  let opened = 0
  function push(): void {
    for (const session of sessions.values()) session.push()
  }
  function check(): void {
    for (const session of sessions.values()) session.check()
  }
  const timers = [setInterval(push, PUSH_INTERVAL), setInterval(check, SOCKET_CHECK)]
  return {
    open(request: IncomingMessage, socket: Duplex, head: Buffer, name: string): void {
      if (sessions.size >= MAX_SOCKETS) throw new Refusal(503, 'Too many WebSockets: try again later.')
      server.handleUpgrade(request, socket, head, ws => {
        const session = createSession(ws, socket, shared, `socket ${++opened} ${name}`.slice(0, MAX_CLIENT_LENGTH))
        sessions.set(ws, session)
        ws.on('close', () => {
          sessions.delete(ws)
          session.end()
        })
      })
    },
    push,
    /** Closes all, and cuts off those that do not answer that within `grace` milliseconds. */
    close(grace: number): void {
      for (const timer of timers) clearInterval(timer)
      for (const ws of sessions.keys()) ws.close(...CLOSED.ending)
      setTimeout(() => {
        for (const ws of sessions.keys()) ws.terminate()
      }, grace).unref()
    },
  }
}

type Session = ReturnType<typeof createSession>

function createSession(ws: WebSocket, socket: Duplex, shared: Shared, name: string) {
  const { rpc, held } = shared
  const gone = new AbortController()
  const client: Client = { gone: gone.signal, name }
  let [isAlive, waiting, incoming] = [true, 0, 0]

  /** Ends once it is sent, or cannot be. */
  const send = (text: string) =>
    new Promise<void>(resolve => {
      const length = Buffer.byteLength(text)
      if (!held.take(length)) {
        ws.close(...CLOSED.full)
        return resolve()
      }
      ws.send(text, () => {
        held.free(length)
        resolve()
      })
    })
  const pushing = createPushing(ws, shared, client, send)

  async function answer(message: Buffer): Promise<void> {
    if (!held.take(message.length)) return ws.close(...CLOSED.full)
    // Whoever asks for more than is answered has to wait.
    if (++waiting >= MAX_AT_ONCE) ws.pause()
    const { subscriptions, begin } = pushing.subscribing()
    const text = await rpc.answer(message.toString(), { ...client, subscriptions })
    held.free(message.length)
    if (--waiting < MAX_AT_ONCE) ws.resume()
    if (text !== null) void send(text)
    begin()
  }

  // Counted before the message is complete, and is counted as such.
  socket.prependListener('data', ({ length }: Buffer) => {
    if (held.take(length)) incoming += length
    else ws.terminate()
  })
  ws.on('message', (message: Buffer, isBinary) => {
    held.free(incoming)
    incoming = 0
    if (isBinary) ws.close(...CLOSED.binary)
    else void answer(message)
  })
  ws.on('pong', () => {
    isAlive = true
  })
  // It closes the socket, with the code that says why.
  ws.on('error', () => {})

  return {
    push: pushing.push,
    size: pushing.size,
    /** Ends a connection whose other end is not there, or does not read. */
    check(): void {
      if (!isAlive && !ws.isPaused) {
        ws.terminate()
        return
      }
      isAlive = false
      ws.ping()
    },
    end(): void {
      held.free(incoming)
      gone.abort()
      pushing.end()
    },
  }
}

const notificationOf = (subscription: string, result: unknown) =>
  JSON.stringify({ jsonrpc: '2.0', method: 'eth_subscription', params: { subscription, result } })

/** A subscription, whose filter has changes that are not sent yet, or is not to be asked now. */
interface Subscription {
  isDue: boolean
  isBusy: boolean
  /** Characters that the next answer may have. */
  room: number
}

function createPushing(ws: WebSocket, { rpc, mayAdd }: Shared, client: Client, send: (text: string) => Promise<void>) {
  const all = new Map<string, Subscription>()
  const uninstall = (id: string) => void rpc.ask('eth_uninstallFilter', [id], { name: client.name }, Boolean)

  async function push(id: string, one: Subscription): Promise<void> {
    one.isDue = true
    if (one.isBusy) return
    one.isBusy = true
    // What is asked for has to reach somebody.
    while (one.isDue && all.get(id) === one && ws.readyState === ws.OPEN) {
      one.isDue = false
      // The changes of a filter are a list.
      const spell = (found: unknown) => (found as readonly unknown[]).map(result => notificationOf(id, result))
      let [left, isShort] = [one.room, false]
      const reserve = (length: number) => {
        const fits = length <= left
        if (fits) left -= length
        else isShort = true
        return fits
      }
      const answer = await rpc.ask('eth_getFilterChanges', [id], client, spell, reserve)
      if (all.get(id) !== one) return
      if ('error' in answer) {
        const { reason } = Object(answer.error.data)
        if (reason === 'FILTER_MISSING') ws.close(...CLOSED.gone)
        break
      }
      await Promise.all(answer.result.map(send))
      // An answer may be a part of what is new. The next block alone may need more room.
      const isStuck = isShort && answer.result.length === 0
      one.room = isStuck ? 2 * one.room : MAX_PUSHED_LENGTH
      one.isDue ||= isStuck || answer.result.length > 0
    }
    one.isBusy = false
  }

  return {
    size: () => all.size,
    /** For one message: what it subscribes to is pushed from `begin` on, when the client knows its name. */
    subscribing() {
      const fresh: [string, Subscription][] = []
      const subscriptions: Client['subscriptions'] = {
        mayAdd: () => all.size < MAX_SUBSCRIPTIONS_A_SOCKET && mayAdd(),
        add(id) {
          const one = { isDue: false, isBusy: true, room: MAX_PUSHED_LENGTH }
          all.set(id, one)
          fresh.push([id, one])
          // Of those that come at once, each may have been one too few.
          if (all.size > MAX_SUBSCRIPTIONS_A_SOCKET) ws.close(...CLOSED.subscriptions)
          if (client.gone?.aborted) uninstall(id)
        },
        delete: id => all.delete(id.toLowerCase()),
      }
      const begin = () => {
        for (const [id, one] of fresh) {
          one.isBusy = false
          void push(id, one)
        }
      }
      return { subscriptions, begin }
    },
    push(): void {
      for (const [id, one] of all) void push(id, one)
    },
    end(): void {
      for (const id of all.keys()) uninstall(id)
      all.clear()
    },
  }
}
