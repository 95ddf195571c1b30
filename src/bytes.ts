import { ProofError } from './errors.ts'

/** A `0x`-prefixed hexadecimal string, two digits a byte. */
export type Hex = `0x${string}`

const DIGITS = '0123456789abcdef'
const NOT_A_BYTE = 0x100

/**
 * Two ASCII digits, read as one 16-bit number in the platform's byte order -> the byte that they spell, else NOT_A_BYTE.
 * 128 KB, of which decoding touches 484 entries. Both are made on first use.
 */
let decoding: { bytesOfPairs: Uint16Array; encoder: InstanceType<typeof TextEncoder> } | undefined

function fillBytesOfPairs(): Uint16Array {
  const values = new Uint16Array(2 ** 16).fill(NOT_A_BYTE)
  const pair = new Uint16Array(1)
  const codes = new Uint8Array(pair.buffer)
  const spellings = [...DIGITS].map(digit => [digit, digit.toUpperCase()].map(spelling => spelling.charCodeAt(0)))
  for (const [high, highCodes] of spellings.entries()) {
    for (const [low, lowCodes] of spellings.entries()) {
      for (const highCode of highCodes) {
        for (const lowCode of lowCodes) {
          codes.set([highCode, lowCode])
          values[pair[0] ?? 0] = (high << 4) | low
        }
      }
    }
  }
  return values
}

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
  decoding ??= { bytesOfPairs: fillBytesOfPairs(), encoder: new TextEncoder() }
  const { bytesOfPairs, encoder } = decoding
  const pairs = new Uint16Array(length + hexes.length)
  // A character outside ASCII becomes bytes of which none is a digit, and the first of them stands where it stood.
  encoder.encodeInto(hexes.join(''), new Uint8Array(pairs.buffer))
  const bytes = new Uint8Array(length)
  let [from, to, seen] = [0, 0, 0]
  for (const hex of hexes) {
    const end = from + hex.length / 2
    for (from += 1; from < end; from++) {
      const value = bytesOfPairs[pairs[from] ?? 0] ?? NOT_A_BYTE
      seen |= value
      bytes[to++] = value
    }
  }
  if (seen >= NOT_A_BYTE) {
    const index = hexes.findIndex(hex => !/^0x[0-9a-f]*$/i.test(hex))
    const found = quote(hexes[index] ?? '')
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
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
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
    const difference = (a[index] ?? 0) - (b[index] ?? 0)
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
  for (let index = 0; index < bytes.length; index++) seen |= bytes[index] ?? 0
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
