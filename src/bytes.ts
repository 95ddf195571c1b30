import { ProofError } from './errors.ts'

/** A `0x`-prefixed hexadecimal string, two digits a byte. */
export type Hex = `0x${string}`

const DIGITS = '0123456789abcdef'
const NOT_A_DIGIT = 0xff

/** Char code -> digit value, or NOT_A_DIGIT; both cases of a to f. */
const DIGIT_VALUES = /* @__PURE__ */ (() => {
  const values = new Uint8Array(128).fill(NOT_A_DIGIT)
  for (let digit = 0; digit < 16; digit++) {
    values[DIGITS.charCodeAt(digit)] = digit
    values[DIGITS.toUpperCase().charCodeAt(digit)] = digit
  }
  return values
})()

/** Cuts what a stranger sent down to what fits an error message. */
export function quote(text: string): string {
  const printable = text.slice(0, 80).replace(/[^\x20-\x7e]/g, '?')
  return text.length > 80 ? `"${printable}…" (${text.length} characters)` : `"${printable}"`
}

/** The number of bytes `hex` spells. Throws `BAD_HEX` without the `0x` prefix or with half a byte. */
export function hexLength(hex: string): number {
  if (!hex.startsWith('0x')) throw new ProofError('BAD_HEX', { expected: 'a 0x prefix', found: quote(hex) })
  if (hex.length % 2 !== 0) throw new ProofError('BAD_HEX', { expected: 'two digits a byte', found: quote(hex) })
  return hex.length / 2 - 1
}

/** Decodes `hex`, whose {@link hexLength} is known, into `target` at `offset`. Throws `BAD_HEX` on anything but digits. */
export function decodeHexInto(hex: string, target: Uint8Array, offset: number): void {
  for (let index = 2; index < hex.length; index += 2) {
    // Past the table (a char code above 127) the lookup is undefined. NOT_A_DIGIT has every bit set, so one is enough.
    const high = DIGIT_VALUES[hex.charCodeAt(index)] ?? NOT_A_DIGIT
    const low = DIGIT_VALUES[hex.charCodeAt(index + 1)] ?? NOT_A_DIGIT
    if ((high | low) === NOT_A_DIGIT) {
      throw new ProofError('BAD_HEX', { expected: 'hexadecimal digits', found: quote(hex.slice(index, index + 2)) })
    }
    target[offset++] = (high << 4) | low
  }
}

/**
 * Strict hex to bytes: `0x` prefix, an even number of digits of either case, nothing else.
 *
 * Throws `BAD_HEX`, or `WRONG_LENGTH` when it does not spell exactly `length` bytes. The length is checked before the
 * digits, so a huge string costs nothing.
 */
export function hexToBytes(hex: string, length: number): Uint8Array {
  const found = hexLength(hex)
  if (found !== length) throw new ProofError('WRONG_LENGTH', { expected: `${length} bytes`, found: `${found} bytes` })
  const bytes = new Uint8Array(length)
  decodeHexInto(hex, bytes, 0)
  return bytes
}

/** Lower-case, `0x`-prefixed. */
export function bytesToHex(bytes: Uint8Array): Hex {
  let hex: Hex = '0x'
  for (const byte of bytes) hex += DIGITS.charAt(byte >> 4) + DIGITS.charAt(byte & 15)
  return hex
}

/** The unsigned big-endian integer that `bytes` spell. */
export function bytesToBigint(bytes: Uint8Array): bigint {
  return bytes.length === 0 ? 0n : BigInt(bytesToHex(bytes))
}

/** Big-endian, left-padded with zeros to `length` bytes. The caller sees to it that 0 <= value < 256^length. */
export function bigintToBytes(value: bigint, length: number): Uint8Array {
  return hexToBytes(`0x${value.toString(16).padStart(length * 2, '0')}`, length)
}

/** Negative, zero or positive as `a` sorts before, with or after `b`: as unsigned big-endian strings of one length. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  for (const [index, byte] of a.entries()) {
    const difference = byte - (b[index] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && compareBytes(a, b) === 0
}

/** Whether every byte is zero. */
export function isZero(bytes: Uint8Array): boolean {
  return bytes.every(byte => byte === 0)
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
