import { isRefusal, type Refusal } from '../src/base/errors.ts'

/** The ProofError or ArgumentError that `work` throws, or null if it succeeds. Any other error fails the test. */
function errorOf(work: () => unknown): Refusal | null {
  try {
    work()
    return null
  } catch (error) {
    if (isRefusal(error)) return error
    throw error
  }
}

/** The ProofError or ArgumentError that `work` throws. Fails the test if it throws none. */
export function refusal(work: () => unknown): Refusal {
  const error = errorOf(work)
  if (error === null) throw new Error('accepted')
  return error
}

/** The outcome of `work`: `CODE at path`, or `accepted`. */
export function verdict(work: () => unknown): string {
  const error = errorOf(work)
  if (error === null) return 'accepted'
  return error.path === '' ? error.code : `${error.code} at ${error.path}`
}
