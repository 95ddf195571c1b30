import { brandError, type ErrorAction, excerpt, hasBrand, isProofError, type ProofError } from '../../base/errors.ts'
import { MAX_OUTAGE_ROUNDS, MAX_REFUSED_ROUNDS, MAX_UNCLEAR_ROUNDS } from './limits.ts'

/** Every way in which a request to an endpoint can fail, by what it means for whoever asks again. Everybody goes by this. */
const table = {
  /** The same request to the same endpoint may succeed later, and any other until then fails, too. Nobody is to blame. */
  passes: {
    UNREACHABLE: 'The endpoint did not answer. Check the URL, the network, and that the endpoint is running.',
    TIMEOUT: 'The answer did not arrive in time. Request fewer keys at once, or allow more time.',
    HTTP_ERROR: 'The endpoint answered with an HTTP error status. Try again later, or check the URL.',
    RATE_LIMITED: 'The endpoint allows fewer requests than this. Wait, or use an endpoint with an API key.',
    L1_UNCONFIRMED:
      'Too few L1 sources have confirmed a finalized block. Try again when the others answer and have caught up.',
    BEACON_UNAVAILABLE:
      'No beacon endpoint gave an answer that verifies. See what each of them answered, and add an endpoint of another operator.',
    BEACON_STALE:
      'The newest finalized block that is proven is too old. The endpoints withhold newer blocks, or the chain is not finalizing.',
  },
  /**
   * The same, but it may be this request alone that fails, for a reason that nobody states. What is garbled on the way says nothing
   * about the state, so it must not count as a lie, which gets an address refused and an endpoint blamed.
   */
  unclear: {
    NOT_JSON: 'The answer is not JSON but, for example, the web page of a proxy. Check the path of the URL.',
    ENVELOPE_MALFORMED: 'The answer is not a JSON-RPC 2.0 response. Check that the URL is that of a JSON-RPC endpoint.',
    ID_MISMATCH: 'The response belongs to another request. Something between here and the endpoint mixes up responses.',
    ENDPOINT_ERROR: 'The endpoint reported an error.',
  },
  /** The endpoint does not hold the block: not yet, or no longer. It may pass, and an earlier block may be held now. */
  missing: {
    BLOCK_MISSING:
      'The endpoint does not hold this block. It may have been finalized just now, or be too old. Use another finalized block, or another endpoint.',
    BLOCK_NOT_FINALIZED: 'L1 has not finalized this block yet. Use an earlier block, or wait.',
    MESSAGE_MISSING:
      'The endpoint knows no such message. It may have been sent just now, or too long ago for a search without its transaction.',
  },
  /** The answer is wrong. Another endpoint, or another server behind the same URL, may give a right one. */
  wrong: {
    ANSWER_MALFORMED: 'The result does not have the shape that the method requires.',
    ETH_PROOF_ANSWER:
      'The endpoint answered as for eth_getProof, which proves another tree. It does not really serve this method.',
    OTHER_KEYS: 'The answer is for an address or storage keys other than those requested. Do not use this endpoint.',
    MESSAGES_REFUTED:
      'The messages in the logs of the endpoint lead to no root that L1 knows: some are left out or invented. Use another endpoint. If all say the same, an L1 endpoint hides a finalization.',
    L1_CONTRADICTION:
      'What the endpoint says about L1 does not fit together: something is missing or wrong. Use another endpoint.',
  },
  /** The endpoint cannot serve the request. Only another endpoint may. */
  refused: {
    UNAUTHORIZED:
      'The endpoint refuses the API key, its plan, or a request without a key. Check that the key is complete, active and paid for, and allowed on this network.',
    RESPONSE_TOO_LARGE: 'The answer is larger than any that is needed. Request fewer keys at once.',
    METHOD_UNKNOWN:
      'The endpoint does not serve this method. Check that it is an endpoint of the right network. Some serve rollup_getProof as linea_getProof.',
    CHAIN_MISMATCH: 'The endpoint serves another chain. Check that it is an endpoint of the right network.',
    TAG_UNSUPPORTED: 'The endpoint does not accept this block tag here. Use a block number.',
    PARAMS_REFUSED:
      'The endpoint refuses the parameters. It may accept fewer keys or blocks at once, or expect another form of the parameters.',
    // Nobody asks for the same blocks again by itself. A follower throws this about one that holds newer blocks.
    PROOF_UNAVAILABLE:
      'The endpoint holds proofs for none of these finalized blocks. Wait until it has caught up, or use another endpoint.',
    L1_HISTORY_MISSING:
      'Finding earlier finalizations needs older logs of L1, which the endpoint does not serve. Use another endpoint, pass the L2 block, or wait until the L2 endpoint holds the newest block.',
  },
  // Not the fault of an endpoint, or nothing that another one could mend: the action of the same name.
  stop: {
    L1_DISAGREEMENT:
      'Two sources, or one source at two times, name different finalized L1 blocks. Stop, and find out which is wrong.',
    CLOCK_BEHIND:
      'The clock of this machine is behind a block that is proven. Ages cannot be checked with it: set the clock.',
  },
  renew: {
    BEACON_CHECKPOINT_OLD:
      'The trusted block or stored progress is older than the weak-subjectivity period. Get a new checkpoint from a source that you trust.',
  },
  none: {
    ABORTED: 'The caller cancelled the request.',
  },
}

