import { bytesToHex } from '../../base/bytes.ts'
import { keccak256 } from '../../verify/hash/keccak/index.ts'

/** The first digit of an address, from 1, whose case is not that of its checksum (EIP-55); null if none is, or all letters have one case. */
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
