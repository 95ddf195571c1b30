import { bytesToHex } from '../../base/bytes.ts'
import { keccak256 } from '../../verify/hash/keccak/index.ts'

/**
 * The first digit of an address whose case differs from that of its checksum (EIP-55), from 1; null if there is none, or if all
 * letters have one case, which is no checksum.
 */
export function digitOffChecksum(address: string): number | null {
  const digits = address.slice(2)
  const lower = digits.toLowerCase()
  if (digits === lower || digits === digits.toUpperCase()) return null
  const hash = bytesToHex(keccak256(new TextEncoder().encode(lower))).slice(2)
  const off = [...lower].findIndex((digit, index) => {
    const isUpper = Number.parseInt(hash[index] ?? '', 16) >= 8
    return digits[index] !== (isUpper ? digit.toUpperCase() : digit)
  })
  return off < 0 ? null : off + 1
}
