import { Refusal } from '../http/server.ts'

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

/** A well-formed request. */
export interface JsonRpcRequest {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
}

/** Parses a single request. @returns an error response if it is malformed */
export function parseRequest(body: string): JsonRpcRequest | ErrorResponse {
  let request: unknown
  try {
    request = JSON.parse(body)
  } catch {
    return errorResponse(null, { code: rpcCodes.parse, message: 'this is not JSON' })
  }
  const invalid = (id: number | null, message: string, code: number = rpcCodes.invalidRequest) =>
    errorResponse(id, { code, message })
  if (Array.isArray(request)) return invalid(null, 'batches are not supported')
  if (typeof request !== 'object' || request === null) return invalid(null, 'this is not a request object')
  const { jsonrpc, id, method, params = [] } = request as Readonly<Record<string, unknown>>
  if (typeof id !== 'number' || !Number.isSafeInteger(id)) return invalid(null, 'id must be an integer')
  if (jsonrpc !== '2.0') return invalid(id, 'jsonrpc must be "2.0"')
  if (typeof method !== 'string') return invalid(id, 'method must be a string')
  if (!Array.isArray(params)) return invalid(id, 'params must be an array', rpcCodes.invalidParams)
  return { id, method, params }
}

/** @param change transforms the result. Default: no change */
export async function answerRequest(
  methods: Methods,
  { id, method, params }: JsonRpcRequest,
  change: (result: unknown) => unknown = result => result,
): Promise<object> {
  try {
    const answer = methods.get(method)
    if (answer === undefined) throw new MethodError(rpcCodes.methodNotFound, 'the method does not exist')
    return { jsonrpc: '2.0', id, result: change(await answer(params)) }
  } catch (error) {
    const internal = { code: rpcCodes.internal, message: 'internal error' }
    return errorResponse(id, error instanceof MethodError ? error : internal)
  }
}

type ErrorResponse = ReturnType<typeof errorResponse>

export const errorResponse = (id: number | null, { code, message }: Pick<MethodError, 'code' | 'message'>) => ({
  jsonrpc: '2.0',
  id,
  error: { code, message },
})
