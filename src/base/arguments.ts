import { type Hex, hexLength, hexToBytes, isHex } from './bytes.ts'
import { ArgumentError, atPath, describeLength, describeText, kindOf } from './errors.ts'
import { readerOf } from './json/reader.ts'

/** What callers pass. They may be untyped JavaScript, so every argument is validated, whatever its type says. */

const reader = /* @__PURE__ */ readerOf('ARGUMENT_INVALID')

const anyCount = () => {}

/** @throws ArgumentError for a revoked proxy */
export const isArray = (value: unknown): value is readonly unknown[] => reader.isArray(value)

/**
 * What an array from the caller holds. Each item is read once, and decoded before the next is read. A hole is undefined.
 *
 * @param decode may throw errors with paths inside the item
 * @throws ArgumentError
 */
export const readItems = <T, U>(name: string, items: readonly T[], decode: (item: T) => U): U[] =>
  // The caller's type says what an item is.
  atPath(name, () => reader.items(items, anyCount, item => decode(item as T)))

/** @throws ArgumentError if the argument is not hexadecimal of `length` bytes; of any length if none is given */
export function decodeArgument(name: string, value: unknown, length?: number): Uint8Array {
  try {
    if (typeof value === 'string') return hexToBytes(value, length ?? hexLength(value))
  } catch {
    // Reported below: the codes of hexToBytes describe the answer, not the caller's argument.
  }
  throw invalid(name, `0x-prefixed hexadecimal${length === undefined ? '' : ` of ${length} bytes`}`, value)
}

export interface StorageKey {
  readonly bytes: Uint8Array
  /** As the caller wrote it. */
  readonly text: Hex
}

/** The storage keys that the caller asks for. @throws ArgumentError if it is not an array of 32-byte keys */
export const readKeys = (storageKeys: readonly Hex[], name = 'storageKeys'): StorageKey[] =>
  readItems(name, storageKeys, text => ({ bytes: decodeArgument('', text, 32), text }))

/** Describes an argument by kind and length. Only numbers are shown: a secret may have been passed by mistake. */
export const invalid = (path: string, expected: string, value: unknown): ArgumentError =>
  new ArgumentError({ path, expected, found: describe(value) })

function describe(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'bigint') return `the ${typeof value} ${`${value}`.slice(0, 80)}`
  if (typeof value !== 'string') return isArray(value) ? 'an array' : kindOf(value)
  return isHex(value) ? describeLength(value.length / 2 - 1) : describeText(value)
}
