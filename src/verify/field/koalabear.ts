import { uint32At } from '../../base/bytes.ts'

/** The order p = 2^31 - 2^24 + 1 of the KoalaBear field. */
export const KOALABEAR_ORDER = 0x7f000001

/** Whether every 4-byte element of `bytes` is reduced, i.e. below p. @param bytes a multiple of 4 bytes */
export function isCanonicalKoalaBear(bytes: Uint8Array): boolean {
  for (let offset = 0; offset < bytes.length; offset += 4) {
    if (uint32At(bytes, offset) >= KOALABEAR_ORDER) return false
  }
  return true
}
