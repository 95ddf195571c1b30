import { printable } from '../../base/errors.ts'
import { isProviderError } from '../../provider/error.ts'
import type { Failure } from '../../provider/json-rpc.ts'
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
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  serverError: -32000,
  limited: -32005,
} as const

export type Method = (params: readonly unknown[]) => unknown
export type Methods = ReadonlyMap<string, Method>

export async function answerRequest(methods: Methods, method: string, params: readonly unknown[]): Promise<unknown> {
  const answer = methods.get(method)
  if (answer !== undefined) return answer(params)
  throw new MethodError(rpcCodes.methodNotFound, `the method ${printable(method.slice(0, 80))} does not exist`)
}

/** What a client gets to see of what a method throws. */
export function failureOf(error: unknown): Failure {
  if (!(error instanceof MethodError || isProviderError(error)))
    return { code: rpcCodes.internal, message: 'internal error' }
  const { code, message } = error
  return { code, message }
}
