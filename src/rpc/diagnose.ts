import { excerpt, ProofError } from '../errors.ts'
import { type EndpointError, RpcError, type RpcErrorCode } from './error.ts'
import { type Redact, redactUrls, redactValue } from './redact.ts'

/**
 * What anything thrown on the way to a verified answer means: by a provider of whatever make, or by `verifyProof`.
 *
 * @param error whatever was thrown
 * @param params of the request, when it is known: whether a block was asked for by tag decides what some errors mean
 * @returns an RpcError that says what to do; a ProofError as it is, unless it is the endpoint's mistake and not a lie.
 * Throws nothing
 *
 * @example
 * ```ts
 * import { diagnose } from 'rollup-state-proof/rpc'
 *
 * const thrown = { code: -32601, message: 'the method does not exist' } // by a wallet, for instance
 * console.log(diagnose(thrown).code) // METHOD_UNKNOWN
 * ```
 */
export function diagnose(error: unknown, params: readonly unknown[] = []): RpcError | ProofError {
  if (error instanceof RpcError) return error
  if (error instanceof ProofError) {
    if (error.code === 'FOREIGN_PROOF') return new RpcError('ETH_PROOF_ANSWER', { cause: error })
    return error.code === 'KEY_MISMATCH' ? new RpcError('OTHER_KEYS', { cause: error }) : error
  }
  const layers = layersOf(error)
  // By their names, for a DOMException also has a code, and it is none of JSON-RPC.
  const names = layers.map(layer => field(layer, 'name'))
  if (names.includes('TimeoutError')) return new RpcError('TIMEOUT')
  if (names.includes('AbortError')) return new RpcError('ABORTED')
  for (const layer of layers) {
    const [code, data] = [field(layer, 'code'), field(layer, 'data')]
    if (typeof code === 'number' && Number.isInteger(code)) {
      return diagnoseEndpointError({ code, message: messageIn(layer), data }, params, redactUrls)
    }
  }
  for (const layer of layers) {
    const status = field(layer, 'status')
    if (typeof status === 'number' && Number.isInteger(status)) return diagnoseStatus(status)
  }
  return new RpcError('UNREACHABLE')
}

/** How the libraries wrap what the endpoint said, the innermost first: `cause` (viem), `error` and `info` (ethers). */
function layersOf(error: unknown, depth = 0): object[] {
  if (typeof error !== 'object' || error === null || depth > 5) return []
  const inner = ['cause', 'error', 'info'].flatMap(name => layersOf(field(error, name), depth + 1))
  return [...inner, error]
}

/** Whatever the library put there; a getter can throw. */
function field(source: object, name: string): unknown {
  try {
    return Reflect.get(source, name)
  } catch {
    return undefined
  }
}

/** viem keeps what the endpoint said in `details`, apart from the text that it makes of it. */
function messageIn(layer: object): string {
  const message = field(layer, 'details') ?? field(layer, 'message')
  return typeof message === 'string' ? message : ''
}

/** @param status not of success */
export function diagnoseStatus(status: number, endpoint?: EndpointError): RpcError {
  const code = status === 401 || status === 403 ? 'UNAUTHORIZED' : status === 429 ? 'RATE_LIMITED' : 'HTTP_ERROR'
  return new RpcError(code, { status, ...(endpoint && { endpoint }) })
}

/** What the `error` of a JSON-RPC response stands for. */
export function diagnoseEndpointError(error: EndpointError, params: readonly unknown[], redact: Redact): RpcError {
  const data = error.data === undefined ? undefined : redactValue(error.data, redact)
  const endpoint = {
    code: error.code,
    message: excerpt(redact(error.message)),
    ...(data !== undefined && { data }),
  }
  return new RpcError(nameEndpointError(error, params), { endpoint })
}

const TAGS: readonly unknown[] = ['latest', 'earliest', 'pending', 'finalized', 'safe']

/** By its code where that says enough; endpoints use -32600, -32602 and -32000 for so much that the words have to. */
function nameEndpointError({ code, message, data }: EndpointError, params: readonly unknown[]): RpcErrorCode {
  const text = `${message} ${typeof data === 'string' ? data : ''}`
  const hasTag = params.some(param => TAGS.includes(param))
  if (text.includes('BLOCK_MISSING_IN_CHAIN')) return 'BLOCK_MISSING'
  if (code === -32601 || code === 4200) return 'METHOD_UNKNOWN'
  if (code === -32005 || code === 429 || /rate.?limit|too many requests/i.test(text)) return 'RATE_LIMITED'
  if (code === 401 || code === 403 || code === 4100 || /api.?key|unauthorized/i.test(text)) return 'UNAUTHORIZED'
  if (/not\b.{0,20}\bfinali[sz]ed/i.test(text)) return 'BLOCK_NOT_FINALIZED'
  if (hasTag && /\b(tag|finalized|safe|pending|earliest|latest|block ?(number|parameter))\b/i.test(text)) {
    return 'TAG_UNSUPPORTED'
  }
  if (/method\b.*\bnot\b.*\b(found|supported|available|exist|allowed)/i.test(text)) return 'METHOD_UNKNOWN'
  return code === -32602 ? 'PARAMS_REFUSED' : 'ENDPOINT_ERROR'
}
