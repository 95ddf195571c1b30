import { type Hex, hexToBytes, isHex } from './bytes.ts'
import { ArgumentError, printable } from './errors.ts'

/** What callers pass. They may be untyped JavaScript, so every argument is validated, whatever its type says. */

/**
 * Copies the own fields of an object from the caller. An unknown name is refused, because a mistake would go unnoticed: with
 * `storagekeys`, no storage key would be requested.
 *
 * @param what the name of the object; empty for the argument itself
 * @throws ArgumentError
 */
export function readOptions<T extends object>(what: string, options: T, names: readonly string[]): T {
  const own = copyOwn(what, options)
  const hidden = readOr(what, 'an object', () => findHidden(options, own, names))
  if (hidden !== undefined) {
    throw new ArgumentError({
      path: fieldOf(what, hidden),
      expected: 'a field of its own',
      found: 'one that it inherits or hides',
    })
  }
  const unknown = Object.keys(own).find(name => !names.includes(name))
  if (unknown === undefined) return own
  const meant = names.find(name => name.toLowerCase() === unknown.toLowerCase())
  const expected = meant ?? `no field but ${names.join(', ')}`
  throw new ArgumentError({ path: fieldOf(what, printable(unknown)), expected, found: 'an unknown field' })
}

/**
 * A name that the caller's object has without being copied: of its class, of what `Object.create` was given, or not
 * enumerable. It would be ignored as a misspelt one would be. What everything inherits from may be polluted, and never counts.
 */
function findHidden(options: object, own: object, names: readonly string[]): string | undefined {
  for (let holder: object | null = options; holder !== null; ) {
    const above: object | null = Reflect.getPrototypeOf(holder)
    if (above === null && holder !== options) return undefined
    const held = holder
    const hidden = names.find(name => Object.hasOwn(held, name) && !Object.hasOwn(own, name))
    if (hidden !== undefined) return hidden
    holder = above
  }
  return undefined
}

/** Without a prototype, so that nothing comes from a polluted Object.prototype. */
function copyOwn<T extends object>(what: string, options: T): T {
  const isObject = options && typeof options === 'object' && !isArray(options)
  if (!isObject) throw invalid(what, 'an object', options)
  return readOr(what, 'an object', () => ({ __proto__: null, ...options }))
}

/** A getter or a proxy can throw anything. @throws ArgumentError instead */
function readOr<T>(path: string, expected: string, read: () => T): T {
  try {
    return read()
  } catch {
    throw new ArgumentError({ path, expected, found: 'what cannot be read' })
  }
}

/** `Array.isArray` throws for a revoked proxy. */
export function isArray(value: unknown): value is readonly unknown[] {
  try {
    return Array.isArray(value)
  } catch {
    return false
  }
}

/**
 * What an array from the caller holds. Each item is read once, at its index, and decoded before the next is read. A hole is
 * undefined.
 *
 * @throws ArgumentError
 */
export function readItems<T, U>(
  name: string,
  items: readonly T[],
  decode: (item: T, index: number) => U,
  expected = 'an array',
): U[] {
  if (!isArray(items)) throw invalid(name, expected, items)
  const decoded: U[] = []
  const next = () => items[decoded.length] as T
  while (decoded.length < readOr(name, expected, () => items.length)) {
    decoded.push(decode(readOr(name, expected, next), decoded.length))
  }
  return decoded
}

/** The path of a field of the object `what`. */
export const fieldOf = (what: string, name: string): string => (what === '' ? name : `${what}.${name}`)

/** @throws ArgumentError if the argument is not hexadecimal of `length` bytes; of any length if none is given */
export function decodeArgument(name: string, value: unknown, length?: number): Uint8Array {
  if (isHex(value, length)) return hexToBytes(value, value.length / 2 - 1)
  throw invalid(name, `0x-prefixed hexadecimal${length === undefined ? '' : ` of ${length} bytes`}`, value)
}

/** A storage key that the caller asks for. */
export interface StorageKey {
  readonly bytes: Uint8Array
  /** As the caller wrote it. */
  readonly text: Hex
}

/** The storage keys that the caller asks for. @throws ArgumentError if it is not an array of 32-byte keys */
export const readKeys = (storageKeys: readonly Hex[], name = 'storageKeys'): StorageKey[] =>
  readItems(name, storageKeys, (text, index) => ({ bytes: decodeArgument(`${name}[${index}]`, text, 32), text }))

/** {@link readKeys} as bytes only. */
export const decodeKeys = (storageKeys: readonly Hex[], name?: string): Uint8Array[] =>
  readKeys(storageKeys, name).map(({ bytes }) => bytes)

/** Describes an argument by kind and length. Only numbers are shown: a secret may have been passed by mistake. */
export const invalid = (path: string, expected: string, value: unknown): ArgumentError =>
  new ArgumentError({ path, expected, found: describe(value) })

function describe(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'bigint') return `the ${typeof value} ${`${value}`.slice(0, 80)}`
  if (typeof value !== 'string') return isArray(value) ? 'an array' : kindOf(value)
  return isHex(value) ? `${value.length / 2 - 1} bytes` : `a string of ${value.length} characters`
}

/** Names the kind of a value for error messages, without its content. */
export const kindOf = (value: unknown): string =>
  value === undefined || value === null ? 'nothing' : typeof value === 'object' ? 'an object' : `a ${typeof value}`
