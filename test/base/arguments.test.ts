import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { decodeArgument, invalid, readItems } from '../../src/base/arguments.ts'
import { decodeKeys, hasMethod, readOptions, verifyFunction, verifyUint, verifyWhole } from '../../src/base/options.ts'
import { refusal, verdict } from '../refusal.ts'

const fail = (): never => {
  throw new Error('a trap')
}

describe('readOptions', () => {
  it('copies own fields, and nothing that is inherited', () => {
    const options = { a: 1, b: undefined }
    const own = readOptions('', options, ['a', 'b', 'toString'])
    expect(Object.getPrototypeOf(Object.getPrototypeOf(own))).toBe(null)
    expect('toString' in own).toBe(false)
    expect(Object.keys(own)).toEqual(['a', 'b'])
    expect(own).not.toBe(options)
    // Each field is read once.
    let reads = 0
    const counting = {
      get a() {
        return reads++
      },
    }
    expect(readOptions('', counting, ['a']).a).toBe(0)
    expect(reads).toBe(1)
    expect(Object.keys(readOptions('', {}, []))).toEqual([])
  })

  it('refuses an object that inherits or hides fields, because they would be ignored', () => {
    class Options {
      a = 1
      get b() {
        return 2
      }
    }
    const hiding = Object.defineProperty({ a: 1 }, 'b', { value: 2 })
    for (const options of [new Options(), Object.create({ b: 2 }), Object.create(Object.create({ b: 2 })), hiding]) {
      const { path, expected, found } = refusal(() => readOptions('x', options, ['a', 'b']))
      expect([path, expected, found]).toEqual(['x', 'a plain object', 'one that inherits, hides or refuses fields'])
    }
    // Of another realm, whose Object.prototype is another object.
    expect(readOptions('', runInNewContext('({ a: 1 })'), ['a'])).toEqual({ a: 1 })
    expect(readOptions('', Object.assign(Object.create(null), { a: 1 }), ['a', 'b'])).toEqual({ a: 1 })
    // A name of every object is no option.
    expect(readOptions('', { a: 1 }, ['a', 'toString'])).toEqual({ a: 1 })
    expect(verdict(() => readOptions('x', new Proxy({}, { getPrototypeOf: fail }), ['a']))).toBe(
      'ARGUMENT_INVALID at x',
    )
  })

  it('refuses an unknown name, and says which one was meant', () => {
    const cases: [options: object, path: string, expected: string][] = [
      [{ c: 1 }, 'c', 'no field but a, storageKeys'],
      [{ a: 1, c: undefined }, 'c', 'no field but a, storageKeys'],
      [{ A: 1 }, 'A', 'a'],
      [{ storagekeys: 1 }, 'storagekeys', 'storageKeys'],
      [{ constructor: 1 }, 'constructor', 'no field but a, storageKeys'],
      [JSON.parse('{"__proto__": 1}'), '__proto__', 'no field but a, storageKeys'],
      [{ ['x\u001b'.repeat(100)]: 1 }, 'x?'.repeat(40), 'no field but a, storageKeys'],
    ]
    for (const [options, path, expected] of cases) {
      const found = 'an unknown field'
      expect(refusal(() => readOptions('', options, ['a', 'storageKeys']))).toMatchObject({ path, expected, found })
      expect(refusal(() => readOptions('rollup', options, ['a', 'storageKeys'])).path).toBe(`rollup.${path}`)
    }
    expect(cases.length).toBe(7)
  })

  it('refuses what is not an object, or cannot be read', () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    const cases: [options: unknown, found: string][] = [
      [undefined, 'nothing'],
      [null, 'nothing'],
      [0, 'the number 0'],
      [5n, 'the bigint 5'],
      ['', 'a string of 0 characters'],
      ['0xab', '1 byte'],
      [true, 'a boolean'],
      [Symbol('x'), 'a symbol'],
      [fail, 'a function'],
      [[], 'an array'],
      [proxy, 'an object that cannot be read'],
      [new Proxy({}, { ownKeys: fail }), 'one that inherits, hides or refuses fields'],
      [Object.defineProperty({}, 'a', { get: fail, enumerable: true }), 'one that inherits, hides or refuses fields'],
    ]
    for (const [options, found] of cases) {
      const said = { code: 'ARGUMENT_INVALID', found }
      expect(
        refusal(() => readOptions('', options as object, ['a'])),
        found,
      ).toMatchObject({ ...said, path: '' })
      expect(refusal(() => readOptions('layout', options as object, ['a']))).toMatchObject({ ...said, path: 'layout' })
    }
    expect(cases.length).toBe(13)
  })
})

