import { expect, it } from 'vitest'
import { decodeQuantity, encodeQuantity } from '../../src/base/hex.ts'

it('decodes quantities of so many bits, and nothing else', () => {
  for (const value of [0n, 1n, 31n]) expect(decodeQuantity(encodeQuantity(value), 5)).toBe(value)
  expect(decodeQuantity('0xfF', 8)).toBe(255n)
  // Too large with as many digits, with more, and not in the form of one.
  for (const wrong of ['0x20', '0x3f', '0x100', '0x01', '0x', '1', 1, 1n, null, undefined]) {
    expect(decodeQuantity(wrong, 5), String(wrong)).toBeNull()
  }
})
