import { ProofError } from '../src/errors.ts'

/** What `work` is refused with, or null when it is accepted. Any other error than a ProofError fails the test. */
function errorOf(work: () => unknown): ProofError | null {
  try {
    work()
    return null
  } catch (error) {
    if (error instanceof ProofError) return error
    throw error
  }
}

/** The ProofError that `work` throws; that it throws none fails the test. */
export function refusal(work: () => unknown): ProofError {
  const error = errorOf(work)
  if (error === null) throw new Error('accepted')
  return error
}

/** `CODE at path`, or `accepted`. */
export function verdict(work: () => unknown): string {
  const error = errorOf(work)
  if (error === null) return 'accepted'
  return error.path === '' ? error.code : `${error.code} at ${error.path}`
}
