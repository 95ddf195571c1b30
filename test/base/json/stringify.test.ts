import { expect, it } from 'vitest'
import { stringify } from '../../../src/entry/index.ts'

it('writes bigints as decimal strings, and everything else as JSON.stringify does', () => {
  const value = {
    balance: -(10n ** 30n),
    slots: [{ leafIndex: null, key: '0x01' }],
    codeSize: 0n,
    none: undefined,
    n: 1.5,
  }
  expect(stringify(value)).toBe(
    '{"balance":"-1000000000000000000000000000000","slots":[{"leafIndex":null,"key":"0x01"}],"codeSize":"0","n":1.5}',
  )
  expect(stringify(7n)).toBe('"7"')
  expect(stringify({ a: [1n] }, 1)).toBe('{\n "a": [\n  "1"\n ]\n}')
  expect(stringify({ a: 1n }, '\t')).toBe('{\n\t"a": "1"\n}')
  expect(stringify({ a: 1n }, undefined)).toBe('{"a":"1"}')
})

it('always returns JSON', () => {
  for (const nothing of [undefined, () => 1, Symbol('x'), null]) expect(stringify(nothing)).toBe('null')
})

it('loses no digit if the program has taught bigints a toJSON of its own', () => {
  const toJSON = () => 1
  Object.defineProperty(BigInt.prototype, 'toJSON', { value: toJSON, configurable: true })
  try {
    expect(stringify({ balance: 10n ** 30n, other: { toJSON } })).toBe(`{"balance":"1${'0'.repeat(30)}","other":1}`)
    expect(stringify(7n)).toBe('"7"')
  } finally {
    Reflect.deleteProperty(BigInt.prototype, 'toJSON')
  }
})

it('writes bigints as objects, and those that a toJSON returns', () => {
  expect(stringify([Object(5n), { toJSON: () => 6n }, { toJSON: () => Object(7n) }])).toBe('["5","6","7"]')
})
