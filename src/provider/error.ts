import { excerpt, ProofError } from '../errors.ts'
import { diagnose } from '../rpc/diagnose.ts'
import { RpcError } from '../rpc/error.ts'

/**
 * Every way in which a verified provider refuses a request: the number that clients see as `code`, and what it means.
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
    meaning: 'No proof covers this method: name it in `forward` to pass it to the endpoint unproven.',
  },
  PARAMS_INVALID: { code: -32602, meaning: 'The parameters are not those of the method.' },
  EXECUTION_FAILED: { code: -32000, meaning: 'The call failed without reverting.' },
  BLOCK_UNPROVEN: {
    code: -32001,
    meaning:
      'No state root of this block is proven: ask for `latest`, or for the last block of an earlier finalization.',
  },
  PROOF_REFUSED: { code: -32010, meaning: 'What an endpoint sent does not prove what it says: do not use it.' },
  VALUE_UNPROVEN: {
    code: -32011,
    meaning: 'The call reads a value of its block that no proof covers: state it in `environment`, if you know it.',
  },
  ENDPOINT_FAILED: { code: -32012, meaning: 'An endpoint did not answer as it should.' },
  LIMIT_REACHED: { code: -32013, meaning: 'The call needs more requests than `maxRequests` allows.' },
  EVM_MISSING: {
    code: -32014,
    meaning: 'Calls need the packages @ethereumjs/evm, @ethereumjs/common and @ethereumjs/util: install them.',
  },
} as const

/** The stable name of why a request was refused. */
export type ProviderRefusal = keyof typeof providerRefusals

/** What {@link ProviderError} carries beside its reason. */
export interface ProviderErrorDetails {
  /** What exactly was found, for people. */
  found?: string | undefined
  /** JSON, for clients. */
  data?: unknown
  /** What it was made of: a ProofError or an RpcError. */
  cause?: Error | undefined
}

/**
 * A request that was refused, in the shape that EIP-1193 gives the errors of providers: `code`, `message` and `data`.
 *
 * `data` of a revert is what the contract returned, as hexadecimal, for clients to decode. In every other case it is an
 * object with the `reason`; with `error` and `path` from a refused proof; with `error` and `layer` from an endpoint that
 * failed; with `instruction` from a value without a proof.
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
  /** Why. */
  readonly reason: ProviderRefusal
  /** The number that stands for it: see {@link providerRefusals}. */
  readonly code: number
  /** JSON, for clients. */
  readonly data: unknown

  /**
   * For providers of your own that want to be understood as this one.
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
  }
}

/** What anything thrown on the way to an answer means for whoever asked. */
export function toProviderError(error: unknown): ProviderError {
  if (error instanceof ProviderError) return error
  const cause = diagnose(error)
  if (cause instanceof ProofError) {
    const { code, path } = cause
    return new ProviderError('PROOF_REFUSED', {
      found: cause.message,
      data: { reason: 'PROOF_REFUSED', error: code, path },
      cause,
    })
  }
  const { code, layer } = cause
  // FOREIGN_PROOF and KEY_MISMATCH: the endpoint's mistake rather than a lie, but its proof is refused all the same.
  const proof = cause.cause instanceof ProofError ? { proof: cause.cause.code, path: cause.cause.path } : {}
  return new ProviderError('ENDPOINT_FAILED', {
    found: cause.message,
    data: { reason: 'ENDPOINT_FAILED', error: code, ...(layer && { layer }), ...proof },
    cause,
  })
}

export const invalidParams = (found: string): ProviderError => new ProviderError('PARAMS_INVALID', { found })

export const unprovenValue = (instruction: string): ProviderError =>
  new ProviderError('VALUE_UNPROVEN', {
    found: `It is that of ${instruction}.`,
    data: { reason: 'VALUE_UNPROVEN', instruction },
  })

/** What the EVM itself said, which may quote what a contract made of it. */
export const executionFailed = (said: string): ProviderError =>
  new ProviderError('EXECUTION_FAILED', {
    found: `It ended with: ${excerpt(said)}`,
    data: { reason: 'EXECUTION_FAILED', error: said.slice(0, 80) },
  })

export const invalidOption = (found: string): RpcError => new RpcError('ARGUMENT_INVALID', { found })
