import type { ProofErrorCode } from '../../base/error-meanings.ts'
import {
  brandError,
  type ErrorAction,
  excerpt,
  hasBrand,
  isArgumentError,
  isProofError,
  type ProofError,
} from '../../base/errors.ts'
import { MAX_OUTAGE_ROUNDS, MAX_REFUSED_ROUNDS, MAX_UNCLEAR_ROUNDS } from './limits.ts'

/** Every way in which a request to an endpoint can fail. */
const meanings = {
  UNREACHABLE: 'The endpoint did not answer. Check the URL, the network, and that the endpoint is running.',
  TIMEOUT: 'The answer did not arrive in time. Request fewer keys at once, or allow more time.',
  ABORTED: 'The caller cancelled the request.',
  HTTP_ERROR: 'The endpoint answered with an HTTP error status. Try again later, or check the URL.',
  UNAUTHORIZED:
    'The endpoint refuses the API key, its plan, or a request without a key. Check that the key is complete, active and paid for, and allowed on this network.',
  RATE_LIMITED: 'The endpoint allows fewer requests than this. Wait, or use an endpoint with an API key.',
  RESPONSE_TOO_LARGE: 'The answer is larger than the limit. Request fewer keys at once, or raise the limit.',

  NOT_JSON: 'The answer is not JSON but, for example, the web page of a proxy. Check the path of the URL.',
  ENVELOPE_MALFORMED: 'The answer is not a JSON-RPC 2.0 response. Check that the URL is that of a JSON-RPC endpoint.',
  ID_MISMATCH: 'The response belongs to another request. Something between here and the endpoint mixes up responses.',
  ANSWER_MALFORMED: 'The result does not have the shape that the method requires.',

  METHOD_UNKNOWN:
    'The endpoint does not serve this method. Check that it is an endpoint of the right network. Some serve rollup_getProof as linea_getProof.',
  CHAIN_MISMATCH: 'The endpoint serves another chain. Check that it is an endpoint of the right network.',
  TAG_UNSUPPORTED: 'The endpoint does not accept this block tag here. Use a block number.',
  BLOCK_MISSING:
    'The endpoint does not hold this block. It may have been finalized just now, or be too old. Use another finalized block, or another endpoint.',
  BLOCK_NOT_FINALIZED: 'L1 has not finalized this block yet. Use an earlier block, or wait.',
  PARAMS_REFUSED:
    'The endpoint refuses the parameters. It may accept fewer keys or blocks at once, or expect another form of the parameters.',
  ENDPOINT_ERROR: 'The endpoint reported an error.',

  ETH_PROOF_ANSWER:
    'The endpoint answered as for eth_getProof, which proves another tree. It does not really serve this method.',
  OTHER_KEYS: 'The answer is for an address or storage keys other than those requested. Do not use this endpoint.',

  MESSAGE_MISSING:
    'The endpoint knows no such message. It may have been sent just now, or too long ago to be searched for: state the transaction.',
  MESSAGES_REFUTED:
    'The messages in the logs of the endpoint lead to no root that L1 knows: some are left out or invented. Use another endpoint. If all say the same, an L1 endpoint hides a finalization.',

  PROOF_UNAVAILABLE:
    'The endpoint holds proofs for none of these finalized blocks. Wait until it has caught up, or use another endpoint.',
  L1_HISTORY_MISSING:
    'Finding earlier finalizations needs older L1 states, which the endpoint does not hold. Use an archive node, pass the L2 block, or wait until the L2 endpoint holds the newest block.',
  L1_DISAGREEMENT:
    'Two sources, or one source at two times, name different finalized L1 blocks. Stop, and find out which is wrong.',
  L1_UNCONFIRMED:
    'Too few L1 sources have confirmed a finalized block. Try again when the others answer and have caught up.',
  BEACON_UNAVAILABLE:
    'No beacon endpoint gave an answer that verifies. See what each of them answered, and add an endpoint of another operator.',
  BEACON_STALE:
    'The newest finalized block that is proven is too old. The endpoints withhold newer blocks, or the chain is not finalizing.',
  BEACON_CHECKPOINT_OLD:
    'The trusted block or stored progress is older than the weak-subjectivity period. Get a new checkpoint from a source that you trust.',
  CLOCK_BEHIND:
    'The clock of this machine is behind a block that is proven. Ages cannot be checked with it: set the clock.',
  L1_CONTRADICTION:
    'What the endpoint says about L1 does not fit together: something is missing or wrong. Use another endpoint.',
}

/** The stable name of what went wrong. */
export type EndpointErrorCode = keyof typeof meanings

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
export const endpointErrorMeanings: Readonly<Record<EndpointErrorCode, string>> = meanings

