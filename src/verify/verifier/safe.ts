import { invalid } from '../../base/arguments.ts'
import { type ArgumentError, isRefusal, type ProofError } from '../../base/errors.ts'

/** What {@link safely} returns. */
export type Outcome<T> =
  | {
      /** Verified. */
      ok: true
      /** What the function returned. */
      value: T
    }
  | {
      /** Refused. */
      ok: false
      /** Why: the answer does not verify, or one of the caller's own arguments is wrong. */
      error: ProofError | ArgumentError
    }

/**
 * Runs a function of this package that verifies, and returns its refusal instead of throwing it. Anything else that is thrown
 * is not about verification, and passes through.
 *
 * @param verify calls the function
 * @throws ArgumentError if `verify` is no function; whatever else it throws that is not about verification
 *
 * @example
 * ```ts
 * import { safely, verifyProof } from 'rollup-state-proof'
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 *
 * const stateRoot = '0x2fa0344a2fab2b310d2af3155c330261263f887379aef18b4941e3ea1cc59df7'
 * const address = '0x00000000000000000000000000000000000000aa'
 * const outcome = safely(() => verifyProof({ accountProof: {} }, { scheme: poseidon2, stateRoot, address }))
 * console.log(outcome.ok ? outcome.value.account : outcome.error.code) // MALFORMED_RESPONSE
 * ```
 */
export function safely<T>(verify: () => Promise<T>): Promise<Outcome<T>>
export function safely<T>(verify: () => T): Outcome<T>
export function safely<T>(verify: () => T | Promise<T>): Outcome<T> | Promise<Outcome<T>> {
  const accept = (value: T): Outcome<T> => ({ ok: true, value })
  const refuse = (error: unknown): Outcome<T> => {
    if (isRefusal(error)) return { ok: false, error }
    throw error
  }
  if (typeof verify !== 'function') throw invalid('verify', 'a function', verify)
  try {
    const value = verify()
    return value instanceof Promise ? value.then(accept, refuse) : accept(value)
  } catch (error) {
    return refuse(error)
  }
}