it('decodes hexadecimal of the length asked for, or of any', () => {
  expect(decodeArgument('code', '0x')).toEqual(new Uint8Array(0))
  expect(decodeArgument('code', '0xaBcD')).toEqual(Uint8Array.of(0xab, 0xcd))
  expect(decodeArgument('hash', '0x0102', 2)).toEqual(Uint8Array.of(1, 2))
  expect(decodeArgument('hash', '0x', 0)).toEqual(new Uint8Array(0))
  for (const wrong of [
    '',
    '0',
    '0x0',
    'abcd',
    '0xgg',
    '0X00',
    ' 0x00',
    '0x00 ',
    '0x00\n',
    5,
    null,
    undefined,
    ['0x00'],
  ]) {
    expect(
      verdict(() => decodeArgument('code', wrong)),
      String(wrong),
    ).toBe('ARGUMENT_INVALID at code')
  }
  expect(refusal(() => decodeArgument('code', 'zz')).expected).toBe('0x-prefixed hexadecimal')
  expect(refusal(() => decodeArgument('hash', '0x', 32)).expected).toBe('0x-prefixed hexadecimal of 32 bytes')
  for (const wrong of ['0x', '0x01', '0x010203']) {
    expect(verdict(() => decodeArgument('hash', wrong, 2))).toBe('ARGUMENT_INVALID at hash')
  }
})

it('decodes storage keys, and names the one that is wrong', () => {
  const key = `0x${'0a'.repeat(32)}` as const
  expect(decodeKeys([])).toEqual([])
  expect(decodeKeys([key, key])).toEqual([new Uint8Array(32).fill(10), new Uint8Array(32).fill(10)])
  expect(verdict(() => decodeKeys([key, '0x']))).toBe('ARGUMENT_INVALID at storageKeys[1]')
  expect(verdict(() => decodeKeys(['0x'], 'holders'))).toBe('ARGUMENT_INVALID at holders[0]')
  expect(verdict(() => decodeKeys(new Array(2 ** 32 - 1)))).toBe('ARGUMENT_INVALID at storageKeys[0]')
  for (const wrong of [undefined, null, key, { length: 0 }, new Set([key])]) {
    expect(verdict(() => decodeKeys(wrong as never))).toBe('ARGUMENT_INVALID at storageKeys')
  }
})

it('reads each item of an array once, and no further than the first that is refused', () => {
  const { proxy, revoke } = Proxy.revocable([], {})
  revoke()
  const looping = Object.defineProperty([1, 2], Symbol.iterator, { value: fail })
  expect(readItems('a', looping, item => item + 1)).toEqual([2, 3])
  expect(readItems('a', new Array(1), item => item)).toEqual([undefined])
  const endless: number[] = new Array(2 ** 32 - 1)
  expect(() => readItems('a', endless, fail)).toThrow('a trap')
  const unreadable = [new Proxy([], { get: fail }), Object.defineProperty([1], 0, { get: fail })]
  for (const items of unreadable) {
    const { path, found } = refusal(() => readItems<number, number>('a', items, item => item))
    expect([path.slice(0, 1), found]).toEqual(['a', 'an object that cannot be read'])
  }
  expect(refusal(() => readItems('a', proxy, item => item)).found).toBe('an object that cannot be read')
})

it('describes an argument without what it holds, but for numbers', () => {
  const cases: [unknown, string][] = [
    [7, 'the number 7'],
    [Number.NaN, 'the number NaN'],
    [-7n, 'the bigint -7'],
    [10n ** 100n, `the bigint 1${'0'.repeat(79)}`],
    ['0x', '0 bytes'],
    ['0xab', '1 byte'],
    ['0xa', 'a string of 3 characters'],
    ['secret', 'a string of 6 characters'],
    ['', 'a string of 0 characters'],
    [undefined, 'nothing'],
    [null, 'nothing'],
    [[1], 'an array'],
    [{ a: 1 }, 'an object'],
    [fail, 'a function'],
    [false, 'a boolean'],
  ]
  for (const [value, found] of cases)
    expect(invalid('a', 'b', value)).toMatchObject({ path: 'a', expected: 'b', found })
})

it('verifies numbers and functions', () => {
  expect(verifyUint('n', 255n, 8)).toBe(255n)
  expect(verifyUint('n', 0n, 8)).toBe(0n)
  for (const wrong of [256n, -1n, 1, '1', null, undefined]) {
    const { path, expected } = refusal(() => verifyUint('n', wrong, 8))
    expect([path, expected]).toEqual(['n', 'a bigint from 0 to 2^8 - 1'])
  }
  for (const right of [1, 2, 3]) expect(verifyWhole('n', right, 1, 3)).toBe(right)
  expect(verifyWhole('n', Number.MAX_SAFE_INTEGER, 0)).toBe(Number.MAX_SAFE_INTEGER)
  for (const wrong of [0, 4, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '2', 2n, null, undefined]) {
    expect(refusal(() => verifyWhole('n', wrong as number, 1, 3)).expected).toBe('a whole number from 1 to 3')
  }
  expect(refusal(() => verifyWhole('n', -1, 0)).expected).toBe('a whole number from 0')
  for (const right of [undefined, fail]) expect(verdict(() => verifyFunction('f', right))).toBe('accepted')
  for (const wrong of [null, 1, {}, 'f'])
    expect(verdict(() => verifyFunction('f', wrong))).toBe('ARGUMENT_INVALID at f')
})

it('looks for a method without throwing', () => {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  expect([proxy, null, 7, {}, { get: 7 }].map(source => hasMethod(source, 'get'))).toEqual(Array(5).fill(false))
  expect([new Map(), Object.assign(() => {}, { get() {} })].map(source => hasMethod(source, 'get'))).toEqual([
    true,
    true,
  ])
})
