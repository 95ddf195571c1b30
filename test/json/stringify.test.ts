import { expect, it } from 'vitest'
import { stringify } from '../../src/index.ts'

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
