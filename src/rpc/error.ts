/**
 * Every way a conversation with an endpoint can fail, with what it means and what to do about it.
 *
 * @example
 * ```ts
 * import { rpcAdvice } from 'rollup-state-proof/rpc'
 *
 * console.log(rpcAdvice.BLOCK_NOT_FINALIZED) // L1 has not finalized this block yet: ask for an earlier one, or wait.
 * ```
 */
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
  ANSWERS_INCONSISTENT:
    'The keys were asked for in several requests, and the answers are not of one state: ask for a block number, not a tag.',

  PROOF_UNAVAILABLE:
    'The endpoint holds the proof of none of these finalized blocks: wait until it has caught up, or use another one.',
  L1_HISTORY_MISSING:
    'The endpoint does not hold the older L1 states in which to look for earlier finalizations: use an archive node, name the L2 block, or wait until the L2 endpoint holds the newest one.',
  L1_DISAGREEMENT:
    'Two sources, or one at two times, name different finalized L1 blocks: stop, and find out which of them is wrong.',
  L1_UNCONFIRMED:
    'Too few of the L1 sources have confirmed a finalized block: try again when the others answer and have caught up.',
  BEACON_UNAVAILABLE:
    'None of the beacon endpoints gave what can be verified: look at what each said, and add one that is operated by somebody else.',
  BEACON_STALE:
    'The newest finalized block that is proven is too old: the endpoints hold newer ones back, or the chain does not finalize.',
  BEACON_CHECKPOINT_OLD:
    'The trusted block or stored state is older than the weak-subjectivity period: take a new checkpoint from a source that you trust.',
  L1_CONTRADICTION: 'The endpoint gave contradictory information about L1: do not use it.',
} as const

/** The stable name of what went wrong. */
export type RpcErrorCode = keyof typeof rpcAdvice

/** The `error` of a JSON-RPC response, without URLs and keys. */
export interface EndpointError {
  /** Of JSON-RPC, such as -32600. */
  code: number
  /** The first 80 characters, in quotes. */
  message: string
  /** What else the endpoint said, as text: up to 4096 characters; what is not a text is shown as JSON. */
  data?: string
}

/** Which of the endpoints. */
export type Layer = 'beacon' | 'L1' | 'L2'

/** What {@link RpcError} carries beside its code. None of it may hold a URL or an API key. */
export interface RpcErrorDetails {
  /** What exactly was found. */
  found?: string | undefined
  /** The HTTP status. */
  status?: number | undefined
  /** What the endpoint itself said. */
  endpoint?: EndpointError | undefined
  /** The endpoint that it was about, where there are two. */
  layer?: Layer | undefined
  /** The check of the answer that failed, or what the provider threw. */
  cause?: Error | undefined
}

/**
 * A conversation with an endpoint that failed. Its text and fields never hold the endpoint's URL or API key.
 *
 * @example
 * ```ts
 * import { createHttpProvider, RpcError } from 'rollup-state-proof/rpc'
 *
 * const provider = createHttpProvider('http://127.0.0.1:1', { timeout: 2000 })
 * try {
 *   await provider.request({ method: 'eth_blockNumber' })
 * } catch (error) {
 *   if (error instanceof RpcError) console.log(error.code) // UNREACHABLE
 * }
 * ```
 */
export class RpcError extends Error {
  /** Always `RpcError`. */
  override readonly name = 'RpcError'
  /** What went wrong. */
  readonly code: RpcErrorCode
  /** One or two sentences for people. */
  readonly advice: string
  /** The HTTP status, where it says more than the code. */
  readonly status: number | undefined
  /** What the endpoint itself said. */
  readonly endpoint: EndpointError | undefined
  /** The endpoint that it was about, where there are two. */
  readonly layer: Layer | undefined
  /** What exactly was found, for people. */
  readonly found: string | undefined

  /**
   * For providers of your own that want to be understood as those of this library.
   *
   * @param code what went wrong
   * @param details what was found, without URLs and keys
   */
  constructor(code: RpcErrorCode, details: RpcErrorDetails = {}) {
    const { found, status, endpoint, layer, cause } = details
    const facts = [
      layer && `the ${layer} endpoint`,
      found,
      status !== undefined && `HTTP status ${status}`,
      endpoint && `error ${endpoint.code}: ${endpoint.message}`,
    ].filter(Boolean)
    super(`${code}: ${[...facts, rpcAdvice[code]].join('. ')}`, cause && { cause })
    this.code = code
    this.advice = rpcAdvice[code]
    this.status = status
    this.endpoint = endpoint
    this.layer = layer
    this.found = found
  }
}

/** Runs `work`; an {@link RpcError} from it is thrown on with the endpoint that it was about. */
export async function atEndpoint<T>(layer: Layer, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    const { code, found, status, endpoint, cause } = error
    throw new RpcError(code, { found, status, endpoint, layer, ...(cause instanceof Error && { cause }) })
  }
}
