import { diagnoseEndpointError } from './diagnose.ts'
import { RpcError } from './error.ts'
import { type Redact, redactUrls } from './redact.ts'

/** A JSON-RPC 2.0 request. */
export interface RpcRequest {
  jsonrpc: '2.0'
  id: number
  method: string
  params: readonly unknown[]
}

export function buildRequest(id: number, method: string, params: readonly unknown[]): RpcRequest {
  return { jsonrpc: '2.0', id, method, params }
}

/**
 * The result in a JSON-RPC 2.0 response.
 *
 * @param response parsed from JSON
 * @param request what was asked
 * @param redact applied to what the endpoint says
 * @throws RpcError `ENVELOPE_MALFORMED`, `ID_MISMATCH`; what the endpoint's own error stands for
 */
export function parseResponse(response: unknown, request: RpcRequest, redact: Redact = redactUrls): unknown {
  if (!isObject(response)) throw malformed(Array.isArray(response) ? 'an array' : 'no object')
  const version = own(response, 'jsonrpc')
  if (version !== '2.0') throw malformed('its jsonrpc is not "2.0"')
  // Some serializers write null for a field that is not there; as a result, null is a value.
  const error = own(response, 'error') ?? undefined
  const hasResult = Object.hasOwn(response, 'result')
  if (error !== undefined && own(response, 'result') != null) throw malformed('it has both a result and an error')
  if (error === undefined && !hasResult) throw malformed('it has neither a result nor an error')
  const id = own(response, 'id')
  // An endpoint that could not read the request does not know its id.
  if (id !== request.id && (error === undefined || id !== null)) throw new RpcError('ID_MISMATCH')
  if (error === undefined) return own(response, 'result')

  if (!isObject(error)) throw malformed('its error is no object')
  const [code, message, data] = [own(error, 'code'), own(error, 'message'), own(error, 'data')]
  if (typeof code !== 'number' || !Number.isInteger(code)) throw malformed('the code of its error is no integer')
  if (typeof message !== 'string') throw malformed('the message of its error is no string')
  throw diagnoseEndpointError({ code, message, data }, request.params, redact)
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const own = (source: object, name: string): unknown =>
  Object.hasOwn(source, name) ? Reflect.get(source, name) : undefined

const malformed = (found: string) => new RpcError('ENVELOPE_MALFORMED', { found })
