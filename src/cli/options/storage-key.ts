import type { Hex } from '../../base/bytes.ts'
import { isArgumentError, mappingSlot } from '../../entry/index.ts'
import { slotKey } from '../../verify/anchor/slots.ts'
import { argumentRefused, UsageError } from '../errors.ts'
import { MAX_SHOWN_LENGTH } from '../limits.ts'
import { isHexOf } from '../words/layout.ts'
import { cut } from '../words/value.ts'
import { isAddress } from './address.ts'

const NUMBER = '0, 0x0 or 32 bytes of hexadecimal after 0x'

/**
 * A storage key as people write it: 32 bytes, or the number of a slot, decimal or hexadecimal. Ambiguous text is refused,
 * because an unintended key verifies as an empty slot.
 *
 * @throws UsageError
 */
export function storageKeyOf(text: string, option = '--storage-key'): Hex {
  if (isHexOf(32, text)) return text
  const refuse = (reason: string) => new UsageError(`${option}: ${reason}: ${cut(text, MAX_SHOWN_LENGTH)}`)
  if (/^[0-9a-fA-F]{64}$/.test(text)) throw refuse('write 0x before hexadecimal')
  if (isHexOf(20, text))
    throw refuse('this is an address, 20 bytes; for its entry in a mapping, use --mapping SLOT ADDRESS')
  if (/^0x[0-9a-fA-F]{17,63}$/.test(text))
    throw refuse('fewer than 32 bytes; if no digit is missing, pad it with zeros on the left')
  if (/^[1-9][0-9]{77,}$/.test(text) && (text.length > 78 || BigInt(text) >= 1n << 256n))
    throw refuse('it is too large: keys are below 2^256')
  const isNumber = /^0x[0-9a-fA-F]{1,16}$/.test(text) || /^(0|[1-9][0-9]{0,77})$/.test(text)
  if (!isNumber) throw refuse(`expected ${NUMBER}`)
  // 20 bytes of hexadecimal without 0x can look like a decimal number.
  if (/^[0-9]{40}$/.test(text)) throw refuse('write 0x before hexadecimal')
  return slotKey(BigInt(text))
}

/**
 * The storage key of a mapping's entry.
 *
 * @param slot where the mapping is declared
 * @param key an address, a number or 32 bytes
 * @throws UsageError
 */
export function mappingKeyOf(slot: string, key: string): Hex {
  const at = storageKeyOf(slot, '--mapping SLOT')
  try {
    return mappingSlot({ slot: at, keys: [isAddress('--mapping', key) ? key : storageKeyOf(key, '--mapping KEY')] })
  } catch (error) {
    throw isArgumentError(error) ? argumentRefused(error, '--mapping') : error
  }
}
