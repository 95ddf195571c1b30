import { bigintToBytes, byteAt } from '../../base/bytes.ts'

/** The order r of the BLS12-377 scalar field: 253 bits. */
export const BLS12377_ORDER = 0x12ab655e9a2ca55660b44d1e5c37b00159aa76fed00000010a11800000000001n

const order = /* @__PURE__ */ bigintToBytes(BLS12377_ORDER, 32)

/** Whether every 32-byte element of `bytes` is reduced, i.e. below r. @param bytes a multiple of 32 bytes */
export function isCanonicalBls12377(bytes: Uint8Array): boolean {
  for (let offset = 0; offset < bytes.length; offset += 32) {
    // The first byte that differs from the order's decides.
    let index = 0
    while (index < 31 && byteAt(bytes, offset + index) === byteAt(order, index)) index++
    if (byteAt(bytes, offset + index) >= byteAt(order, index)) return false
  }
  return true
}
