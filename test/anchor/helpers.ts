import { type ErrorCode, ProofError } from '../../src/errors.ts'

/** The code that `work` fails with, or null when it goes well. Anything but a ProofError goes on. */
export function codeOf(work: () => unknown): ErrorCode | null {
  try {
    work()
    return null
  } catch (error) {
    if (error instanceof ProofError) return error.code
    throw error
  }
}
