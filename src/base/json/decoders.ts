import { bytesToHex, hexLength, hexToBytes, isHex } from '../bytes.ts'
import { type FailureCode, failure, plural } from '../errors.ts'
import { lowerCase } from '../hex.ts'
import type { JsonReader } from './reader.ts'

/** A field that may be missing. */
export const optional =
  <T, V>(decode: (value: V) => T) =>
  (value: V | undefined): T | undefined =>
    value === undefined ? undefined : decode(value)

/** A field that is decoded later. */
export const unread = (value: unknown): unknown => value

/** Hexadecimal of exactly `length` bytes, in lower case. Throws `BAD_HEX`, `WRONG_LENGTH`. */
export const hexOf = (reader: JsonReader, length: number) => (value: unknown) =>
  isHex(value, length) ? lowerCase(value) : bytesToHex(reader.bytesOf(length)(value))

/** Hexadecimal of at most `limit` bytes: the length is checked before anything is decoded. Throws `BAD_HEX`, and `code`. */
export const bytesUpTo =
  (reader: JsonReader, limit: number, code: FailureCode = 'WRONG_LENGTH') =>
  (value: unknown): Uint8Array => {
    const hex = reader.string(value)
    const length = hexLength(hex)
    if (length > limit) throw failure(code, { expected: `at most ${limit} bytes`, found: plural(length, 'byte') })
    return hexToBytes(hex, length)
  }

/** A bound on the items of an array. A proxy can report any length. */
export const atMost =
  (code: FailureCode, limit: number, items = '') =>
  (count: number) => {
    if (!(count <= limit)) throw failure(code, { expected: `at most ${limit}${items}`, found: `${count}` })
  }
