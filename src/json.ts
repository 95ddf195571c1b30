import { hexToBytes } from './bytes.ts'
import { atPath, type ErrorCode, ProofError } from './errors.ts'

/** Reads one kind of untrusted JSON document. A value of the wrong shape is refused with that kind's own code. */
export type JsonReader = ReturnType<typeof readerOf>

/**
 * Reads own properties only, each once, and throws nothing but a ProofError: the document need not come from `JSON.parse`.
 *
 * @param code the error code for a value that has another shape or cannot be read
 */
export function readerOf(code: ErrorCode) {
  const unreadable = () => new ProofError(code, { found: 'an object that cannot be read' })
  /** Even this can throw: on a revoked proxy. */
  const isArray = (value: unknown): value is readonly unknown[] => {
    try {
      return Array.isArray(value)
    } catch {
      throw unreadable()
    }
  }
  /** What is inherited counts as missing. A getter or a proxy can throw anything. */
  const own = (source: object, name: PropertyKey): unknown => {
    try {
      // An object may have anything under this name: the cast claims no more.
      return Object.hasOwn(source, name) ? (source as Record<PropertyKey, unknown>)[name] : undefined
    } catch {
      throw unreadable()
    }
  }
  const malformed = (expected: string, value: unknown) =>
    new ProofError(code, { expected, found: isArray(value) ? 'an array' : kindOf(value) })
  const string = (value: unknown): string => {
    if (typeof value !== 'string') throw malformed('a string', value)
    return value
  }
  return {
    isArray,
    string,
    number(value: unknown): number {
      if (typeof value !== 'number') throw malformed('a number', value)
      return value
    },
    /** Hexadecimal of exactly `length` bytes. Throws `BAD_HEX` or `WRONG_LENGTH`. */
    bytes: (value: unknown, length: number): Uint8Array => hexToBytes(string(value), length),
    /** The named properties of an object. Some serializers write null for a missing field: both are undefined. */
    fields<Name extends string>(source: unknown, names: readonly Name[]): Partial<Record<Name, unknown>> {
      if (typeof source !== 'object' || source === null || isArray(source)) throw malformed('an object', source)
      // Without a prototype: what is missing must not turn up on a polluted Object.prototype.
      const fields: Partial<Record<Name, unknown>> = Object.create(null)
      for (const name of names) fields[name] = own(source, name) ?? undefined
      return fields
    },
    /**
     * The items of an array. Each is decoded before the next is read, so a huge array of rubbish ends at its first item.
     * `verifyCount` gets the length before any item is read; a proxy can report any length.
     */
    items<T>(source: unknown, verifyCount: (count: number) => void, decode: (item: unknown) => T): T[] {
      if (!isArray(source)) throw malformed('an array', source)
      const count = own(source, 'length')
      if (typeof count !== 'number') throw malformed('an array', count)
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

/** Names the kind of a value for people, without its content. */
export const kindOf = (value: unknown): string =>
  value === undefined || value === null ? 'nothing' : typeof value === 'object' ? 'an object' : `a ${typeof value}`
