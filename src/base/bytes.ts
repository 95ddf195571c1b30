import { excerpt, plural, refusal } from './errors.ts'

/** A `0x`-prefixed hexadecimal string, two digits per byte. */
export type Hex = `0x${string}`

const NOT_A_DIGIT = 0xff

/** ASCII code -> digit value, or NOT_A_DIGIT; both cases of a to f. */
const DIGIT_VALUES = /* @__PURE__ */ Uint8Array.from({ length: 256 }, (_, code) => {
  const digit = '0123456789abcdef'.indexOf(String.fromCharCode(code).toLowerCase())
  return digit < 0 ? NOT_A_DIGIT : digit
})

const BYTE_TEXTS = /* @__PURE__ */ Array.from(DIGIT_VALUES, (_, byte) => byte.toString(16).padStart(2, '0'))

/** The byte at `index`, or zero past the end. */
export const byteAt = (bytes: Uint8Array, index: number): number => bytes[index] ?? 0

/** Big-endian. Without a `DataView`, because creating one makes the engine move the bytes of a short array. */
export const uint32At = (b: Uint8Array, i: number): number =>
  ((byteAt(b, i) << 24) | (byteAt(b, i + 1) << 16) | (byteAt(b, i + 2) << 8) | byteAt(b, i + 3)) >>> 0

/**
 * Whether a value is a `0x`-prefixed hexadecimal string, two digits per byte, in upper, lower or mixed case.
 *
 * @param value anything
 * @param length if given, the number of bytes that it must spell: 20 for an address, 32 for a hash, root, key or value
 * @returns false for anything else. It never throws
 *
 * @example
 * ```ts
 * import { isHex, slotKey } from 'rollup-state-proof'
 *
 * const typed: string = '0x00000000000000000000000000000000000000AA'
 * console.log(isHex(typed, 20), isHex(typed, 32), isHex(slotKey(0n), 32)) // true false true
 * ```
 */
export function isHex(value: unknown, length?: number | undefined): value is Hex {
  if (typeof value !== 'string' || value.length % 2 !== 0) return false
  // The length comes first, so a huge string costs nothing. Without a group, because the engine would remember each match.
  return (length === undefined || value.length === 2 + 2 * length) && /^0x[0-9a-fA-F]*$/.test(value)
}

export function hexLength(hex: string): number {
  if (!hex.startsWith('0x')) throw refusal('BAD_HEX', 'a 0x prefix', excerpt(hex))
  if (hex.length % 2 !== 0) throw refusal('BAD_HEX', 'two digits per byte', excerpt(hex))
  return hex.length / 2 - 1
}

/**
 * Throws `BAD_HEX`, or `WRONG_LENGTH` if `hex` does not spell exactly `length` bytes. The length is checked before the digits,
 * so a huge string costs nothing.
 */
export function hexToBytes(hex: string, length: number): Uint8Array {
  knownLength(hex, [length])
  const bytes = new Uint8Array(length)
  let seen = 0
  for (let index = 0; index < length; index++) {
    const high = digitAt(hex, 2 * index + 2)
    const low = digitAt(hex, 2 * index + 3)
    seen |= high | low
    bytes[index] = (high << 4) | low
  }
  if (seen > 15) throw refusal('BAD_HEX', 'hexadecimal digits', excerpt(hex))
  return bytes
}

/** The length in bytes of `hex`. Throws `BAD_HEX`, or `WRONG_LENGTH` if it is not one of `lengths`. */
export function knownLength(hex: string, lengths: readonly number[]): number {
  const length = hexLength(hex)
  if (!lengths.includes(length)) throw refusal('WRONG_LENGTH', `${lengths.join(' or ')} bytes`, plural(length, 'byte'))
  return length
}

const digitAt = (hex: string, index: number): number => DIGIT_VALUES[hex.charCodeAt(index)] ?? NOT_A_DIGIT

/** Lower-case, `0x`-prefixed. */
export function bytesToHex(bytes: Uint8Array): Hex {
  let hex: Hex = '0x'
  for (let index = 0; index < bytes.length; index++) hex = `${hex}${BYTE_TEXTS[byteAt(bytes, index)]}`
  // Reading one character makes the engine join the pieces, which would take thirty times the memory.
  hex.charCodeAt(0)
  return hex
}

/** Big-endian. */
export function bytesToBigint(bytes: Uint8Array): bigint {
  // Most numbers are small, and parsing fewer digits is faster.
  let start = 0
  while (start < bytes.length && byteAt(bytes, start) === 0) start++
  return start === bytes.length ? 0n : BigInt(bytesToHex(bytes.subarray(start)))
}

/** Big-endian, left-padded with zeros to `length` bytes. The caller ensures that 0 <= value < 256^length. */
export const bigintToBytes = (value: bigint, length: number): Uint8Array =>
  hexToBytes(`0x${value.toString(16).padStart(length * 2, '0')}`, length)

/** Negative if `a` sorts before `b`, zero if they are equal, positive otherwise. Both must have the same length. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  for (let index = 0; index < a.length; index++) {
    const difference = byteAt(a, index) - byteAt(b, index)
    if (difference !== 0) return difference
  }
  return 0
}

export const equalBytes = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && compareBytes(a, b) === 0

export function isZero(bytes: Uint8Array): boolean {
  for (let index = 0; index < bytes.length; index++) if (byteAt(bytes, index) !== 0) return false
  return true
}

export function concatBytes(...parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let offset = 0
  for (const part of parts) {
    joined.set(part, offset)
    offset += part.length
  }
  return joined
}
