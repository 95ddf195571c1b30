import { type Hex, hexLength, hexToBytes } from '../bytes.ts'
import { excerpt } from '../errors.ts'
import type { Scheme } from '../scheme/scheme.ts'
import { WorldError } from './error.ts'

/*
 * Callers may be untyped JavaScript, so every argument is validated here, whatever its type says. Every function throws
 * WorldError `ARGUMENT_INVALID`.
 */

export function verifyScheme(scheme: Scheme): Scheme {
  const given: unknown = scheme
  const isScheme =
    typeof given === 'object' &&
    given !== null &&
    ['mimc', 'poseidon2'].includes(Reflect.get(given, 'name')) &&
    typeof Reflect.get(given, 'hasher') === 'object'
  if (!isScheme) throw invalid('scheme', 'mimc or poseidon2 of this package', scheme)
  return scheme
}

export const decodeAddress = (address: Hex): Uint8Array => decodeHex('address', address, 20)
export const decodeWord = (name: string, word: Hex): Uint8Array => decodeHex(name, word, 32)

/** Of any length. */
export const decodeBytes = (name: string, hex: Hex): Uint8Array => decodeHex(name, hex)

function decodeHex(name: string, hex: Hex, length?: number): Uint8Array {
  try {
    if (typeof hex === 'string') return hexToBytes(hex, length ?? hexLength(hex))
  } catch {
    // The codes of hexToBytes describe an answer, not a caller's argument.
  }
  throw invalid(name, `0x-prefixed hexadecimal${length === undefined ? '' : ` of ${length} bytes`}`, hex)
}

export function decodeKeys(storageKeys: readonly Hex[]): Uint8Array[] {
  if (!Array.isArray(storageKeys)) throw invalid('storageKeys', 'an array', storageKeys)
  // Array.from, unlike map, visits holes.
  return Array.from(storageKeys, (key, index) => decodeWord(`storageKeys[${index}]`, key))
}

/** @throws WorldError also `OUT_OF_RANGE` */
export function requireBigint(name: string, value: bigint, bits: bigint): bigint {
  if (typeof value !== 'bigint') throw invalid(name, 'a bigint', value)
  if (value < 0n || value >= 1n << bits) throw new WorldError('OUT_OF_RANGE', `${name} must be from 0 to 2^${bits} - 1`)
  return value
}

export function requireInteger(name: string, value: number): number {
  if (!Number.isSafeInteger(value)) throw invalid(name, 'an integer', value)
  return value
}

/**
 * The fields of an options object, own properties only. A name outside `names` is refused: a misspelt option must not
 * go unnoticed.
 */
export function ownFields<T extends object>(name: string, options: T, names: readonly (keyof T & string)[]): T {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw invalid(name, 'an object', options)
  }
  const unknown = Object.keys(options).find(key => !names.some(known => known === key))
  if (unknown !== undefined) {
    const found = `unknown field ${excerpt(unknown)}; known are ${names.join(', ')}`
    throw new WorldError('ARGUMENT_INVALID', `${name}: ${found}`)
  }
  // No prototype, because values on a polluted Object.prototype do not come from the caller.
  return Object.assign(Object.create(null), options)
}

const invalid = (name: string, expected: string, found: unknown): WorldError =>
  new WorldError('ARGUMENT_INVALID', `${name}: expected ${expected}, found ${describe(found)}`)

/** Never converts an object to a string, because that can throw. */
function describe(value: unknown): string {
  if (typeof value === 'string') return `the string ${excerpt(value)}`
  if (typeof value === 'number' || typeof value === 'bigint') return `the ${typeof value} ${excerpt(String(value))}`
  if (value === null || typeof value === 'undefined' || typeof value === 'boolean') return String(value)
  return Array.isArray(value) ? 'an array' : `a value of type ${typeof value}`
}
