import { hexLength, hexToBytes } from '../bytes.ts'
import { type ErrorCode, ProofError, within } from '../errors.ts'

/** Reads one kind of document that a stranger sent; what does not have its shape is refused with the kind's own code. */
export interface Reader {
  /** Runs `read`: getters and proxies can throw anything, and only a ProofError may leave. */
  guard<T>(read: () => T): T
  /** The named own properties of an object, each read once; inherited, null and missing are all undefined. */
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
  const malformed = (expected: string, value: unknown) =>
    new ProofError(code, { expected, found: value === null ? 'null' : typeof value })
  const string = (value: unknown): string => {
    if (typeof value !== 'string') throw malformed('a string', value)
    return value
  }
  return {
    guard(read) {
      try {
        return read()
      } catch (error) {
        if (error instanceof ProofError) throw error
        throw new ProofError(code, { found: 'an object that cannot be read' })
      }
    },
    fields<Name extends string>(source: unknown, names: readonly Name[]) {
      if (typeof source !== 'object' || source === null) throw malformed('an object', source)
      if (Array.isArray(source)) throw new ProofError(code, { expected: 'an object', found: 'an array' })
      // Without a prototype, as in `proof/read.ts`: what is missing must not turn up on a polluted Object.prototype.
      const fields: Partial<Record<Name, unknown>> = Object.create(null)
      for (const name of names) {
        if (Object.hasOwn(source, name)) fields[name] = Reflect.get(source, name) ?? undefined
      }
      return fields
    },
    items<T>(source: unknown, verifyCount: (count: number) => void, decode: (item: unknown) => T) {
      if (!Array.isArray(source)) throw malformed('an array', source)
      const count = source.length
      verifyCount(count)
      const items: T[] = []
      for (let index = 0; index < count; index++) items.push(within(`[${index}]`, () => decode(source[index])))
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