/**
 * What a failure means for whoever asks again. Followers, snapshots, recordings and the provider all go by this.
 *
 * - `passes`: the same request to the same endpoint may succeed later, and any other until then fails, too. Nobody is to blame.
 * - `unclear`: the same, but it may be this request alone that fails, for a reason that nobody states.
 * - `missing`: the endpoint does not hold the block: not yet, or no longer. It may pass, and an earlier block may be held now.
 * - `wrong`: the answer is wrong. Another endpoint, or another server behind the same URL, may give a right one.
 * - `refused`: the endpoint cannot serve the request. Only another endpoint may.
 * - `stop`, `renew`, `none`, `fix`: not the endpoint's fault, or nothing that another one could mend.
 */
type Prospect = 'passes' | 'unclear' | 'missing' | 'wrong' | 'refused' | 'stop' | 'renew' | 'none' | 'fix'

const prospects: Readonly<Record<EndpointErrorCode, Prospect>> = {
  UNREACHABLE: 'passes',
  TIMEOUT: 'passes',
  ABORTED: 'none',
  HTTP_ERROR: 'passes',
  UNAUTHORIZED: 'refused',
  RATE_LIMITED: 'passes',
  RESPONSE_TOO_LARGE: 'refused',
  // Garbled between here and the endpoint: the page of a gateway, its own JSON, the response to somebody else. These say
  // nothing about the state, so they must not count as lies, which get an address refused and an endpoint blamed.
  NOT_JSON: 'unclear',
  ENVELOPE_MALFORMED: 'unclear',
  ID_MISMATCH: 'unclear',
  ANSWER_MALFORMED: 'wrong',
  METHOD_UNKNOWN: 'refused',
  CHAIN_MISMATCH: 'refused',
  TAG_UNSUPPORTED: 'refused',
  BLOCK_MISSING: 'missing',
  BLOCK_NOT_FINALIZED: 'missing',
  PARAMS_REFUSED: 'refused',
  ENDPOINT_ERROR: 'unclear',
  ETH_PROOF_ANSWER: 'wrong',
  OTHER_KEYS: 'wrong',
  MESSAGE_MISSING: 'missing',
  MESSAGES_REFUTED: 'wrong',
  // Nobody asks for the same blocks again by itself. A follower throws this about one that holds newer blocks.
  PROOF_UNAVAILABLE: 'refused',
  L1_HISTORY_MISSING: 'refused',
  L1_DISAGREEMENT: 'stop',
  L1_UNCONFIRMED: 'passes',
  BEACON_UNAVAILABLE: 'passes',
  BEACON_STALE: 'passes',
  BEACON_CHECKPOINT_OLD: 'renew',
  CLOCK_BEHIND: 'stop',
  L1_CONTRADICTION: 'wrong',
}

/** A redirect, a path that does not exist and a request that is too large do not pass with time. */
const isPassingStatus = (status: number | undefined): boolean =>
  status === undefined || [408, 425, 429].includes(status) || (status >= 500 && ![501, 505, 511].includes(status))

/** Of HTTP errors, the status decides. */
const prospectIn = (code: EndpointErrorCode, status: number | undefined): Prospect =>
  code === 'HTTP_ERROR' && !isPassingStatus(status) ? 'refused' : prospects[code]

const proofProspects = /* @__PURE__ */ new Map<ProofErrorCode, Prospect>([
  // What is proven of L1 is no endpoint's fault, and none would say otherwise.
  ['ANCHOR_IMPLEMENTATION_MISMATCH', 'stop'],
  // An honest beacon API hands out what it has, with the signatures that it has seen. A later update has more.
  ['BEACON_TOO_FEW_SIGNERS', 'missing'],
])

/** null for an error that is not of this library, or of a later version of it. */
function prospectOf(error: unknown): Prospect | null {
  if (isEndpointError(error)) return isKnownError(error) ? prospectIn(error.code, error.status) : null
  if (isProofError(error)) return proofProspects.get(error.code) ?? 'wrong'
  return isArgumentError(error) ? 'fix' : null
}

const PASSING: readonly (Prospect | null)[] = ['passes', 'unclear', 'missing']
const FAILURES: readonly (Prospect | null)[] = [...PASSING, 'wrong', 'refused']

