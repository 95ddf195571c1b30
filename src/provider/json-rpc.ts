import { readOwn } from '../json/known-fields.ts'
import { parseBounded } from '../json/parse.ts'
import { isEndpointError } from '../rpc/error.ts'
import type { RequestProvider } from '../rpc/provider.ts'
import { createSemaphore, inTime } from '../rpc/waiting.ts'
import { invalidParams, type ProviderErrorReason, toProviderError, withProviderErrors } from './error.ts'

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

const idOf = (given: unknown): Id =>
  typeof given === 'string' || (typeof given === 'number' && Number.isFinite(given)) ? given : null

const failure = (id: Id, code: number, message: string, data?: unknown) =>
  JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } })

export type JsonRpcServer = ReturnType<typeof createJsonRpcServer>

/**
 * Answers JSON-RPC 2.0 messages, single requests and batches, from a provider.
 *
 * @param hints the server's own options that answer a refusal, which are appended to its message
 */
export function createJsonRpcServer(
  provider: RequestProvider,
  limits: ServerLimits,
  hints: Readonly<Partial<Record<ProviderErrorReason, string>>> = {},
) {
  const { maxResponseLength, timeout, maxWaiting } = limits
  const slots = createSemaphore(limits.concurrency)

  async function answerOne(request: unknown): Promise<string | null> {
    if (typeof request !== 'object' || request === null || Array.isArray(request)) {
      return failure(null, codes.invalidRequest, 'This is not a request object.')
    }
    const [jsonrpc, given, method, params] = ['jsonrpc', 'id', 'method', 'params'].map(
      name => readOwn(request, name) ?? undefined,
    )
    const id = idOf(given)
    if (jsonrpc !== '2.0' || typeof method !== 'string' || (given !== undefined && id === null)) {
      return failure(id, codes.invalidRequest, 'This is not a request of JSON-RPC 2.0.')
    }
    const answer = await answerMethod(id, method, params)
    return Object.hasOwn(request, 'id') ? answer : null
  }

  async function answerMethod(id: Id, method: string, params: unknown): Promise<string> {
    try {
      if (params !== undefined && !Array.isArray(params)) throw invalidParams('They are not an array.')
      if (slots.free === 0 && slots.waiting >= maxWaiting) {
        return failure(id, codes.limited, 'Too many requests at once: try again later.')
      }
      // A request that takes too long keeps its slot until the provider has answered it.
      const work = () => slots.run(() => withProviderErrors(() => provider.request({ method, params })))
      const text = JSON.stringify({ jsonrpc: '2.0', id, result: (await inTime(timeout, work)) ?? null })
      if (text.length <= maxResponseLength) return text
      return failure(id, codes.limited, 'The result is larger than this server answers with.')
    } catch (error) {
      if (isEndpointError(error)) return failure(id, codes.limited, 'The request took too long.')
      const { reason, code, message, data } = toProviderError(error)
      const hint = hints[reason]
      return failure(id, code, hint === undefined ? message : `${message} (${hint})`, data)
    }
  }

  return {
    /** Null if there is nothing to answer, because the message contains only notifications. Throws nothing. */
    async answer(text: string): Promise<string | null> {
      let content: unknown
      try {
        content = parseBounded(text)
      } catch {
        return failure(null, codes.parse, 'This is not JSON.')
      }
      return Array.isArray(content) ? answerBatch(content, limits, answerOne) : answerOne(content)
    },
  }
}

async function answerBatch(
  requests: readonly unknown[],
  { maxBatch, maxResponseLength }: ServerLimits,
  answerOne: (request: unknown) => Promise<string | null>,
): Promise<string | null> {
  if (requests.length === 0) return failure(null, codes.invalidRequest, 'The batch is empty.')
  if (requests.length > maxBatch) {
    return failure(null, codes.invalidRequest, `The batch has more than ${maxBatch} requests.`)
  }
  let left = maxResponseLength
  const answers = await Promise.all(
    requests.map(async request => {
      const answer = await answerOne(request)
      left -= answer?.length ?? 0
      if (answer === null || left >= 0) return answer
      const id = idOf(readOwn(Object(request), 'id'))
      return failure(id, codes.limited, 'The answers to this batch are larger than this server answers with.')
    }),
  )
  const given = answers.filter(answer => answer !== null)
  return given.length === 0 ? null : `[${given.join()}]`
}
