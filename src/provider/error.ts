import { ArgumentError, brandError, excerpt, hasBrand, isProofError } from '../errors.ts'
import { diagnose } from '../rpc/diagnose.ts'

/**
 * Every reason why a verified provider refuses a request: the JSON-RPC error code that clients see, and what it means.
 *
 * @example
 * ```ts
 * import { providerRefusals } from 'rollup-state-proof/provider'
 *
 * console.log(providerRefusals.METHOD_REFUSED.code) // 4200
 * ```
 */
export const providerRefusals = {
  REVERTED: { code: 3, meaning: 'The call reverted.' },
  METHOD_REFUSED: {
    code: 4200,
    meaning: 'No proof covers this method. To pass it to the endpoint unproven, list it in `forward`.',
  },
  PARAMS_INVALID: { code: -32602, meaning: 'The parameters do not fit the method.' },
  EXECUTION_FAILED: { code: -32000, meaning: 'The call failed without reverting.' },
  BLOCK_UNPROVEN: {
    code: -32001,
    meaning: 'No state root of this block is proven. Use `latest`, or the last block of an earlier finalization.',
  },
  PROOF_REFUSED: {
    code: -32010,
    meaning:
      'The proof that an endpoint sent does not verify. If the scheme that you stated is right, do not use this endpoint.',
  },
  VALUE_UNPROVEN: {
    code: -32011,
    meaning:
      'The call reads a value of its block that no proof covers. If you know the value, state it in `environment`.',
  },
  ENDPOINT_FAILED: { code: -32012, meaning: 'An endpoint did not give a usable answer.' },
  LIMIT_REACHED: { code: -32013, meaning: 'The call needs more requests than `maxRequests` allows.' },
  EVM_MISSING: {
    code: -32014,
    meaning: 'Calls need the packages @ethereumjs/evm, @ethereumjs/common and @ethereumjs/util. Install them.',
  },
} as const

/** The stable name of the reason why a request was refused. */
export type ProviderRefusal = keyof typeof providerRefusals

/** What {@link ProviderError} carries besides its reason. */
export interface ProviderErrorDetails {
  /** What exactly was found, for people. */
  found?: string | undefined
  /** JSON, for clients. */
  data?: unknown
  /** The underlying ProofError or EndpointError. */
  cause?: Error | undefined
}

/**
 * A refused request, in the shape of EIP-1193 provider errors: `code`, `message` and `data`.
 *
 * For a revert, `data` is what the contract returned, as hexadecimal, for clients to decode. Otherwise it is an object with the
 * `reason`. A refused proof adds `error` and `path`, a failed endpoint `error` and `layer`, a value without a proof
 * `instruction`.
 *
 * @example
 * ```ts
 * import { ProviderError } from 'rollup-state-proof/provider'
 *
 * const error = new ProviderError('REVERTED', { data: '0x' })
 * console.log(error.code, error.reason) // 3 REVERTED
 * ```
 */
export class ProviderError extends Error {
  /** Always `ProviderError`. */
  override readonly name = 'ProviderError'
  /** Why the request was refused. */
  readonly reason: ProviderRefusal
  /** The JSON-RPC error code: see {@link providerRefusals}. */
  readonly code: number
  /** JSON, for clients. */
  readonly data: unknown

  /**
   * For your own providers, so that clients treat their errors like those of this one.
   *
   * @param reason why the request is refused
   * @param details what was found, without URLs and keys
   */
  constructor(reason: ProviderRefusal, details: ProviderErrorDetails = {}) {
    const { code, meaning } = providerRefusals[reason]
    const { found, data, cause } = details
    super(found === undefined ? meaning : `${meaning} ${found}`, cause && { cause })
    this.reason = reason
    this.code = code
    this.data = data === undefined ? { reason } : data
    brandError(this, 'ProviderError')
  }
}

/**
 * Whether an error is one of the verified provider, in any copy of this package.
 *
 * @param error anything that was thrown
 *
 * @example
 * ```ts
 * import { isProviderError, ProviderError } from 'rollup-state-proof/provider'
 *
 * const error: unknown = new ProviderError('REVERTED', { data: '0x' })
 * if (isProviderError(error)) console.log(error.code, error.reason) // 3 REVERTED
 * ```
 */
export const isProviderError = (error: unknown): error is ProviderError => hasBrand(error, 'ProviderError')

/** Converts anything thrown while answering into the error for the client. */
export function toProviderError(error: unknown): ProviderError {
  if (isProviderError(error)) return error
  const cause = diagnose(error)
  if (isProofError(cause)) {
    const { code, path } = cause
    return refused('PROOF_REFUSED', cause.message, { error: code, path }, cause)
  }
  const { code, layer } = cause
  // FOREIGN_PROOF and KEY_MISMATCH: the endpoint's mistake rather than a lie, but its proof is refused all the same.
  const proof = isProofError(cause.cause) ? { proof: cause.cause.code, path: cause.cause.path } : {}
  return refused('ENDPOINT_FAILED', cause.message, { error: code, ...(layer && { layer }), ...proof }, cause)
}

/** An error whose data are more than the reason. */
const refused = (reason: ProviderRefusal, found: string, more: object, cause?: Error) =>
  new ProviderError(reason, { found, data: { reason, ...more }, cause })

/** Converts whatever is thrown into the error that clients expect. */
export async function withProviderErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw toProviderError(error)
  }
}

export const invalidParams = (found: string): ProviderError => new ProviderError('PARAMS_INVALID', { found })

export const unprovenValue = (instruction: string): ProviderError =>
  refused('VALUE_UNPROVEN', `It is that of ${instruction}.`, { instruction })

/** @param said the EVM's message, which may quote text from a contract */
export const executionFailed = (said: string): ProviderError =>
  refused('EXECUTION_FAILED', `It ended with: ${excerpt(said)}`, { error: said.slice(0, 80) })

export const invalidOption = (found: string): ArgumentError => new ArgumentError({ found })
