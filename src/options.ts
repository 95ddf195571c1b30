import { invalid, isArray, readKeys } from './arguments.ts'
import type { Hex } from './bytes.ts'
import { ArgumentError, atPath, printable } from './errors.ts'

/** Objects that callers pass, and checks of what `verifyProof` does not take. */

/**
 * Copies the own fields of an object from the caller. An unknown name is refused, because a mistake would go unnoticed: with
 * `storagekeys`, no storage key would be requested.
 *
 * @param what the name of the object; empty for the argument itself
 * @throws ArgumentError
 */
export function readOptions<T extends object>(what: string, options: T, names: readonly string[]): T {
  const own = atPath(what, () => copyPlain(options))
  const unknown = Object.keys(own).find(name => !names.includes(name))
  if (unknown === undefined) return own
  const meant = names.find(name => name.toLowerCase() === unknown.toLowerCase())
  const expected = meant ?? `no field but ${names.join(', ')}`
  throw new ArgumentError({ path: fieldOf(what, printable(unknown)), expected, found: 'an unknown field' })
}

/** Inherits from nothing. What inherits from it is faster than what has no prototype. */
const NOTHING = /* @__PURE__ */ Object.freeze(/* @__PURE__ */ Object.create(null))

/**
 * Without a prototype, so that nothing comes from a polluted Object.prototype. What a class or `Object.create` lends to the
 * object, or what is hidden in it, would be ignored as a misspelt field would be: such an object is refused.
 */
function copyPlain<T extends object>(options: T): T {
  if (typeof options !== 'object' || options === null || isArray(options)) throw invalid('', 'an object', options)
  try {
    const above = Reflect.getPrototypeOf(options)
    const isPlain = above === null || Reflect.getPrototypeOf(above) === null
    const copy: T = Object.assign(Object.create(NOTHING), options)
    if (isPlain && Object.getOwnPropertyNames(options).length === Object.keys(copy).length) return copy
  } catch {
    // A getter or a proxy can throw anything.
  }
  throw new ArgumentError({ expected: 'a plain object', found: 'one that inherits, hides or refuses fields' })
}

/** The path of a field of the object `what`. */
export const fieldOf = (what: string, name: string): string => (what === '' ? name : `${what}.${name}`)

/** {@link readKeys} as bytes only. */
export const decodeKeys = (storageKeys: readonly Hex[], name?: string): Uint8Array[] =>
  readKeys(storageKeys, name).map(({ bytes }) => bytes)

/** @throws ArgumentError unless it is a bigint of at most `bits` bits */
export function verifyUint(path: string, value: unknown, bits: number): bigint {
  if (typeof value === 'bigint' && value >= 0n && value < 1n << BigInt(bits)) return value
  throw invalid(path, `a bigint from 0 to 2^${bits} - 1`, value)
}

/** @throws ArgumentError unless it is a whole number from `min` to `max` */
export function verifyWhole(what: string, value: number, min: number, max = Number.MAX_SAFE_INTEGER): number {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return value
  const range = max === Number.MAX_SAFE_INTEGER ? `from ${min}` : `from ${min} to ${max}`
  throw invalid(what, `a whole number ${range}`, value)
}

export function verifyFunction(what: string, value: unknown): void {
  if (value !== undefined && typeof value !== 'function') throw invalid(what, 'a function', value)
}
