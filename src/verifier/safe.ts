import { ProofError } from '../errors.ts'
import type { Claim } from '../proof/claim.ts'
import type { VerifiedState } from '../proof/verify.ts'
import { verifyProof } from './verify-proof.ts'

/** The outcome of {@link safeVerifyProof}. */
export type SafeVerifiedState =
  | ({
      /** Verified. */
      ok: true
    } & VerifiedState)
  | {
      /** Refused. */
      ok: false
      /** Why. */
      error: ProofError
    }

/**
 * Like {@link verifyProof}, but returns a result object and never throws.
 *
 * @param answer what the endpoint sent, parsed from JSON
 * @param claim what you asked for, and the root that you trust
 *
 * @example
 * ```ts
 * import { safeVerifyProof } from 'rollup-state-proof'
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 *
 * const stateRoot = '0x2fa0344a2fab2b310d2af3155c330261263f887379aef18b4941e3ea1cc59df7'
 * const address = '0x00000000000000000000000000000000000000aa'
 * const outcome = safeVerifyProof({ accountProof: {} }, { scheme: poseidon2, stateRoot, address })
 * console.log(outcome.ok || outcome.error.code) // MALFORMED_RESPONSE
 * ```
 */
export function safeVerifyProof(answer: unknown, claim: Claim): SafeVerifiedState {
  return safely(() => verifyProof(answer, claim))
}

/** What `verify` returns, or the ProofError that it throws. Any other error is rethrown. */
export function safely<T>(verify: () => T): ({ ok: true } & T) | { ok: false; error: ProofError } {
  try {
    return { ok: true, ...verify() }
  } catch (error) {
    if (error instanceof ProofError) return { ok: false, error }
    throw error
  }
}
