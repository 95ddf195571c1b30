import { bigintToBytes, uint32At } from '../bytes.ts'

/** The order r of the BLS12-377 scalar field: 253 bits. */
export const BLS12377_ORDER = 0x12ab655e9a2ca55660b44d1e5c37b00159aa76fed00000010a11800000000001n

const order = /* @__PURE__ */ bigintToBytes(BLS12377_ORDER, 32)

/**
 * Whether every 32-byte element of `bytes` is reduced, i.e. below r.
 *
 * @param bytes a multiple of 32 bytes
 */
export function isCanonicalBls12377(bytes: Uint8Array): boolean {
  for (let offset = 0; offset < bytes.length; offset += 32) {
    if (!isBelowOrder(bytes, offset)) return false
  }
  return true
}

function isBelowOrder(bytes: Uint8Array, offset: number): boolean {
  for (let index = 0; index < 32; index += 4) {
    const piece = uint32At(bytes, offset + index)
    const limit = uint32At(order, index)
    if (piece < limit) return true
    if (piece > limit) return false
  }
  return false
}
