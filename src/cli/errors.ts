import { messageOf, printable } from '../document/value.ts'
import { redactUrls } from '../rpc/redact.ts'
import { MAX_MESSAGE_LENGTH } from './limits.ts'

/** Wrong usage or unreadable input: nothing was verified, and the caller has to change something. Exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Turns what `work` throws, now or later, into a UsageError that says `what` failed and why, unless it is one. */
export function orUsageError<T>(what: string, work: () => T): T {
  const refuse = (error: unknown): never => {
    throw error instanceof UsageError ? error : new UsageError(`${what}: ${messageOf(error)}`)
  }
  try {
    const result = work()
    // A promise of the same.
    return result instanceof Promise ? (result.catch(refuse) as T) : result
  } catch (error) {
    return refuse(error)
  }
}

/** What to print of any error. */
export const briefMessage = (error: unknown): string =>
  printable(redactUrls(messageOf(error).slice(0, MAX_MESSAGE_LENGTH)))

/** The code of an error from Node, such as `EPIPE`. */
export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error ? String(error.code) : undefined

/** Makes the handler of a server's failure to listen. @param option the option that chooses the port */
export const cannotListen = (option: string) => (error: unknown) => {
  const hint = codeOf(error) === 'EADDRINUSE' ? `; choose another port with ${option}` : ''
  throw new UsageError(`cannot listen: ${messageOf(error)}${hint}`)
}
