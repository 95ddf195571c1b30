/** Every way a conversation with an endpoint can fail, with what it means and what to do about it. */
export const rpcAdvice = {
  ARGUMENT_INVALID: 'An argument of the call is wrong.',

  UNREACHABLE: 'No answer came: check the URL, the network, and that the endpoint runs.',
  TIMEOUT: 'The answer did not come in time: ask for fewer keys at once, or allow more time.',
  ABORTED: 'The caller ended the request.',
  HTTP_ERROR: 'The endpoint answered with an HTTP status that says it failed: try again later, or check the URL.',
  UNAUTHORIZED: 'The endpoint refuses the API key: check that it is whole, active, and allowed on this network.',
  RATE_LIMITED: 'The endpoint allows fewer requests than this: wait, or use an endpoint with an API key.',
  RESPONSE_TOO_LARGE: 'The answer is larger than the limit: ask for fewer keys at once, or raise the limit.',

  NOT_JSON: 'What came is not JSON, but for instance the page of a proxy: check the path of the URL.',
  ENVELOPE_MALFORMED: 'This is not a JSON-RPC 2.0 response: the URL may not be that of a JSON-RPC endpoint.',
  ID_MISMATCH: 'This is the response to another request: something between here and the endpoint mixes them up.',
  ANSWER_MALFORMED: 'The result does not have the shape that the method demands.',

  METHOD_UNKNOWN:
    'The endpoint does not serve this method: try the other name (rollup_getProof, linea_getProof), or another endpoint.',
  TAG_UNSUPPORTED: 'The endpoint does not take this block tag here: ask for a block number.',
  BLOCK_MISSING:
    'The endpoint does not hold this block: not yet, when it was finalized just now, or no more, when it is old. Ask for another finalized block, or another endpoint.',
  BLOCK_NOT_FINALIZED: 'L1 has not finalized this block yet: ask for an earlier one, or wait.',
  PARAMS_REFUSED: 'The endpoint refuses the parameters: it may take fewer keys at once, or write the method otherwise.',
  ENDPOINT_ERROR: 'The endpoint answered with an error of its own.',

  ETH_PROOF_ANSWER:
    'The endpoint answered as eth_getProof does, which proves another tree: it does not really serve this method.',
  OTHER_KEYS:
    'The answer is for another address or other storage keys than the ones asked for: do not use this endpoint.',
  PIECES_DISAGREE:
    'The keys were asked for in several requests, and the answers are not of one state: ask for a block number, not a tag.',
} as const

/** The stable name of what went wrong. */
export type RpcErrorCode = keyof typeof rpcAdvice

/** The `error` of a JSON-RPC response, without URLs and keys. */
export interface EndpointError {
  code: number
  message: string
  data?: unknown
}

/** What {@link RpcError} carries beside its code. None of it may hold a URL or an API key. */
export interface RpcErrorDetails {
  /** What exactly was found. */
  found?: string
  /** The HTTP status. */
  status?: number
  /** What the endpoint itself said. */
  endpoint?: EndpointError
  /** The check of the answer that failed. */
  cause?: Error
}

/** A conversation with an endpoint that failed. Its text and fields never hold the endpoint's URL or API key. */
export class RpcError extends Error {
  override readonly name = 'RpcError'
  readonly code: RpcErrorCode
  /** One or two sentences for people. */
  readonly advice: string
  readonly status: number | undefined
  readonly endpoint: EndpointError | undefined

  constructor(code: RpcErrorCode, details: RpcErrorDetails = {}) {
    const { found, status, endpoint, cause } = details
    const facts = [
      found,
      status !== undefined && `HTTP status ${status}`,
      endpoint && `error ${endpoint.code}: ${endpoint.message}`,
    ].filter(Boolean)
    super(`${code}: ${[...facts, rpcAdvice[code]].join('. ')}`, cause && { cause })
    this.code = code
    this.advice = rpcAdvice[code]
    this.status = status
    this.endpoint = endpoint
  }
}
