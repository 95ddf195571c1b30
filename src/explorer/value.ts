/** What a stranger's JSON value is, and what of it may be shown. */

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> => (isObject(value) ? value : {})

/** The named field of an object. */
export const fieldIn = (value: unknown, name: string): unknown => fieldsOf(value)[name]

export const itemsOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** null stands for a missing field: some serializers write it. */
export const isGiven = (value: unknown): boolean => value !== undefined && value !== null

const MAX_SHOWN = 400

/** Text without what moves, recolours or reverses it, and not more than fits. */
export function printable(text: string): string {
  const cut = text.slice(0, MAX_SHOWN).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, '?')
  return text.length > MAX_SHOWN ? `${cut}… (${text.length} characters)` : cut
}

/** What fits in a word, as it is; of the rest no more than what it is. */
export function show(value: unknown): string {
  if (!isGiven(value)) return 'nothing'
  if (Array.isArray(value)) return `an array of ${value.length}`
  return isObject(value) ? 'an object' : printable(String(value))
}

export const isHexOf = (length: number, value: unknown): value is `0x${string}` =>
  typeof value === 'string' && value.length === 2 + 2 * length && /^0x[0-9a-fA-F]*$/.test(value)

/** null when it is not hexadecimal of whole bytes. */
export function toBytes(hex: unknown): Uint8Array | null {
  if (typeof hex !== 'string' || hex.length % 2 !== 0 || !/^0x[0-9a-fA-F]*$/.test(hex)) return null
  return Uint8Array.from({ length: hex.length / 2 - 1 }, (_, index) =>
    Number.parseInt(hex.slice(2 + 2 * index, 4 + 2 * index), 16),
  )
}

export const toHex = (bytes: Uint8Array): `0x${string}` =>
  `0x${Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')}`
