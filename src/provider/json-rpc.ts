import { readOwn } from '../base/json/known-fields.ts'
import { parseBounded } from '../base/json/parse.ts'
import { isEndpointError } from '../client/transport/error.ts'
import { createBudget, inTime } from '../client/transport/waiting.ts'
import { invalidParams, type ProviderErrorReason, providerErrorMeanings, toProviderError } from './error.ts'
import { createRoom } from './pace.ts'
import type { Asking } from './provider.ts'

export interface Answering {
  request(args: { method: string; params?: unknown[] | undefined }, options: Asking): Promise<unknown>
}

export interface Client {
  /** Aborted when nobody waits for the answer any more. */
  readonly gone?: AbortSignal | undefined
  /** Called with each method that is passed on, so that its answer is not proven. */
  readonly onForward?: ((method: string) => void) | undefined
  readonly name?: string | undefined
  /** Of a client to which things can be pushed: whoever answers it asks for the changes of each, by `eth_getFilterChanges`. */
  readonly subscriptions?: { mayAdd(): boolean; add(id: string): void; delete(id: string): void } | undefined
}

export interface Failure {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

/** Limits on the work that HTTP clients can cause. */
export interface ServerLimits {
  /** Requests at once that are slow: they ask endpoints, or compute. Each request of a batch counts. Others never wait. */
  readonly concurrency: number
  /** Slow requests of a client that may wait for others. All clients together have four times as many. */
  readonly maxWaiting: number
  readonly maxBatch: number
  /** Characters per response. */
  readonly maxResponseLength: number
  /** Milliseconds per request, including its time in the queue. Longer than the provider has, whose words say more. */
  readonly timeout: number
}

const MOST_CLIENTS = 4

/** Error codes of JSON-RPC 2.0, and the code with which nodes enforce limits. */
const codes = { parse: -32700, invalidRequest: -32600, limited: -32005 } as const

/** What a request is recognized by in its answer. A number that may not come back unchanged is none. */
type Id = string | number | null

const isId = (id: unknown): id is Id => id === null || typeof id === 'string' || Number.isSafeInteger(id)

export const failure = (id: Id, code: number, message: string, data?: unknown) =>
  JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, data } })

/** Says what the provider throws. @param hints the server's own options that answer a refusal */
export const sayWith =
  (hints: Readonly<Partial<Record<ProviderErrorReason, string>>> = {}) =>
  (error: unknown): Failure => {
    const { reason, code, message, data } = toProviderError(error)
    const meaning = providerErrorMeanings[reason]
    return { code, message: message.replace(meaning, () => hints[reason] ?? meaning), data }
  }

type Room = ReturnType<typeof createRoom>
export type JsonRpcServer = ReturnType<typeof createJsonRpcServer>

/** Answers JSON-RPC 2.0 messages. @param onProgress called with what a search of logs has left to do, if it takes long */
export function createJsonRpcServer(
  provider: Answering,
  limits: ServerLimits,
  say: (error: unknown) => Failure = sayWith(),
  onProgress: (method: string, text: string) => void = () => {},
) {
  const ask = asking(provider, limits, say, onProgress)

  async function answerOne(request: unknown, client: Client, room: Room): Promise<string | null> {
    if (typeof request !== 'object' || request === null || Array.isArray(request)) {
      return failure(null, codes.invalidRequest, 'This is not a request object.')
    }
    const [jsonrpc, given, method, params] = ['jsonrpc', 'id', 'method', 'params'].map(
      name => readOwn(request, name) ?? undefined,
    )
    const id = isId(given) ? given : null
    if (jsonrpc !== '2.0' || typeof method !== 'string' || (given !== undefined && id === null)) {
      const expected = 'Expected jsonrpc "2.0", a method, and as id an integer, a string or null.'
      return failure(id, codes.invalidRequest, `This is not a request of JSON-RPC 2.0. ${expected}`)
    }
    let reserved = 0
    const reserve = (length: number): boolean => {
      const fits = room.reserve(length)
      if (fits) reserved += length
      return fits
    }
    const found = await ask(method, params, client, result => JSON.stringify(result ?? null), reserve)
    if (!Object.hasOwn(request, 'id')) return null
    const answer =
      'error' in found
        ? failure(id, found.error.code, found.error.message, found.error.data)
        : `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${found.result}}`
    // What has reserved its room is given in any case: it is given only once.
    if (room.take(answer.length - reserved) || reserved > 0) return answer
    return failure(id, codes.limited, 'The response is larger than this server answers with.')
  }

  return {
    ask,
    /** Null if the message contains only notifications. Throws nothing. */
    async answer(text: string, client: Client = {}): Promise<string | null> {
      let content: unknown
      try {
        content = parseBounded(text)
      } catch {
        return failure(null, codes.parse, 'This is not JSON.')
      }
      const room = createRoom(limits.maxResponseLength)
      if (!Array.isArray(content)) return answerOne(content, client, room)
      if (content.length === 0) return failure(null, codes.invalidRequest, 'The batch is empty.')
      if (content.length > limits.maxBatch) {
        return failure(null, codes.invalidRequest, `The batch has more than ${limits.maxBatch} requests.`)
      }
      const answers = await Promise.all(content.map(request => answerOne(request, client, room)))
      const given = answers.filter(answer => answer !== null)
      return given.length === 0 ? null : `[${given.join()}]`
    },
  }
}

/**
 * Asks the provider for one thing, within the limits. A request takes a slot once it is slow, and frees it when it has ended, for
 * whatever reason. What it returns throws nothing.
 */
function asking(
  provider: Answering,
  { concurrency, maxWaiting, timeout }: ServerLimits,
  say: (error: unknown) => Failure,
  onProgress: (method: string, text: string) => void,
) {
  const slots = createBudget(concurrency)
  const limited = (message: string) => ({ error: { code: codes.limited, message } })
  return async function ask<T>(
    method: string,
    params: unknown,
    { gone, onForward, name = '', subscriptions }: Client,
    spell: (result: unknown) => T,
    reserve?: Room['reserve'],
  ): Promise<{ readonly result: T } | { readonly error: Failure }> {
    const over = new AbortController()
    let isRefused = false
    let free = () => {}
    const how = (signal: AbortSignal): Asking => ({
      signal,
      async admit() {
        const isFull = slots.waiting(name) >= maxWaiting || slots.waiting() >= MOST_CLIENTS * maxWaiting
        isRefused = slots.free === 0 && isFull
        if (isRefused) throw new Error('too many requests')
        const release = await slots.take(1, over.signal, name)
        if (!over.signal.aborted) free = release
        else release()
      },
      reserve,
      onNote(about, left = '') {
        if (about === 'slow') onProgress(method, left)
        else onForward?.(about === 'unproven' ? method : `${method} (completeness)`)
      },
      client: name,
      canPush: subscriptions !== undefined,
    })
    try {
      if (params !== undefined && !Array.isArray(params)) throw invalidParams('They are not an array.')
      if (method === 'eth_subscribe' && subscriptions?.mayAdd() === false) return limited('Too many subscriptions.')
      const found = await inTime(timeout, signal => provider.request({ method, params }, how(signal)), gone)
      if (method === 'eth_subscribe') subscriptions?.add(String(found))
      if (method === 'eth_unsubscribe') subscriptions?.delete(String(params?.[0]))
      return { result: spell(found) }
    } catch (error) {
      if (isRefused) return limited('Too many requests at once: try again later.')
      return isEndpointError(error) ? limited('The request took too long.') : { error: say(error) }
    } finally {
      over.abort()
      free()
    }
  }
}
