/** The order r of the BLS12-377 scalar field: 253 bits. */
export const BLS12377_ORDER = 0x12ab655e9a2ca55660b44d1e5c37b00159aa76fed00000010a11800000000001n

/** r as eight 32-bit words, most significant first. */
const ORDER_WORDS = [
  0x12ab655e, 0x9a2ca556, 0x60b44d1e, 0x5c37b001, 0x59aa76fe, 0xd0000001, 0x0a118000, 0x00000001,
] as const

/**
 * Whether every 32-byte element of `bytes` is reduced, i.e. below r.
 *
 * @param bytes a multiple of 32 bytes
 */
export function isCanonicalBls12377(bytes: Uint8Array): boolean {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let offset = 0; offset < bytes.length; offset += 32) {
    if (!isBelowOrder(view, offset)) return false
  }
  return true
}

function isBelowOrder(view: DataView, offset: number): boolean {
  for (let index = 0; index < ORDER_WORDS.length; index++) {
    const [word, orderWord] = [view.getUint32(offset + 4 * index), ORDER_WORDS[index] ?? 0]
    if (word !== orderWord) return word < orderWord
  }
  return false
}
