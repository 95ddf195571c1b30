import { ProofError, type ProofErrorCode } from '../../src/errors.ts'

/** The code of the ProofError that `work` throws, or null if it succeeds. Rethrows any other error. */
export function codeOf(work: () => unknown): ProofErrorCode | null {
  try {
    work()
    return null
  } catch (error) {
    if (error instanceof ProofError) return error.code
    throw error
  }
}
