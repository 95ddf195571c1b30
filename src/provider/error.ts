import type { Hex } from '../base/bytes.ts'
import type { ProofErrorCode } from '../base/error-meanings.ts'
import {
  brandError,
  type ErrorAction,
  excerpt,
  hasBrand,
  isArgumentError,
  isProofError,
  printable,
} from '../base/errors.ts'
import { diagnose } from '../client/transport/diagnose.ts'
import { type EndpointErrorCode, isEndpointError, type Layer } from '../client/transport/error.ts'

/** Every reason why a verified provider refuses a request: its number for clients, and what it means. */
const reasons = {
  REVERTED: [3, 'The call reverted.'],
  METHOD_REFUSED: [
    4200,
    'This method is not answered here. To pass it to the endpoint unproven, list it in `forward`.',
  ],
  PARAMS_INVALID: [-32602, 'The parameters do not fit the method.'],
  EXECUTION_FAILED: [-32000, 'The call failed without reverting.'],
  BLOCK_UNPROVEN: [
    -32001,
    'The block is not proven. For state, use `latest`, or the last block of an earlier finalization; for the rest, a block up to `eth_blockNumber`.',
  ],
  PROOF_REFUSED: [
    -32010,
    'What an endpoint sent is not proven: it is false, or not in the form of a proof. If the scheme that you passed is right, use another endpoint.',
  ],
  VALUE_UNPROVEN: [
    -32011,
    'The call reads a value of its block that no proof covers. If you know the value, state it in `environment`.',
  ],
  FILTER_MISSING: [-32000, 'There is no such filter, or nobody asked for it for five minutes: create it again.'],
  ENDPOINT_FAILED: [-32012, 'An endpoint did not give a usable answer.'],
  LIMIT_REACHED: [-32013, 'The request needs more than a limit allows: of a call, `maxRequests`.'],
  TIMEOUT: [
    -32016,
    'The request did not end within `timeoutMs`. If it waited for endpoints, ask again; if it computes for so long, allow more.',
  ],
  ROLLUP_DIFFERS: [
    -32017,
    'The call does what the rollup does otherwise than the EVM, or not at all, so that executing it shows nothing about the rollup.',
  ],
  EVM_MISSING: [
    -32014,
    'Calls need three packages: `npm install @ethereumjs/common @ethereumjs/evm @ethereumjs/util`. In a bundle they also need `import "rollup-state-proof/provider/evm"`.',
  ],
  ARGUMENT_INVALID: [-32015, 'An option of the provider is wrong, or what a function among its options returned.'],
} as const

/** The stable name of the reason why a request was refused. */
export type ProviderErrorReason = keyof typeof reasons

/**
 * What each {@link ProviderErrorReason} means, and what to do about it. A minor version may add reasons; no version changes
 * what one means.
 *
 * @example
 * ```ts
 * import { providerErrorMeanings } from 'rollup-state-proof/provider'
 *
 * console.log(providerErrorMeanings.REVERTED) // The call reverted.
 * ```
 */
export const providerErrorMeanings = /* @__PURE__ */ Object.fromEntries(
  Object.entries(reasons).map(([reason, [, meaning]]) => [reason, meaning]),
) as Readonly<Record<ProviderErrorReason, string>>

function actionOf(reason: ProviderErrorReason, cause: Error | undefined): ErrorAction {
  if (isEndpointError(cause)) return cause.action
  if (reason === 'REVERTED' || reason === 'EXECUTION_FAILED' || reason === 'ROLLUP_DIFFERS') return 'none'
  return reason === 'PROOF_REFUSED' || reason === 'ENDPOINT_FAILED' ? 'change' : 'fix'
}

