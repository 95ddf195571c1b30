import { readOwn } from '../json/known-fields.ts'
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

/**
 * The result of a JSON-RPC 2.0 response.
 *
 * @param response parsed from JSON
 * @param request the request that was sent
 * @param redact applied to what the endpoint says
 * @throws RpcError `ENVELOPE_MALFORMED`, `ID_MISMATCH`; the RpcError for the endpoint's own error
 */
export function parseResponse(response: unknown, request: RpcRequest, redact: Redact = redactUrls): unknown {
  if (!isObject(response)) throw malformed(Array.isArray(response) ? 'an array' : 'no object')
  const version = readOwn(response, 'jsonrpc')
  if (version !== '2.0') throw malformed('its jsonrpc is not "2.0"')
  // Some serializers write null for a missing field. As a result, null is a value.
  const error = readOwn(response, 'error') ?? undefined
  const hasResult = Object.hasOwn(response, 'result')
  if (error !== undefined && readOwn(response, 'result') != null) throw malformed('it has both a result and an error')
  if (error === undefined && !hasResult) throw malformed('it has neither a result nor an error')
  const id = readOwn(response, 'id')
  // An endpoint that could not read the request does not know its id.
  if (id !== request.id && (error === undefined || id !== null)) throw new RpcError('ID_MISMATCH')
  if (error === undefined) return readOwn(response, 'result')
  throw parseError(error, request.params, redact)
}

/** The RpcError for the `error` of a response; `ENVELOPE_MALFORMED` if it is not a valid one. */
export function parseError(error: unknown, params: readonly unknown[], redact: Redact): RpcError {
  if (!isObject(error)) return malformed('its error is no object')
  const [code, message, data] = ['code', 'message', 'data'].map(name => readOwn(error, name))
  if (typeof code !== 'number' || !Number.isInteger(code)) return malformed('the code of its error is no integer')
  if (typeof message !== 'string') return malformed('the message of its error is no string')
  return diagnoseEndpointError({ code, message, data }, params, redact)
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const malformed = (found: string) => new RpcError('ENVELOPE_MALFORMED', { found })