type Prospect = keyof typeof table

/** The stable name of what went wrong. */
export type EndpointErrorCode = { [Name in Prospect]: keyof (typeof table)[Name] }[Prospect]

/**
 * What each {@link EndpointErrorCode} means, and what to do about it. A minor version may add codes; no version changes what
 * one means.
 *
 * @example
 * ```ts
 * import { endpointErrorMeanings } from 'rollup-state-proof/rpc'
 *
 * console.log(endpointErrorMeanings.BLOCK_NOT_FINALIZED) // L1 has not finalized this block yet. Use an earlier block, or wait.
 * ```
 */
export const endpointErrorMeanings: Readonly<Record<EndpointErrorCode, string>> = /* @__PURE__ */ Object.assign(
  {},
  ...Object.values(table),
)

const prospects: ReadonlyMap<string, Prospect> = /* @__PURE__ */ new Map(
  Object.entries(table).flatMap(([name, codes]) => Object.keys(codes).map(code => [code, name as Prospect])),
)

/** A redirect, a path that does not exist and a request that is too large do not pass with time. */
const isPassingStatus = (status: number | undefined): boolean =>
  status === undefined || [408, 425, 429].includes(status) || (status >= 500 && ![501, 505, 511].includes(status))

/** Of HTTP errors, the status decides. Undefined for a code of a later version. */
const prospectIn = (code: EndpointErrorCode, status: number | undefined): Prospect | undefined =>
  code === 'HTTP_ERROR' && !isPassingStatus(status) ? 'refused' : prospects.get(code)

/** Undefined for an error that is not of this library. */
function prospectOf(error: unknown): Prospect | undefined {
  if (isEndpointError(error)) return prospectIn(error.code, error.status)
  if (!isProofError(error)) return undefined
  // What is proven of L1 is no endpoint's fault, and none would say otherwise.
  if (error.code === 'ANCHOR_IMPLEMENTATION_MISMATCH') return 'stop'
  // An honest beacon API hands out what it has, with the signatures that it has seen. A later update has more.
  return error.code === 'BEACON_TOO_FEW_SIGNERS' ? 'missing' : 'wrong'
}

const PASSING: readonly (Prospect | undefined)[] = ['passes', 'unclear', 'missing']
const FAILURES: readonly (Prospect | undefined)[] = [...PASSING, 'wrong', 'refused']

