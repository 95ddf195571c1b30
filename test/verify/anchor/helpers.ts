import { type FailureCode, isRefusal } from '../../../src/base/errors.ts'

/** The code of the ProofError or ArgumentError that `work` throws, or null if it succeeds. Rethrows any other error. */
export function codeOf(work: () => unknown): FailureCode | null {
  try {
    work()
    return null
  } catch (error) {
    if (isRefusal(error)) return error.code
    throw error
  }
}
