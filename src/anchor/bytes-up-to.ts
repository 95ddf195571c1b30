import { hexLength, hexToBytes } from '../bytes.ts'
import { refusal } from '../errors.ts'
import type { JsonReader } from '../json/reader.ts'

/** Hexadecimal of at most `limit` bytes: the length is checked before anything is decoded. Throws `BAD_HEX`, `WRONG_LENGTH`. */
export function bytesUpTo(reader: JsonReader, value: unknown, limit: number): Uint8Array {
  const hex = reader.string(value)
  const length = hexLength(hex)
  if (length > limit) throw refusal('WRONG_LENGTH', `at most ${limit} bytes`, `${length} bytes`)
  return hexToBytes(hex, length)
}
