import type { Provider } from '../rpc/provider.ts'
import { invalidParams, type ProviderError, type ProviderRefusal, toProviderError } from './error.ts'
import { ownOf } from './params.ts'

/** Limits on the work that HTTP clients can cause. */
export interface ServerLimits {
  /** Requests processed at once. Each request of a batch counts. */
  readonly concurrency: number
  /** Requests that may wait in the queue. */
  readonly maxWaiting: number
  /** Requests per batch. */
  readonly maxBatch: number
  /** Characters per response. */
  readonly maxResponseLength: number
  /** Milliseconds per request, including its time in the queue. */
  readonly timeout: number
}

/** Error codes of JSON-RPC 2.0, and the code with which nodes enforce limits. */
const codes = { parse: -32700, invalidRequest: -32600, limited: -32005 } as const

type Id = string | number | null

const failure = (id: Id, code: number, message: string, data?: unknown) =>
  JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } })

/** Answers JSON-RPC 2.0 messages, single requests and batches, from a provider. */
export interface JsonRpcServer {
  /** @returns null if there is nothing to answer, because the message contains only notifications. Throws nothing */
  answer(text: string): Promise<string | null>
}

/** @param hints the server's own options that answer a refusal, which are appended to its message */
export function createJsonRpcServer(
  provider: Provider,
  limits: ServerLimits,
  hints: Readonly<Partial<Record<ProviderRefusal, string>>> = {},
): JsonRpcServer {
  const { maxBatch, maxResponseLength, timeout } = limits
  const slots = createSlots(limits.concurrency, limits.maxWaiting)

  function spell(id: Id, { reason, code, message, data }: ProviderError): string {
    const hint = hints[reason]
    return failure(id, code, hint === undefined ? message : `${message} (${hint})`, data)
  }

  async function answerOne(request: unknown): Promise<string | null> {
    if (typeof request !== 'object' || request === null || Array.isArray(request)) {
      return failure(null, codes.invalidRequest, 'This is not a request object.')
    }
    const [jsonrpc, given, method] = ['jsonrpc', 'id', 'method'].map(name => ownOf(request, name))
    const isNotification = !Object.hasOwn(request, 'id')
    const id = typeof given === 'string' || (typeof given === 'number' && Number.isFinite(given)) ? given : null
    if (jsonrpc !== '2.0' || typeof method !== 'string' || (given !== undefined && id === null)) {
      return failure(id, codes.invalidRequest, 'This is not a request of JSON-RPC 2.0.')
    }
    const answer = await answerMethod(id, method, ownOf(request, 'params'))
    return isNotification ? null : answer
  }

  async function answerMethod(id: Id, method: string, params: unknown): Promise<string> {
    if (params !== undefined && !Array.isArray(params)) return spell(id, invalidParams('They are not an array.'))
    const work = slots.take(() => provider.request({ method, params }))
    if (work === null) return failure(id, codes.limited, 'Too many requests at once: try again later.')
    try {
      const text = JSON.stringify({ jsonrpc: '2.0', id, result: (await within(timeout, work)) ?? null })
      if (text.length <= maxResponseLength) return text
      return failure(id, codes.limited, 'The result is larger than this server answers with.')
    } catch (error) {
      if (error === LATE) return failure(id, codes.limited, 'The request took too long.')
      return spell(id, toProviderError(error))
    }
  }

  return {
    async answer(text) {
      let content: unknown
      try {
        content = JSON.parse(text)
      } catch {
        return failure(null, codes.parse, 'This is not JSON.')
      }
      if (!Array.isArray(content)) return answerOne(content)
      if (content.length === 0) return failure(null, codes.invalidRequest, 'The batch is empty.')
      if (content.length > maxBatch) {
        return failure(null, codes.invalidRequest, `The batch has more than ${maxBatch} requests.`)
      }
      let left = maxResponseLength
      const answers = await Promise.all(
        content.map(async request => {
          const answer = await answerOne(request)
          if (answer === null) return []
          left -= answer.length
          if (left >= 0) return [answer]
          const id: unknown = ownOf(Object(request), 'id')
          const known = typeof id === 'string' || typeof id === 'number' ? id : null
          return [failure(known, codes.limited, 'The answers to this batch are larger than this server answers with.')]
        }),
      )
      const given = answers.flat()
      return given.length === 0 ? null : `[${given.join()}]`
    },
  }
}

const LATE = Symbol('late')

/** Rejects with {@link LATE} after the timeout. The work itself continues, and keeps its slot. */
async function within<T>(timeout: number, work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(LATE), timeout)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Lets `count` requests run at once, and `maxWaiting` wait. */
function createSlots(count: number, maxWaiting: number) {
  const waiting: (() => void)[] = []
  let free = count

  async function run<T>(work: () => Promise<T>): Promise<T> {
    if (free > 0) free--
    else await new Promise<void>(resolve => waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next === undefined) free++
      else next()
    }
  }
  return {
    /** @returns null if the queue is full */
    take: <T>(work: () => Promise<T>): Promise<T> | null =>
      free === 0 && waiting.length >= maxWaiting ? null : run(work),
  }
}
