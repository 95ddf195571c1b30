import type { ArgumentError } from '../base/errors.ts'
import { removeUrls } from '../client/transport/redact.ts'
import type { Output } from './command.ts'
import { MAX_MESSAGE_LENGTH, MAX_NAME_LENGTH } from './limits.ts'
import { messageOf, printable } from './words/value.ts'

/** Wrong usage or unreadable input: nothing was verified, and the caller has to change something. Exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'

  /** Whether the help of the command helps. */
  readonly isUsage: boolean

  constructor(message: string, isUsage = true) {
    super(message)
    this.isUsage = isUsage
  }
}

/** The options whose values the library checks further, by its names for them. */
const OPTIONS = [
  ['network', '--network'],
  ['rollup', '--network'],
  ['l2BlockNumber', '--l2-block'],
  ['fromBlock', '--from-block'],
  ['toBlock', '--to-block'],
  ['message', '--message'],
  ['call', '--call'],
  ['environment', '--environment'],
  ['forward', '--forward'],
  ['maxGas', '--gas'],
] as const

/** The option that gives the argument at this path; otherwise the path itself. */
const optionAt = (path: string): string =>
  OPTIONS.find(([name]) => path === name || ['.', '['].some(next => path.startsWith(name + next)))?.[1] ?? path

/** What the library says about a wrong value. @param where what holds the value. Default: the option, by its path */
export function argumentRefused({ path, expected, found }: ArgumentError, where = optionAt(path)): UsageError {
  const reason = [expected && `expected ${expected}`, found && (expected ? `found ${found}` : found)]
    .filter(Boolean)
    .join(', ')
  return new UsageError(where === '' ? reason : `${where}: ${reason}`)
}

/** Turns what `work` throws, now or later, into a UsageError that says `what` failed and why, unless it is one. */
export function orUsageError<T>(what: string, work: () => T): T {
  const refuse = (error: unknown): never => {
    if (error instanceof UsageError) throw error
    const [, words] = /^[A-Z]+: ([^,]*), [a-z]+(?: '.*')?$/s.exec(messageOf(error)) ?? []
    // Node repeats the path. How to use the command has nothing to do with it.
    throw new UsageError(`${what}: ${words ?? messageOf(error)}`, words === undefined)
  }
  try {
    const result = work()
    // A promise of the same.
    return result instanceof Promise ? (result.catch(refuse) as T) : result
  } catch (error) {
    return refuse(error)
  }
}

export const briefMessage = (error: unknown): string =>
  printable(removeUrls(messageOf(error).slice(0, MAX_MESSAGE_LENGTH)))

/** The code of an error from Node, such as `EPIPE`. */
export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error ? String(error.code) : undefined

/** Why what was written to standard output is lost: nobody knows what it would have said. How to use the command does not help. */
export const outputLost = (error: unknown) => new UsageError(`cannot write standard output: ${messageOf(error)}`, false)

/** Waits until the reader, or the disk, has all that was written. A reader that closes the pipe early wants no more. @throws UsageError */
export async function requireWritten(stream: Output): Promise<void> {
  const failure = await new Promise<unknown>(resolve => stream.write('', error => resolve(error)))
  const error: unknown = Reflect.get(stream, 'errored') ?? failure
  if (error != null && codeOf(error) !== 'EPIPE') throw outputLost(error)
}

/** Makes the handler of a server's failure to listen. @param option the option that chooses the port */
export const cannotListen = (option: string) => (error: unknown) => {
  const hint = codeOf(error) === 'EADDRINUSE' ? `; choose another port with ${option}` : ''
  throw new UsageError(`cannot listen: ${messageOf(error)}${hint}`)
}

/** Suggests the name of which `text` may be a misspelling, as a sentence after a space; empty if there is none. */
export function didYouMean(text: string, names: Iterable<string>): string {
  if (text.length > MAX_NAME_LENGTH) return ''
  let [closest, least] = ['', Number.POSITIVE_INFINITY]
  for (const name of names) {
    const distance = editDistance(text.toLowerCase(), name)
    if (distance < least) [closest, least] = [name, distance]
  }
  const stem = closest.replace(/^-+/, '')
  // Two changes leave nothing of a short name.
  return least <= (stem.length < 4 ? 1 : 2) ? ` Did you mean ${closest}?` : ''
}

/** How many letters to insert, delete or replace. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (const [index, letter] of [...from].entries()) {
    const next = [index + 1]
    for (const [column, above] of row.slice(1).entries())
      next.push(Math.min((next[column] ?? 0) + 1, above + 1, (row[column] ?? 0) + Number(letter !== to[column])))
    row = next
  }
  return row[to.length] ?? 0
}
