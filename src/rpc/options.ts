import { excerpt } from '../errors.ts'
import { RpcError } from './error.ts'

/**
 * The own fields of an object that the caller made. A field of another name is a mistake that would go unseen otherwise:
 * with `storagekeys` no storage key would be asked for.
 *
 * @param what the object, for people
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
  // Without a prototype: what a polluted Object.prototype has is none of the caller's.
  return Object.assign(Object.create(null), options)
}

/** Says of what kind the argument was, and not what it was: it may hold a key. */
export function argumentInvalid(what: string, expected: string, found: unknown): RpcError {
  const kind =
    found === null ? 'null' : Array.isArray(found) ? 'an array' : found === undefined ? 'nothing' : `a ${typeof found}`
  const came = typeof found === 'number' ? `the number ${found}` : kind.replace(/^a (?=[aeiou])/, 'an ')
  return new RpcError('ARGUMENT_INVALID', { found: `${what}: expected ${expected}, got ${came}` })
}

/** @throws RpcError `ARGUMENT_INVALID` when it is not a whole number from `min` to `max` */
export function verifyWhole(what: string, value: number, min: number, max = Number.MAX_SAFE_INTEGER): number {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return value
  const range = max === Number.MAX_SAFE_INTEGER ? `from ${min}` : `from ${min} to ${max}`
  throw argumentInvalid(what, `a whole number ${range}`, value)
}

export function verifyFunction(what: string, value: unknown): void {
  if (value !== undefined && typeof value !== 'function') throw argumentInvalid(what, 'a function', value)
}

export function verifySignal(signal: AbortSignal | undefined): void {
  if (signal !== undefined && !(signal instanceof AbortSignal))
    throw argumentInvalid('signal', 'an AbortSignal', signal)
}
