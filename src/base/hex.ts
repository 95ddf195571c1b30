import type { Hex } from './bytes.ts'

/** Hexadecimal in lower case. The text is `0x` and digits: the caller has checked it. */
export const lowerCase = (hex: string): Hex => `0x${hex.slice(2).toLowerCase()}`

/** A quantity of JSON-RPC: hexadecimal without leading zeros. */
export const encodeQuantity = (value: bigint): Hex => `0x${value.toString(16)}`

/** A quantity of at most `bits` bits; null for anything else. Digits may be in either case. A huge text costs nothing. */
export function decodeQuantity(value: unknown, bits: number): bigint | null {
  if (typeof value !== 'string' || value.length > 2 + Math.ceil(bits / 4)) return null
  if (!/^0x(0|[1-9a-fA-F][0-9a-fA-F]*)$/.test(value)) return null
  const quantity = BigInt(value)
  return quantity < 1n << BigInt(bits) ? quantity : null
}
