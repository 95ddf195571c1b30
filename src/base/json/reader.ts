import { hexToBytes } from '../bytes.ts'
import { atPath, type FailureCode, failure, isPromise, kindOf } from '../errors.ts'

/** Decodes a property. An error has its name in front of its path. */
export type FieldReader<Name extends string = string> = <T>(name: Name, decode: (value: unknown) => T) => T

/** Reads one kind of untrusted JSON document, and refuses a value of the wrong shape with that kind's error code. */
export type JsonReader = ReturnType<typeof readerOf>

/**
 * Makes a reader that is safe even if the document does not come from `JSON.parse`: it reads only own properties, each once,
 * and throws only a ProofError, or an ArgumentError if `code` is that of arguments.
 *
 * @param code the error code for a value that has the wrong shape or cannot be read
 */
export function readerOf(code: FailureCode) {
  const unreadable = () => failure(code, { found: 'an object that cannot be read' })
  /** `Array.isArray` throws on a revoked proxy. */
  const isArray = (value: unknown): value is readonly unknown[] => {
    try {
      return Array.isArray(value)
    } catch {
      throw unreadable()
    }
  }
  /** Inherited properties count as missing. A getter or a proxy can throw anything. */
  const own = (source: object, name: PropertyKey): unknown => {
    try {
      return Object.hasOwn(source, name) ? Reflect.get(source, name) : undefined
    } catch {
      throw unreadable()
    }
  }
  const malformed = (expected: string, value: unknown) =>
    failure(code, { expected, found: isArray(value) ? 'an array' : kindOf(value) })
  const string = (value: unknown): string => {
    if (typeof value !== 'string') throw malformed('a string', value)
    return value
  }
  /** The named properties of an object. Null becomes undefined: some serializers write it for a missing field. */
  function fields<Name extends string>(value: unknown, names: readonly Name[]): Partial<Record<Name, unknown>> {
    if (!value || typeof value !== 'object' || isArray(value) || isPromise(value)) throw malformed('an object', value)
    // No prototype, so that a polluted Object.prototype cannot supply a field.
    const fields: Partial<Record<Name, unknown>> = Object.create(null)
    for (const name of names) fields[name] = own(value, name) ?? undefined
    return fields
  }
  return {
    isArray,
    string,
    number(value: unknown): number {
      if (typeof value !== 'number') throw malformed('a number', value)
      return value
    },
    /** A decoder of hexadecimal of exactly `length` bytes. Throws `BAD_HEX` or `WRONG_LENGTH`. */
    bytesOf(length: number) {
      return (value: unknown): Uint8Array => hexToBytes(string(value), length)
    },
    fields,
    /** The same, decoded one by one. For a missing property, a decoder gets undefined: `optional` in decoders.ts allows that. */
    fieldsOf<Name extends string>(source: unknown, names: readonly Name[]): FieldReader<Name> {
      const read = fields(source, names)
      return (name, decode) => atPath(name, () => decode(read[name]))
    },
    /**
     * The items of an array. Each is decoded before the next is read, so a huge array of garbage fails at its first item.
     * `verifyCount` gets the length before any item is read. A proxy can report anything as its length, so that is checked first.
     */
    items<T>(source: unknown, verifyCount: (count: number) => void, decode: (item: unknown) => T): T[] {
      if (!isArray(source)) throw malformed('an array', source)
      const count = own(source, 'length')
      if (typeof count !== 'number' || !Number.isSafeInteger(count) || count < 0) throw malformed('a length', count)
      verifyCount(count)
      const items: T[] = []
      const segment = () => `[${items.length}]`
      atPath(segment, () => {
        while (items.length < count) items.push(decode(own(source, items.length)))
      })
      return items
    },
  }
}
