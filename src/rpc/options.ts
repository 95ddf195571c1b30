import { excerpt } from '../errors.ts'
import { RpcError } from './error.ts'
import { MAX_TIMEOUT } from './limits.ts'

/**
 * Copies the own fields of an object from the caller. An unknown name is refused, because the mistake would go unnoticed: with
 * `storagekeys`, no storage key would be requested.
 *
 * @param what name of the object, for people
 * @throws RpcError `ARGUMENT_INVALID`
 */
export function readOptions<T extends object>(what: string, options: T, names: readonly string[]): T {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw argumentInvalid(what, 'an object', options)
  }
  for (const name of Object.keys(options)) {
    if (names.includes(name)) continue
    const meant = names.find(known => known.toLowerCase() === name.toLowerCase())
    const hint = meant === undefined ? `known are ${names.join(', ')}` : `did you mean ${meant}?`
    throw new RpcError('ARGUMENT_INVALID', { found: `${what} has no field ${excerpt(name)}: ${hint}` })
  }
  // Without a prototype, so that nothing comes from a polluted Object.prototype.
  return Object.assign(Object.create(null), options)
}

/** Names the kind of the argument. Of values, it shows only numbers, because others may contain a key. */
export function argumentInvalid(what: string, expected: string, found: unknown): RpcError {
  const kind =
    found === null ? 'null' : Array.isArray(found) ? 'an array' : found === undefined ? 'nothing' : `a ${typeof found}`
  const came = typeof found === 'number' ? `the number ${found}` : kind.replace(/^a (?=[aeiou])/, 'an ')
  return new RpcError('ARGUMENT_INVALID', { found: `${what}: expected ${expected}, got ${came}` })
}

/** @throws RpcError `ARGUMENT_INVALID` unless it is a whole number from `min` to `max` */
export function verifyWhole(what: string, value: number, min: number, max = Number.MAX_SAFE_INTEGER): number {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return value
  const range = max === Number.MAX_SAFE_INTEGER ? `from ${min}` : `from ${min} to ${max}`
  throw argumentInvalid(what, `a whole number ${range}`, value)
}

export const verifyTimeout = (timeout: number): number => verifyWhole('timeout', timeout, 1, MAX_TIMEOUT)

export function verifyFunction(what: string, value: unknown): void {
  if (value !== undefined && typeof value !== 'function') throw argumentInvalid(what, 'a function', value)
}

export function verifySignal(signal: AbortSignal | undefined): void {
  if (signal !== undefined && !(signal instanceof AbortSignal))
    throw argumentInvalid('signal', 'an AbortSignal', signal)
}
