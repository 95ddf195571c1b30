import { MethodError, type Methods, rpcCodes } from './methods.ts'

/** A well-formed request. */
export interface JsonRpcRequest {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
}

/** Parses a single request. @throws RequestError */
export function parseRequest(body: string): JsonRpcRequest {
  let request: unknown
  try {
    request = JSON.parse(body)
  } catch {
    throw new RequestError(null, rpcCodes.parse, 'this is not JSON')
  }
  if (Array.isArray(request)) throw new RequestError(null, rpcCodes.invalidRequest, 'batches are not supported')
  if (typeof request !== 'object' || request === null) {
    throw new RequestError(null, rpcCodes.invalidRequest, 'this is not a request object')
  }
  const { jsonrpc, id, method, params = [] } = request as Readonly<Record<string, unknown>>
  if (typeof id !== 'number' || !Number.isSafeInteger(id)) {
    throw new RequestError(null, rpcCodes.invalidRequest, 'id must be an integer')
  }
  if (jsonrpc !== '2.0') throw new RequestError(id, rpcCodes.invalidRequest, 'jsonrpc must be "2.0"')
  if (typeof method !== 'string') throw new RequestError(id, rpcCodes.invalidRequest, 'method must be a string')
  if (!Array.isArray(params)) throw new RequestError(id, rpcCodes.invalidParams, 'params must be an array')
  return { id, method, params }
}

/** @param change transforms the result. Default: no change */
export async function answerRequest(
  methods: Methods,
  { id, method, params }: JsonRpcRequest,
  change: (result: unknown) => unknown = result => result,
): Promise<object> {
  const answer = methods.get(method)
  if (answer === undefined) return errorResponse(id, rpcCodes.methodNotFound, 'the method does not exist')
  try {
    return { jsonrpc: '2.0', id, result: change(await answer(params)) }
  } catch (error) {
    if (error instanceof MethodError) return errorResponse(id, error.code, error.message)
    return errorResponse(id, rpcCodes.internal, 'internal error')
  }
}

/** The request is malformed. Its `id` is null if it could not be read. */
export class RequestError extends MethodError {
  readonly id: number | null

  constructor(id: number | null, code: number, message: string) {
    super(code, message)
    this.id = id
  }
}

export const errorResponse = (id: number | null, code: number, message: string) => ({
  jsonrpc: '2.0',
  id,
  error: { code, message },
})
