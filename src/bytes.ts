import { ProofError } from './errors.ts'

/** A `0x`-prefixed hexadecimal string, two digits a byte. */
export type Hex = `0x${string}`

const DIGITS = '0123456789abcdef'
const NOT_A_DIGIT = 0xff

/** ASCII code -> digit value, or NOT_A_DIGIT; both cases of a to f. */
const DIGIT_VALUES = /* @__PURE__ */ (() => {
  const values = new Uint8Array(256).fill(NOT_A_DIGIT)
  for (const [digit, character] of [...DIGITS].entries()) {
    values[character.charCodeAt(0)] = digit
    values[character.toUpperCase().charCodeAt(0)] = digit
  }
  return values
})()

const encoder = /* @__PURE__ */ new TextEncoder()

/** Where the text of one proof (6 KB) is put to be decoded: to allocate as much for each takes longer than to decode it. */
const SCRATCH = /* @__PURE__ */ new Uint8Array(2 ** 13)

/** The byte at `index`; past the end, zero. */
export const at = (bytes: Uint8Array, index: number): number => bytes[index] ?? 0

/** Exactly these bytes, to be read and written as numbers: past the end it throws. */
export const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

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

/**
 * Decodes strings of which {@link hexLength} is known, side by side. Joined, because one long text is encoded to ASCII
 * faster than many short ones, and bytes are looked up faster than characters.
 *
 * @param length of all together, in bytes
 * @throws ProofError `BAD_HEX` on anything but digits after the prefix; its path is `pathOf` the string's index
 */
export function decodeHexes(hexes: readonly string[], length: number, pathOf: (index: number) => string): Uint8Array {
  const textLength = 2 * (length + hexes.length)
  const text = textLength <= SCRATCH.length ? SCRATCH : new Uint8Array(textLength)
  // A character outside ASCII becomes bytes of which none is a digit, and the first of them stands where it stood.
  encoder.encodeInto(hexes.join(''), text)
  const bytes = new Uint8Array(length)
  let [from, to, seen] = [0, 0, 0]
  for (const hex of hexes) {
    const end = from + hex.length
    for (from += 2; from < end; from += 2) {
      const high = at(DIGIT_VALUES, at(text, from))
      const low = at(DIGIT_VALUES, at(text, from + 1))
      seen |= high | low
      bytes[to++] = (high << 4) | low
    }
  }
  if (seen > 15) {
    const index = hexes.findIndex(hex => !/^0x[0-9a-f]*$/i.test(hex))
    const found = quote(String(hexes[index]))
    throw new ProofError('BAD_HEX', { path: pathOf(index), expected: 'hexadecimal digits', found })
  }
  return bytes
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
  return decodeHexes([hex], length, () => '')
}

/** Lower-case, `0x`-prefixed. */
export function bytesToHex(bytes: Uint8Array): Hex {
  let hex: Hex = '0x'
  for (const byte of bytes) hex += DIGITS.charAt(byte >> 4) + DIGITS.charAt(byte & 15)
  return hex
}

/** The unsigned big-endian integer that `bytes` spell. */
export function bytesToBigint(bytes: Uint8Array): bigint {
  const view = viewOf(bytes)
  let value = 0n
  let offset = 0
  for (; offset < bytes.length % 8; offset++) value = (value << 8n) | BigInt(view.getUint8(offset))
  for (; offset < bytes.length; offset += 8) value = (value << 64n) | view.getBigUint64(offset)
  return value
}

/** Big-endian, left-padded with zeros to `length` bytes. The caller sees to it that 0 <= value < 256^length. */
export function bigintToBytes(value: bigint, length: number): Uint8Array {
  return hexToBytes(`0x${value.toString(16).padStart(length * 2, '0')}`, length)
}

/** Negative, zero or positive as `a` sorts before, with or after `b`: as unsigned big-endian strings of one length. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  for (let index = 0; index < a.length; index++) {
    const difference = at(a, index) - at(b, index)
    if (difference !== 0) return difference
  }
  return 0
}

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && compareBytes(a, b) === 0
}

/** Whether every byte is zero. */
export function isZero(bytes: Uint8Array): boolean {
  let seen = 0
  for (const byte of bytes) seen |= byte
  return seen === 0
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
