import { decodeArgument, invalid, isArray, readKeys } from './arguments.ts'
import { bytesToHex, type Hex, isHex } from './bytes.ts'
import { ArgumentError, atPath, isPromise, printable } from './errors.ts'

/**
 * Copies the own fields of an object from the caller. An unknown name is refused, because a mistake would go unnoticed: with
 * `storagekeys`, no storage key would be requested.
 *
 * @param what the name of the object; empty for the argument itself
 * @param claims those without which less is claimed. Leaving one out says so; one that is undefined was looked up in vain
 * @throws ArgumentError
 */
export const readOptions = <T extends object>(
  what: string,
  options: T,
  names: readonly string[],
  claims: readonly (keyof T & string)[] = [],
): T =>
  atPath(what, () => {
    const own = copyPlain(options)
    const lost = claims.find(name => Object.hasOwn(own, name) && own[name] === undefined)
    if (lost !== undefined) throw invalid(lost, 'a value, or no such field', undefined)
    const unknown = Object.keys(own).find(name => !names.includes(name))
    if (unknown === undefined) return own
    const meant = names.find(name => name.toLowerCase() === unknown.toLowerCase())
    const expected = meant ?? `no field but ${names.join(', ')}`
    throw new ArgumentError({ path: printable(unknown), expected, found: 'an unknown field' })
  })

/** Inherits from nothing. What inherits from it is faster than what has no prototype. */
const NOTHING = /* @__PURE__ */ Object.freeze(/* @__PURE__ */ Object.create(null))

/**
 * Without a prototype, so that nothing comes from a polluted Object.prototype. What a class or `Object.create` lends to the
 * object, or what is hidden in it, would be ignored as a misspelt field would be: such an object is refused.
 */
function copyPlain<T extends object>(options: T): T {
  if (typeof options !== 'object' || options === null || isArray(options) || isPromise(options)) {
    throw invalid('', 'an object', options)
  }
  try {
    const copy: T = Object.assign(Object.create(NOTHING), options)
    if (isPlain(options) && Object.getOwnPropertyNames(options).length === Object.keys(copy).length) return copy
  } catch {
    // A getter or a proxy can throw anything.
  }
  throw new ArgumentError({ expected: 'a plain object', found: 'one that inherits, hides or refuses fields' })
}

/** Whether it is an object without a class, of any realm. */
export function isPlain(value: object): boolean {
  const prototype = Reflect.getPrototypeOf(value)
  return prototype === null || Reflect.getPrototypeOf(prototype) === null
}

/** Hexadecimal from the caller, in lower case. @throws ArgumentError unless it is of `length` bytes; of any length if none is given */
export const readHex = (name: string, value: unknown, length?: number): Hex =>
  isHex(value, length) ? `0x${value.slice(2).toLowerCase()}` : bytesToHex(decodeArgument(name, value, length))

export const decodeKeys = (storageKeys: readonly Hex[], name?: string): Uint8Array[] =>
  readKeys(storageKeys, name).map(({ bytes }) => bytes)

/** @throws ArgumentError unless it is a bigint from `least` on, of at most `bits` bits */
export function verifyUint(path: string, value: unknown, bits: number, least = 0n): bigint {
  if (typeof value === 'bigint' && value >= least && value < 1n << BigInt(bits)) return value
  throw invalid(path, `a bigint from ${least} to 2^${bits} - 1`, value)
}

/** @throws ArgumentError unless it is a whole number from `min` to `max` */
export function verifyWhole(what: string, value: number, min: number, max = Number.MAX_SAFE_INTEGER): number {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return value
  const range = max === Number.MAX_SAFE_INTEGER ? `from ${min}` : `from ${min} to ${max}`
  throw invalid(what, `a whole number ${range}`, value)
}

export function hasMethod(source: unknown, name: PropertyKey): boolean {
  const isObject = (typeof source === 'object' && source !== null) || typeof source === 'function'
  try {
    return isObject && typeof Reflect.get(source, name) === 'function'
  } catch {
    // A getter or a proxy can throw anything.
    return false
  }
}

export function verifyFunction(what: string, value: unknown): void {
  if (value !== undefined && typeof value !== 'function') throw invalid(what, 'a function', value)
}
