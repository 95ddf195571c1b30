import { printable } from '../../base/errors.ts'
import { parseBounded } from '../../base/json/parse.ts'
import { DEFAULT_RESPONSE_LENGTH } from '../../client/transport/limits.ts'
import { Refusal } from '../http/server.ts'
import { MAX_BATCH } from './limits.ts'

/** An error to send to the client. The HTTP status counts only if there is no JSON-RPC answer to hold the error. */
export class MethodError extends Refusal {
  readonly code: number

  constructor(code: number, message: string, status = 500, headers: Readonly<Record<string, string>> = {}) {
    super(status, message, headers)
    this.code = code
  }
}

export const rpcCodes = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  serverError: -32000,
  limited: -32005,
} as const

/** Returns the result for these parameters. @throws MethodError */
export type Method = (params: readonly unknown[]) => unknown
export type Methods = ReadonlyMap<string, Method>

/** What a request is recognized by in its answer. Fractions are refused, as they may not come back unchanged. */
type Id = string | number | null

/** A well-formed request. Without an id, it is a notification: it gets no answer. */
export interface JsonRpcRequest {
  readonly id: Id | undefined
  readonly method: string
  readonly params: readonly unknown[]
}

/**
 * Answers a JSON-RPC message. The requests of a batch are answered one after another, in order.
 *
 * @param answer answers one request. If it rejects, the whole message has no answer
 * @returns null if there is nothing to answer, because the message contains only notifications
 */
export async function answerMessage(
  text: string,
  answer: (request: JsonRpcRequest) => Promise<object>,
): Promise<string | null> {
  const refused = (code: number, message: string) => JSON.stringify(errorResponse(null, { code, message }))
  let content: unknown
  try {
    content = parseBounded(text)
  } catch {
    return refused(rpcCodes.parse, 'this is not JSON')
  }
  let left = Number.POSITIVE_INFINITY
  const answerOne = async (given: unknown): Promise<string | null> => {
    const request = parseRequest(given)
    if ('error' in request) return JSON.stringify(request)
    // Once an answer is too long, those after it are not worked on.
    if (left >= 0) {
      const answered = JSON.stringify(await answer(request))
      left -= answered.length
      if (request.id === undefined) return null
      if (left >= 0) return answered
    }
    const message = `the answers to this batch have more than ${DEFAULT_RESPONSE_LENGTH} characters`
    return request.id === undefined
      ? null
      : JSON.stringify(errorResponse(request.id, { code: rpcCodes.limited, message }))
  }
  if (!Array.isArray(content)) return answerOne(content)

  if (content.length === 0) return refused(rpcCodes.invalidRequest, 'the batch is empty')
  if (content.length > MAX_BATCH) {
    return refused(rpcCodes.invalidRequest, `the batch has more than ${MAX_BATCH} requests`)
  }
  left = DEFAULT_RESPONSE_LENGTH
  const answers: string[] = []
  for (const given of content) {
    const answered = await answerOne(given)
    if (answered !== null) answers.push(answered)
  }
  return answers.length === 0 ? null : `[${answers.join()}]`
}

/** @returns an error response if the request is malformed */
function parseRequest(request: unknown): JsonRpcRequest | ErrorResponse {
  const invalid = (id: Id, message: string, code: number = rpcCodes.invalidRequest) =>
    errorResponse(id, { code, message })
  if (typeof request !== 'object' || request === null || Array.isArray(request)) {
    return invalid(null, 'this is not a request object')
  }
  const { jsonrpc, id, method, params = [] } = request as Readonly<Record<string, unknown>>
  if (id !== undefined && !isId(id)) return invalid(null, 'id must be an integer, a string or null')
  if (jsonrpc !== '2.0') return invalid(id ?? null, 'jsonrpc must be "2.0"')
  if (typeof method !== 'string') return invalid(id ?? null, 'method must be a string')
  if (!Array.isArray(params)) return invalid(id ?? null, 'params must be an array', rpcCodes.invalidParams)
  return { id, method, params }
}

const isId = (id: unknown): id is Id => id === null || typeof id === 'string' || Number.isSafeInteger(id)

/** @param change transforms the result. Default: no change */
export async function answerRequest(
  methods: Methods,
  { id, method, params }: JsonRpcRequest,
  change: (result: unknown) => unknown = result => result,
): Promise<object> {
  try {
    const answer = methods.get(method)
    if (answer === undefined)
      throw new MethodError(rpcCodes.methodNotFound, `the method ${printable(method.slice(0, 80))} does not exist`)
    return { jsonrpc: '2.0', id, result: change(await answer(params)) }
  } catch (error) {
    const internal = { code: rpcCodes.internal, message: 'internal error' }
    return errorResponse(id, error instanceof MethodError ? error : internal)
  }
}

type ErrorResponse = ReturnType<typeof errorResponse>

export const errorResponse = (id: Id | undefined, { code, message }: Pick<MethodError, 'code' | 'message'>) => ({
  jsonrpc: '2.0',
  id,
  error: { code, message },
})
