import { expect, it } from 'vitest'
import { digitOffChecksum } from '../../../src/cli/words/layout.ts'
import { lineaRollup, lineaSepoliaRollup } from '../../../src/entry/anchor.ts'

/** Of the specification of EIP-55. */
const KNOWN = [
  '0x52908400098527886E0F7030069857D2E4169EE7',
  '0x8617E340B3D01FA5F11F306F4090FD50E238070D',
  '0xde709f2102306220921060314715629080e2fb77',
  '0x27b1fdb04752bbc536007a920d24acb045561c26',
  '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
  '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
]

it('accepts the checksums of the specification, and of known contracts', () => {
  for (const address of [...KNOWN, lineaRollup.address, lineaSepoliaRollup.address])
    expect(digitOffChecksum(address)).toBeNull()
})

it('finds the digit whose case differs, and skips what has one case', () => {
  let [found, skipped] = [0, 0]
  for (const address of KNOWN) {
    for (const spelt of [address.toLowerCase(), `0x${address.slice(2).toUpperCase()}`]) {
      expect(digitOffChecksum(spelt)).toBeNull()
      skipped++
    }
    for (let digit = 1; digit <= 40; digit++) {
      const own = address.charAt(digit + 1)
      const other = own === own.toUpperCase() ? own.toLowerCase() : own.toUpperCase()
      const spelt = address.slice(0, digit + 1) + other + address.slice(digit + 2)
      if (own === other || digitOffChecksum(spelt) === null) continue
      // A change to one case in all but this digit, too, is found somewhere.
      expect(digitOffChecksum(spelt)).toBe(digit)
      found++
    }
  }
  expect(found).toBeGreaterThan(80)
  expect(skipped).toBe(16)
})

it('refuses an address with a digit mistaken for another', () => {
  const [address = ''] = KNOWN.slice(4)
  expect(digitOffChecksum(address.replace('0x5aAe', '0x5aAd'))).toBeGreaterThan(0)
})
