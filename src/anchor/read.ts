import { hexLength, hexToBytes } from '../bytes.ts'
import { atPath, type ErrorCode, ProofError } from '../errors.ts'
import { asArray, asString, lengthOf, readFields, readOwn } from '../proof/read.ts'

/** Reads one kind of document that a stranger sent; what does not have its shape is refused with the kind's own code. */
export interface Reader {
  /** The named own properties of an object, each read once; missing and null are both undefined. */
  fields<Name extends string>(source: unknown, names: readonly Name[]): Partial<Record<Name, unknown>>
  /**
   * The items of an array, each read once and decoded before the next is read, so that a huge array of nothing ends at its
   * first item. `verifyCount` sees how many there are before any is read.
   */
  items<T>(source: unknown, verifyCount: (count: number) => void, decode: (item: unknown) => T): T[]
  string(value: unknown): string
  /** Hexadecimal of exactly `length` bytes. Throws `BAD_HEX` or `WRONG_LENGTH`. */
  bytes(value: unknown, length: number): Uint8Array
  /** Hexadecimal of at most `limit` bytes, which is seen to before anything is decoded. */
  bytesUpTo(value: unknown, limit: number): Uint8Array
}

export function readerOf(code: ErrorCode): Reader {
  const string = (value: unknown): string => asString(value, code)
  return {
    fields<Name extends string>(source: unknown, names: readonly Name[]) {
      const values = readFields(source, names, code)
      // Without a prototype: what is missing must not turn up on a polluted Object.prototype.
      const fields: Partial<Record<Name, unknown>> = Object.create(null)
      for (const [index, name] of names.entries()) fields[name] = values[index] ?? undefined
      return fields
    },
    items<T>(source: unknown, verifyCount: (count: number) => void, decode: (item: unknown) => T) {
      const array = asArray(source, code)
      const count = lengthOf(array, code)
      verifyCount(count)
      const items: T[] = []
      for (let index = 0; index < count; index++) {
        items.push(atPath(`[${index}]`, () => decode(readOwn(array, index, code))))
      }
      return items
    },
    string,
    bytes: (value, length) => hexToBytes(string(value), length),
    bytesUpTo(value, limit) {
      const hex = string(value)
      const length = hexLength(hex)
      if (length > limit) {
        throw new ProofError('WRONG_LENGTH', { expected: `at most ${limit} bytes`, found: `${length} bytes` })
      }
      return hexToBytes(hex, length)
    },
  }
}
