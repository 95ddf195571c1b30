import { type Hex, hexToBytes } from '../base/bytes.ts'
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

const meanings = {
  REVERTED: 'The call reverted.',
  METHOD_REFUSED: 'This method is not answered here. To pass it to the endpoint unproven, list it in `forward`.',
  PARAMS_INVALID: 'The parameters do not fit the method.',
  EXECUTION_FAILED: 'The call failed without reverting.',
  BLOCK_UNPROVEN:
    'The block is not proven. For state, use `latest`, or the last block of an earlier finalization; for the rest, a block up to `eth_blockNumber`.',
  PROOF_REFUSED:
    'What an endpoint sent is not proven: it is false, or not in the form of a proof. If the scheme that you passed is right, use another endpoint.',
  VALUE_UNPROVEN:
    'The call reads a value of its block that no proof covers. If you know the value, state it in `environment`.',
  FILTER_MISSING: 'There is no such filter, or it made room for others: create it again.',
  ENDPOINT_FAILED: 'The endpoints gave no answer that can be used.',
  LIMIT_REACHED: 'The request needs more than a limit allows: of a call, `maxRequests`.',
  TIMEOUT:
    'The request did not end within `timeoutMs`. If it waited for endpoints, ask again; if it computes for so long, allow more.',
  ROLLUP_DIFFERS:
    'The call uses a precompile that the rollup does not have, or that is not executed here, so that executing it shows nothing about the rollup.',
  EVM_MISSING:
    'Calls need three packages: `npm install @ethereumjs/common@10.1 @ethereumjs/evm@10.1 @ethereumjs/util@10.1`. In a bundle they also need `import "rollup-state-proof/provider/evm"`.',
  ARGUMENT_INVALID: 'An option of the provider is wrong, or what a function among its options returned.',
} as const

/** The stable name of the reason why a request was refused. */
export type ProviderErrorReason = keyof typeof meanings

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
export const providerErrorMeanings: Readonly<Record<ProviderErrorReason, string>> = meanings

/** The number for clients, and what to do: unless an endpoint failed, which decides that. */
const codes = {
  REVERTED: [3, 'none'],
  METHOD_REFUSED: [4200, 'fix'],
  PARAMS_INVALID: [-32602, 'fix'],
  EXECUTION_FAILED: [-32000, 'none'],
  BLOCK_UNPROVEN: [-32001, 'fix'],
  PROOF_REFUSED: [-32010, 'change'],
  VALUE_UNPROVEN: [-32011, 'fix'],
  FILTER_MISSING: [-32000, 'fix'],
  ENDPOINT_FAILED: [-32012, 'change'],
  LIMIT_REACHED: [-32013, 'fix'],
  TIMEOUT: [-32016, 'fix'],
  ROLLUP_DIFFERS: [-32017, 'none'],
  EVM_MISSING: [-32014, 'fix'],
  ARGUMENT_INVALID: [-32015, 'fix'],
} as const satisfies Record<ProviderErrorReason, readonly [code: number, action: ErrorAction]>

/** What the `data` of a {@link ProviderError} have besides their `reason`, by that: those that are not here have nothing. */
interface ReasonData {
  /** In place of an object: what the contract returned. */
  REVERTED: Hex
  /** The name of the method, up to 80 characters. */
  METHOD_REFUSED: { method: string }
  /** How the execution ended, in the EVM's words, such as `out of gas`. Up to 80 characters. */
  EXECUTION_FAILED: { error: string }
  /** The code of the {@link ProofError}, and where in the proof it failed; empty for the whole. */
  PROOF_REFUSED: { error: ProofErrorCode; path: string }
  /** The name of the instruction that reads the value, such as `BASEFEE`. */
  VALUE_UNPROVEN: { instruction: string }
  /** The code of the {@link EndpointError}, and which endpoint; the code and path of the {@link ProofError} that caused it. */
  ENDPOINT_FAILED: {
    error: EndpointErrorCode
    layer?: Layer | undefined
    proof?: ProofErrorCode | undefined
    path?: string | undefined
  }
  /** The name of the precompile that the call uses, such as `BLAKE2F`. */
  ROLLUP_DIFFERS: { precompile: string }
  /** The name of the option that is wrong. */
  ARGUMENT_INVALID: { path: string }
}

type DataOf<Reason> = Reason extends keyof ReasonData ? ReasonData[Reason] : object