/** What the `data` of a {@link ProviderError} have besides their `reason`, by that. */
export interface ReasonData {
  /** Which method. */
  METHOD_REFUSED: {
    /** Its name, up to 80 characters. */
    method: string
  }
  /** How the execution ended. */
  EXECUTION_FAILED: {
    /** In the EVM's words, such as `out of gas`. Up to 80 characters. */
    error: string
  }
  /** Which check failed. */
  PROOF_REFUSED: {
    /** The code of the {@link ProofError}. */
    error: ProofErrorCode
    /** Where in the proof; empty for the whole. */
    path: string
  }
  /** What the call reads. */
  VALUE_UNPROVEN: {
    /** The name of the instruction, such as `BASEFEE`. */
    instruction: string
  }
  /** What failed. */
  ENDPOINT_FAILED: {
    /** The code of the {@link EndpointError}. */
    error: EndpointErrorCode
    /** Which endpoint. */
    layer?: Layer | undefined
    /** The code of the {@link ProofError} that caused it. */
    proof?: ProofErrorCode | undefined
    /** Its path. */
    path?: string | undefined
  }
  /** What the call does. */
  ROLLUP_DIFFERS: {
    /** The name of the precompile, such as `BLAKE2F`. */
    precompile: string
  }
  /** What is wrong. */
  ARGUMENT_INVALID: {
    /** The name of the option. */
    path: string
  }
}

/** The `data` of a {@link ProviderError}, by its reason. All of it is JSON: of a revert, what the contract returned. */
export type ProviderErrorData = {
  [Reason in ProviderErrorReason]: Reason extends 'REVERTED'
    ? Hex
    : { reason: Reason } & (Reason extends keyof ReasonData ? ReasonData[Reason] : unknown)
}

/** What {@link ProviderError} carries besides its reason and its data. */
export interface ProviderErrorDetails {
  /** What exactly was found, for people. */
  found?: string | undefined
  /** The underlying ProofError, EndpointError or ArgumentError. */
  cause?: Error | undefined
}

/**
 * A refused request, in the shape of EIP-1193 provider errors: `code`, `message` and `data`. Recognize it with
 * {@link isProviderError}.
 *
 * For a revert, `data` is what the contract returned, as hexadecimal, for clients to decode. Otherwise it is an object with the
 * `reason`, and more, by reason.
 *
 * Clients wrap it in errors of their own:
 *
 * - viem keeps it: `error.walk(isProviderError)` returns it.
 * - ethers copies `code`, `message` and `data`. It throws a `CALL_EXCEPTION` whatever happened to a call or an estimate. If the
 *   call reverted, its `data` is what the contract returned, perhaps `0x`. Otherwise, its `data` is null, ethers says "missing
 *   revert data", and `error.info.error.data.reason` says what happened, such as `ENDPOINT_FAILED`. For any other request, ethers
 *   throws an `UNKNOWN_ERROR` with the copy in `error.error`, so that the reason is `error.error.data.reason`.
 *
 * @example
 * ```ts
 * import { ProviderError } from 'rollup-state-proof/provider'
 *
 * const error = new ProviderError('REVERTED', '0x')
 * console.log(error.code, error.reason, error.action) // 3 REVERTED none
 * ```
 */
export class ProviderError<Reason extends ProviderErrorReason = ProviderErrorReason> extends Error {
  /** Always `ProviderError`. */
  override readonly name = 'ProviderError'
  /** Why the request was refused: the stable name. */
  readonly reason: Reason
  /** The number by which EIP-1193 and JSON-RPC clients tell errors apart. */
  readonly code: number
  /** What to do about it. */
  readonly action: ErrorAction
  /** JSON, for clients. */
  readonly data: ProviderErrorData[Reason]

  /**
   * For your own providers, so that clients treat their errors like those of this one.
   *
   * @param reason why the request is refused
   * @param data what clients get to see, without URLs and keys
   * @param details what was found, without URLs and keys
   */
  constructor(reason: Reason, data: ProviderErrorData[Reason], details: ProviderErrorDetails = {}) {
    const { found, cause } = details
    const [code, meaning] = reasons[reason]
    super(found === undefined ? meaning : `${meaning} ${found}`, cause && { cause })
    this.reason = reason
    this.code = code
    this.action = actionOf(reason, cause)
    this.data = data
    brandError(this, 'ProviderError')
  }
}