function actionOf(code: EndpointErrorCode, { status, report, cause }: EndpointErrorDetails): ErrorAction {
  // A prover lags. Waiting does not help if the proofs are gone, or if a follower has waited in vain: it states the cause.
  if (code === 'PROOF_UNAVAILABLE' && cause === undefined && !GONE.test(report?.message ?? '')) return 'wait'
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

/** How many rounds in a row may fail like this before a follower ends. With growing waits, 8 take minutes, 32 an hour. */
export function patienceWith(error: unknown, hasWorked: boolean): number {
  const prospect = prospectOf(error)
  // Only a table of forks that knows it helps.
  if (isProofError(error) && error.code === 'BEACON_FORK_UNKNOWN') return 1
  // An endpoint that has worked before is down. One that never has may have a wrong URL.
  const isReached = hasWorked || !isEndpointError(error) || error.code !== 'UNREACHABLE'
  if (prospect === 'passes' && isReached) return MAX_OUTAGE_ROUNDS
  return isPassing(error) && !isGone(error) ? MAX_UNCLEAR_ROUNDS : MAX_REFUSED_ROUNDS
}

/** Whether the endpoint says that it holds the block no more, so that waiting does not help. */
export const isGone = (error: unknown): boolean =>
  isMissing(error) && isEndpointError(error) && GONE.test(error.report?.message ?? '')

const GONE =
  /missing trie node|prun|\bold\b|expired|histor|archive|reexec|proof window|(?:earliest|first) available|world state/i

export const isWrong = (error: unknown): boolean => prospectOf(error) === 'wrong'

/** The `error` of a JSON-RPC response, without URLs and API keys. */
export interface EndpointReport {
  /** The JSON-RPC error code, such as -32600. */
  code: number
  /** The first 80 characters, in quotes. */
  message: string
  /** What else the endpoint said: up to 4096 characters. Anything but a string is shown as JSON. */
  data?: string | undefined
}

/** What an endpoint serves. */
export type Layer = 'beacon' | 'L1' | 'L2'

/** What {@link EndpointError} carries besides its code. None of it may contain a URL or an API key. */
export interface EndpointErrorDetails {
  /** What exactly was found. */
  found?: string | undefined
  /** The HTTP status. */
  status?: number | undefined
  /** How long the endpoint asked to wait, in milliseconds: the header `Retry-After`. */
  retryAfterMs?: number | undefined
  /** What the endpoint itself said. */
  report?: EndpointReport | undefined
  /** The endpoint concerned, if the call uses several. */
  layer?: Layer | undefined
  /** The place of the endpoint among those of its layer, from 0, if there are several. */
  index?: number | undefined
  /** The method, or the path at a beacon API, that was asked for. */
  method?: string | undefined
  /** The failed check of the answer, what the provider threw, or the `reason` of the signal that aborted. */
  cause?: unknown
}

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
  /** What the endpoint itself said. */
  readonly report: EndpointReport | undefined
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
    const { found, status, retryAfterMs, report, layer, index, method, cause } = details
    const facts = [
      [placeOf(layer, index), method].filter(Boolean).join(', '),
      found,
      status !== undefined && `HTTP status ${status}`,
      report && `error ${report.code}: ${report.message}`,
    ].filter(Boolean)
    super(`${code}: ${[...facts, meanings[code]].join('. ')}`, cause === undefined ? undefined : { cause })
    this.code = code
    this.action = actionOf(code, details)
    this.status = status
    this.retryAfterMs = retryAfterMs
    this.report = report
    this.layer = layer
    this.index = index
    this.method = method
    this.found = found
    brandError(this, 'EndpointError')
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
  isEndpointError(error) && Object.hasOwn(meanings, error.code)

export const abortedBy = (signal: AbortSignal): EndpointError =>
  new EndpointError('ABORTED', { cause: signal.reason as unknown })

/** An {@link EndpointError} from `work` is rethrown with the endpoint concerned. @param index its place in the layer, from 0 */
export async function atEndpoint<T>(layer: Layer | undefined, work: () => Promise<T>, index?: number): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!isEndpointError(error)) throw error
    throw new EndpointError(error.code, {
      ...error,
      layer: layer ?? error.layer,
      index: index ?? error.index,
      cause: error.cause,
    })
  }
}

/** The error, with what was asked. That the caller has ended it concerns no method. */
export function withMethod<T extends Error>(error: T, method: string): T | EndpointError {
  if (!isEndpointError(error) || error.code === 'ABORTED' || error.method === method) return error
  return new EndpointError(error.code, {
    ...error,
    method: /^[\w/.:-]{1,120}$/.test(method) ? method : excerpt(method),
    cause: error.cause,
  })
}

const ORDINALS = ['first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth', 'ninth', 'tenth']

/** The endpoint in words, such as `the second L2 endpoint`; empty if nothing is known of it. */
function placeOf(layer: Layer | undefined, index: number | undefined): string {
  const place = index === undefined ? '' : (ORDINALS[index] ?? `${index + 1}th`)
  return layer === undefined && place === '' ? '' : ['the', place, layer, 'endpoint'].filter(Boolean).join(' ')
}
