import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  bigintToBytes,
  bytesToBigint,
  bytesToHex,
  compareBytes,
  concatBytes,
  equalBytes,
  hexToBytes,
  isHex,
  isZero,
} from '../../src/base/bytes.ts'
import { excerpt, ProofError } from '../../src/base/errors.ts'

const bytes = (...items: number[]) => Uint8Array.from(items)
const seed = 1

function codeOf(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    if (error instanceof ProofError) return error.code
    throw error
  }
  return 'accepted'
}

it('converts between hex of either case and bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), array => {
      const hex = bytesToHex(array)
      expect(hex).toBe(`0x${Buffer.from(array).toString('hex')}`)
      expect(hexToBytes(hex, array.length)).toEqual(array)
      expect(hexToBytes(`0x${hex.slice(2).toUpperCase()}`, array.length)).toEqual(array)
    }),
    { seed },
  )
})

it('refuses every character that is not a digit, in either half of a byte', () => {
  let digits = 0
  for (let code = 0; code < 0x300; code++) {
    const character = String.fromCharCode(code)
    const isDigit = /[0-9a-fA-F]/.test(character)
    for (const hex of [`0x0${character}`, `0x${character}0`, `0x00${character}f`]) {
      expect(
        codeOf(() => hexToBytes(hex, hex.length / 2 - 1)),
        `${code}`,
      ).toBe(isDigit ? 'accepted' : 'BAD_HEX')
    }
    if (isDigit) digits++
  }
  expect(digits).toBe(22)
})

it.each([
  ['', 0, 'BAD_HEX'],
  ['0', 0, 'BAD_HEX'],
  ['00', 1, 'BAD_HEX'],
  ['0X00', 1, 'BAD_HEX'],
  [' 0x00', 1, 'BAD_HEX'],
  ['0x0', 1, 'BAD_HEX'],
  ['0x000', 1, 'BAD_HEX'],
  ['0x', 1, 'WRONG_LENGTH'],
  ['0x0000', 1, 'WRONG_LENGTH'],
  // The length is checked first: the digits of a string of the wrong length are never read.
  ['0xzzzz', 1, 'WRONG_LENGTH'],
  ['0x', 0, 'accepted'],
])('reads hex strictly: %j as %i bytes', (hex, length, code) => {
  expect(codeOf(() => hexToBytes(hex, length))).toBe(code)
})

it('converts between integers and bytes', () => {
  expect(bytesToBigint(bytes())).toBe(0n)
  expect(bytesToBigint(bytes(1, 0, 255))).toBe(0x1_00_ffn)
  expect(bigintToBytes(0x1_00n, 4)).toEqual(bytes(0, 0, 1, 0))
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), x => bytesToBigint(bigintToBytes(x, 32)) === x),
    { seed },
  )
})

it('compares bytes as big-endian integers', () => {
  const word = fc.uint8Array({ minLength: 4, maxLength: 4, max: 3 })
  fc.assert(
    fc.property(word, word, (a, b) => {
      const difference = Number(bytesToBigint(a) - bytesToBigint(b))
      expect(Math.sign(compareBytes(a, b))).toBe(Math.sign(difference))
      expect(equalBytes(a, b)).toBe(difference === 0)
    }),
    { seed, numRuns: 1000 },
  )
  expect(compareBytes(bytes(1, 1), bytes(1))).toBeGreaterThan(0)
  expect(equalBytes(bytes(1, 0), bytes(1))).toBe(false)
  expect(equalBytes(bytes(1), bytes(1, 0))).toBe(false)
})

it('concatenates bytes and recognizes zeros', () => {
  expect(concatBytes()).toEqual(bytes())
  expect(concatBytes(bytes(1), bytes(), bytes(2, 3))).toEqual(bytes(1, 2, 3))
  expect(isZero(bytes(0, 0))).toBe(true)
  expect(isZero(bytes(0, 1))).toBe(false)
})

it('quotes a short excerpt without control characters', () => {
  expect(excerpt('plain')).toBe('"plain"')
  expect(excerpt('\u001b[2J\r\né')).toBe('"?[2J???"')
  expect(excerpt('x'.repeat(80))).toBe(`"${'x'.repeat(80)}"`)
  expect(excerpt('x'.repeat(81))).toBe(`"${'x'.repeat(80)}…" (81 characters)`)
})

it('reports what is wrong with a hexadecimal string, and what it found', () => {
  const refusalOf = (work: () => unknown): unknown => {
    try {
      return work()
    } catch (error) {
      return error
    }
  }
  for (const bad of [
    '0xzz',
    '0x1g',
    '0xg1',
    '0x  ',
    '0x1:',
    '0x/1',
    '0x@a',
    '0xa`',
    '0x0x',
    '0x1\u0131',
    '0x\uff111',
  ]) {
    expect(
      refusalOf(() => hexToBytes(bad, 1)),
      bad,
    ).toMatchObject({
      code: 'BAD_HEX',
      path: '',
      expected: 'hexadecimal digits',
      found: excerpt(bad),
    })
  }
  expect(hexToBytes('0xAbcD', 2)).toEqual(bytes(0xab, 0xcd))
  expect(refusalOf(() => hexToBytes('12', 1))).toMatchObject({ expected: 'a 0x prefix', found: '"12"' })
  expect(refusalOf(() => hexToBytes('0x1', 1))).toMatchObject({ expected: 'two digits per byte', found: '"0x1"' })
  expect(refusalOf(() => hexToBytes('0x1234', 1))).toMatchObject({
    code: 'WRONG_LENGTH',
    expected: '1 bytes',
    found: '2 bytes',
  })
})

it('tells hexadecimal from everything else', () => {
  const right = ['0x', '0x00', '0xaBcDeF', '0x0123456789']
  for (const value of right) {
    const length = value.length / 2 - 1
    expect([isHex(value), isHex(value, undefined), isHex(value, length)], value).toEqual([true, true, true])
    expect([isHex(value, length + 1), isHex(value, length - 1)]).toEqual([false, false])
  }
  const wrong = [
    '',
    '0',
    '00',
    '0X00',
    '0x0',
    '0x0g',
    '0xg0',
    '0x 0',
    ' 0x0',
    '0x00\n',
    '0x\u0660\u0660',
    'x0x0',
    '0x0x',
  ]
  for (const value of [...wrong, undefined, null, 0, 0x00n, ['0x00'], { length: 4 }, Object('0x00')]) {
    expect([isHex(value), isHex(value, 1)], String(value)).toEqual([false, false])
  }
  expect(isHex(`0x${'ab'.repeat(2 ** 24)}`)).toBe(true)
  expect(isHex(`0x${'ab'.repeat(2 ** 24)}zz`)).toBe(false)
})