/** Any {@link ProviderError}: testing its `reason` tells what its `data` are. */
export type AnyProviderError = { [Reason in ProviderErrorReason]: ProviderError<Reason> }[ProviderErrorReason]

/**
 * Whether an error is one of the verified provider, in any copy of this package.
 *
 * @param error anything that was thrown
 *
 * @example
 * ```ts
 * import { isProviderError, ProviderError } from 'rollup-state-proof/provider'
 *
 * const error: unknown = new ProviderError('VALUE_UNPROVEN', { reason: 'VALUE_UNPROVEN', instruction: 'BASEFEE' })
 * if (isProviderError(error) && error.reason === 'VALUE_UNPROVEN') console.log(error.data.instruction) // BASEFEE
 * ```
 */
export const isProviderError = (error: unknown): error is AnyProviderError => hasBrand(error, 'ProviderError')

/** Converts anything thrown while answering into the error for the client. */
export function toProviderError(error: unknown): ProviderError {
  if (isProviderError(error)) return error
  if (isArgumentError(error)) {
    const { path, message } = error
    const reason = 'ARGUMENT_INVALID'
    return new ProviderError(reason, { reason, path }, { found: message, cause: error })
  }
  const cause = diagnose(error)
  const details = { found: cause.message, cause }
  if (isProofError(cause)) {
    const { code, path } = cause
    const reason = 'PROOF_REFUSED'
    return new ProviderError(reason, { reason, error: code, path }, details)
  }
  const { code, layer } = cause
  // FOREIGN_PROOF and KEY_MISMATCH: the endpoint's mistake rather than a lie, but its proof is refused all the same.
  const proof = isProofError(cause.cause) ? { proof: cause.cause.code, path: cause.cause.path } : {}
  const reason = 'ENDPOINT_FAILED'
  return new ProviderError(reason, { reason, error: code, ...(layer && { layer }), ...proof }, details)
}

/** The reasons that say it all. */
type BareReason = 'PARAMS_INVALID' | 'BLOCK_UNPROVEN' | 'FILTER_MISSING' | 'LIMIT_REACHED' | 'TIMEOUT' | 'EVM_MISSING'

/** An error whose data are the reason alone. */
export const refusedFor = (reason: BareReason, details?: ProviderErrorDetails): ProviderError =>
  // The cast is safe: all of these data have this one field.
  new ProviderError(reason, { reason } as ProviderErrorData[BareReason], details)

/**
 * In the words by which ethers knows that a method is unsupported: it then does without, where it can.
 *
 * @param why the reason, if it is known
 */
export function refusedMethod(method: string, why?: string): ProviderError {
  const reason = 'METHOD_REFUSED'
  const name = printable(method.slice(0, 80))
  const found = `Here, the method ${name} does not exist${why === undefined ? '' : `: ${why}`}.`
  return new ProviderError(reason, { reason, method: name }, { found })
}

export const invalidParams = (found: string): ProviderError => refusedFor('PARAMS_INVALID', { found })

/** @param cause why the state does not prove it, if that could be */
export function unprovenValue(instruction: string, cause?: Error): ProviderError {
  const reason = 'VALUE_UNPROVEN'
  const found = `It is that of ${instruction}.${cause === undefined ? '' : ` ${cause.message}`}`
  return new ProviderError(reason, { reason, instruction }, { found, cause })
}

export function rollupDiffers(precompile: string, found: string): ProviderError {
  const reason = 'ROLLUP_DIFFERS'
  return new ProviderError(reason, { reason, precompile }, { found })
}

/** @param said the EVM's message, which may quote text from a contract */
export function executionFailed(said: string): ProviderError {
  const reason = 'EXECUTION_FAILED'
  return new ProviderError(reason, { reason, error: said.slice(0, 80) }, { found: `It ended with: ${excerpt(said)}` })
}