interface Details {
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
 * Clients wrap it in errors of their own. In those of viem, `error.walk(isProviderError)` returns it. Those of ethers have a copy of
 * its `data`: of a call or an estimate in `error.info.error`, of any other request in `error.error`.
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
  readonly data: Reason extends 'REVERTED'
    ? Hex
    : {
        /** The same, for clients that copy nothing else. */
        reason: Reason
      } & DataOf<Reason>

  /**
   * For your own providers, so that clients treat their errors like those of this one.
   *
   * @param reason why the request is refused
   * @param data what clients get to see besides the reason, without URLs and keys
   * @param details what was found, without URLs and keys
   */
  constructor(reason: Reason, data: DataOf<Reason>, details: Details = {}) {
    const { found, cause } = details
    const meaning = providerErrorMeanings[reason]
    super(found === undefined ? meaning : `${meaning} ${found}`, cause && { cause })
    const [code, action] = codes[reason]
    this.reason = reason
    this.code = code
    this.action = isEndpointError(cause) ? cause.action : action
    // The types of both follow from the reason.
    this.data = (reason === 'REVERTED' ? data : Object.assign({ reason }, data)) as typeof this.data
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
 * const error: unknown = new ProviderError('VALUE_UNPROVEN', { instruction: 'BASEFEE' })
 * if (isProviderError(error) && error.reason === 'VALUE_UNPROVEN') console.log(error.data.instruction) // BASEFEE
 * ```
 */
export const isProviderError = (error: unknown): error is AnyProviderError => hasBrand(error, 'ProviderError')

/** Converts anything thrown while answering into the error for the client. */
export function toProviderError(error: unknown): ProviderError {
  if (isProviderError(error)) return error
  if (isArgumentError(error)) {
    return new ProviderError('ARGUMENT_INVALID', { path: error.path }, { found: error.message, cause: error })
  }
  const cause = diagnose(error)
  const details = { found: cause.message, cause }
  if (isProofError(cause)) return new ProviderError('PROOF_REFUSED', { error: cause.code, path: cause.path }, details)
  const { code, layer } = cause
  // FOREIGN_PROOF and KEY_MISMATCH: the endpoint's mistake rather than a lie, but its proof is refused all the same.
  const proof = isProofError(cause.cause) ? { proof: cause.cause.code, path: cause.cause.path } : {}
  return new ProviderError('ENDPOINT_FAILED', { error: code, ...(layer && { layer }), ...proof }, details)
}

export const refusedFor = (reason: Exclude<ProviderErrorReason, keyof ReasonData>, details?: Details): ProviderError =>
  new ProviderError(reason, {}, details)

/** In the words by which ethers knows that a method is unsupported: it then does without, where it can. */
export function refusedMethod(method: string, why?: string): ProviderError {
  const name = printable(method.slice(0, 80))
  const found = `Here, the method ${name} does not exist${why === undefined ? '' : `: ${why}`}.`
  return new ProviderError('METHOD_REFUSED', { method: name }, { found })
}

export const invalidParams = (found: string): ProviderError => refusedFor('PARAMS_INVALID', { found })

/** @param cause why the state does not prove it, if that could be */
export function unprovenValue(instruction: string, cause?: Error): ProviderError {
  const found = `It is that of ${instruction}.${cause === undefined ? '' : ` ${cause.message}`}`
  return new ProviderError('VALUE_UNPROVEN', { instruction }, { found, cause })
}

export const rollupDiffers = (precompile: string, found: string): ProviderError =>
  new ProviderError('ROLLUP_DIFFERS', { precompile }, { found })

/** @param said the EVM's message, which may quote text from a contract */
export const executionFailed = (said: string): ProviderError =>
  new ProviderError('EXECUTION_FAILED', { error: said.slice(0, 80) }, { found: `It ended with: ${excerpt(said)}` })

/**
 * What a contract says as it reverts, in the two forms of Solidity itself: the text of `Error(string)`, or `Panic(0x…)` with
 * its number. Null for any other data. The text is a stranger's: make it printable before you show it.
 */
export function revertReason(data: Hex): string | null {
  const word = (at: number) => BigInt(`0x${data.slice(10 + 64 * at, 74 + 64 * at)}`)
  if (/^0x4e487b71[0-9a-f]{64}$/.test(data)) return `Panic(0x${word(0).toString(16)})`
  if (!/^0x08c379a0[0-9a-f]{128,}$/.test(data) || word(0) !== 32n) return null
  const length = word(1)
  const text = data.slice(138)
  if (length * 2n > BigInt(text.length)) return null
  return new TextDecoder().decode(hexToBytes(`0x${text.slice(0, 2 * Number(length))}`, Number(length)))
}