function actionOf(code: EndpointErrorCode, { status, said, cause }: EndpointErrorDetails): ErrorAction {
  // A prover lags. Waiting does not help if the proofs are gone, or if a follower has waited in vain: it states the cause.
  if (code === 'PROOF_UNAVAILABLE' && cause === undefined && !GONE.test(said ?? '')) return 'wait'
  const prospect = prospectIn(code, status)
  if (PASSING.includes(prospect)) return 'wait'
  return prospect === 'stop' || prospect === 'renew' || prospect === 'none' ? prospect : 'change'
}

/** That of an endpoint: it did not answer, or its answer is refused. */
export type Failure = EndpointError | ProofError

/** Whether an endpoint caused the error, so that it makes sense to ask it or another one again. */
export const isFailure = (error: unknown): error is Failure => FAILURES.includes(prospectOf(error))

/** For `catch`: the failure of an endpoint as a value. Anything else is thrown again. */
export function orFailure(error: unknown): Failure {
  if (isFailure(error)) return error
  throw error
}

/** Whether the same request to the same endpoint may succeed later. */
export const isPassing = (error: unknown): boolean => PASSING.includes(prospectOf(error))

export const isMissing = (error: unknown): boolean => prospectOf(error) === 'missing'

/** Whether it may hold another block: gateways report internal errors while the prover behind them lags. */
export const isOfBlock = (error: unknown): boolean => isMissing(error) || prospectOf(error) === 'unclear'

/** The table of the network lacks a fork, or is that of another network: only a table that knows it helps. */
export const isUnknownFork = (error: unknown): boolean => isProofError(error) && error.code === 'BEACON_FORK_UNKNOWN'

/** How many rounds in a row may fail like this before a follower ends. With growing waits, 8 take minutes, 32 an hour. */
export function patienceWith(error: unknown, hasWorked: boolean): number {
  const prospect = prospectOf(error)
  if (isUnknownFork(error)) return 1
  // An endpoint that has worked before is down. One that never has may have a wrong URL.
  const isReached = hasWorked || !isEndpointError(error) || error.code !== 'UNREACHABLE'
  if (prospect === 'passes' && isReached) return MAX_OUTAGE_ROUNDS
  return isPassing(error) && !isGone(error) ? MAX_UNCLEAR_ROUNDS : MAX_REFUSED_ROUNDS
}

/** Whether the endpoint says that it holds the block no more, so that waiting does not help. */
export const isGone = (error: unknown): boolean =>
  isMissing(error) && isEndpointError(error) && GONE.test(error.said ?? '')

const GONE =
  /missing trie node|prun|\bold\b|expired|histor|archive|reexec|proof window|(?:earliest|first) available|world state/i

export const isWrong = (error: unknown): boolean => prospectOf(error) === 'wrong'

/** What an endpoint serves. */
export type Layer = 'beacon' | 'L1' | 'L2'

/** What {@link EndpointError} carries besides its code. None of it may contain a URL or an API key. */
export type EndpointErrorDetails = Partial<
  Pick<EndpointError, 'found' | 'said' | 'status' | 'retryAfterMs' | 'layer' | 'index' | 'method' | 'cause'>
>

/**
 * A request to an endpoint failed. The text and fields of the error never contain the endpoint's URL or API key. Recognize it
 * with {@link isEndpointError}.
 *
 * @example
 * ```ts
 * import { EndpointError } from 'rollup-state-proof/rpc'
 *
 * const { action, message } = new EndpointError('TAG_UNSUPPORTED', { layer: 'L2' })
 * console.log(action, message) // change TAG_UNSUPPORTED: the L2 endpoint. The endpoint does not accept this block tag here. Use a block number.
 * ```
 */
