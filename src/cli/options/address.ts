import type { Hex } from '../../entry/index.ts'
import { UsageError } from '../errors.ts'
import { digitOffChecksum } from '../words/checksum.ts'
import { isHexOf } from '../words/layout.ts'

/**
 * Whether a text that a person wrote is an address. The library takes any case, but a proof that a misspelt account does not exist
 * verifies.
 *
 * @param place where it was written
 * @throws UsageError if it has letters of both cases, and they are not those of its checksum (EIP-55)
 */
export function isAddress(place: string, text: string): text is Hex {
  if (!isHexOf(20, text)) return false
  const digit = digitOffChecksum(text)
  if (digit === null) return true
  throw new UsageError(
    `${place}: the checksum of this address is wrong, from digit ${digit} of 40 on. Copy it again, or write it in lower case to skip the check`,
  )
}