export class EndpointError extends Error {
  /** Always `EndpointError`. */
  override readonly name = 'EndpointError'
  /** What went wrong. */
  readonly code: EndpointErrorCode
  /** What to do about it. Followers, recordings and the provider go by the same table. */
  readonly action: ErrorAction
  /** The HTTP status, if it says more than the code. */
  readonly status: number | undefined
  /** How long the endpoint asked to wait, in milliseconds. It may be any number. */
  readonly retryAfterMs: number | undefined
  /** All that the endpoint itself said, if it answered with a JSON-RPC error: its message and data, up to 4,096 characters of each. */
  readonly said: string | undefined
  /** The endpoint concerned, if the call uses several. */
  readonly layer: Layer | undefined
  /** The place of the endpoint among those of its layer, from 0, if there are several. */
  readonly index: number | undefined
  /** The method, or the path at a beacon API, that was asked for. */
  readonly method: string | undefined
  /** What exactly was found, for people. */
  readonly found: string | undefined

  /**
   * For your own providers, so that this library treats their errors like those of its own providers.
   *
   * @param code what went wrong
   * @param details what was found, without URLs and keys
   */
  constructor(code: EndpointErrorCode, details: EndpointErrorDetails = {}) {
    const { found, said, status, retryAfterMs, layer, index, method, cause } = details
    const facts = [
      [placeOf(layer, index), method].filter(Boolean).join(', '),
      found,
      status !== undefined && `HTTP status ${status}`,
      endpointErrorMeanings[code],
    ].filter(Boolean)
    // The code and its colon come before the first.
    const [first, ...sentences] = facts.map(String)
    const text = [first, ...sentences.map(one => one.charAt(0).toUpperCase() + one.slice(1))].join('. ')
    super(`${code}: ${text}`, cause === undefined ? undefined : { cause })
    this.code = code
    this.action = actionOf(code, details)
    Object.assign(brandError(this, 'EndpointError'), { found, said, status, retryAfterMs, layer, index, method })
  }
}

/**
 * Whether an error says that a request to an endpoint failed. Unlike `instanceof`, it also recognizes the errors of another
 * copy of this package. It never throws.
 *
 * @param error anything that was thrown
 *
 * @example
 * ```ts
 * import { createHttpProvider, isEndpointError } from 'rollup-state-proof/rpc'
 *
 * const provider = createHttpProvider('http://127.0.0.1:1', { timeoutMs: 2000 })
 * try {
 *   await provider.request({ method: 'eth_blockNumber' })
 * } catch (error) {
 *   if (isEndpointError(error)) console.log(error.code, error.action) // UNREACHABLE wait
 * }
 * ```
 */
export const isEndpointError = (error: unknown): error is EndpointError => hasBrand(error, 'EndpointError')

/** Whether it is an {@link EndpointError} with a code of this version. A later copy has others, and a stranger any value. */
export const isKnownError = (error: unknown): error is EndpointError =>
  isEndpointError(error) && prospects.has(error.code)

export const abortedBy = (signal: AbortSignal): EndpointError =>
  new EndpointError('ABORTED', { cause: signal.reason as unknown })

/** The same error with other details. */
export const withDetails = (error: EndpointError, details: EndpointErrorDetails): EndpointError =>
  new EndpointError(error.code, { ...error, cause: error.cause, ...details })

/** An {@link EndpointError}, with the endpoint concerned. @param index its place in the layer, from 0 */
export const atEndpoint = (error: unknown, layer: Layer | undefined, index: number | undefined): unknown =>
  isEndpointError(error) ? withDetails(error, { layer: layer ?? error.layer, index: index ?? error.index }) : error

/** The error, with what was asked. That the caller has ended it concerns no method. */
export function withMethod<T>(error: T, method: string): T | EndpointError {
  if (!isEndpointError(error) || error.code === 'ABORTED' || error.method === method) return error
  return withDetails(error, { method: /^[\w/.:-]{1,120}$/.test(method) ? method : excerpt(method) })
}

const ORDINALS = ['first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth', 'ninth', 'tenth']

/** The endpoint in words, such as `the second L2 endpoint`; empty if nothing is known of it. */
function placeOf(layer: Layer | undefined, index: number | undefined): string {
  const place = index === undefined ? '' : (ORDINALS[index] ?? `${index + 1}th`)
  return layer === undefined && place === '' ? '' : ['the', place, layer, 'endpoint'].filter(Boolean).join(' ')
}
