import { expect, it } from 'vitest'
import { isGiven, pickKnown, readOwn, type Shape } from '../../../src/base/json/known-fields.ts'

const admission = () => {
  const charged: number[] = []
  return { charged, charge: (length: number) => void charged.push(length), admitText: (text: string) => text }
}
const pick = (source: unknown, shape: Shape) => pickKnown(source, shape, admission())
const throwing = new Proxy([], {
  get: () => {
    throw new Error('get')
  },
})
const { proxy: revoked, revoke } = Proxy.revocable({}, {})
revoke()

it('copies the known fields, and drops the others', () => {
  const shape: Shape = {
    fields: { a: 'scalar', list: { items: { fields: { b: 'scalar' } } }, both: { items: 'scalar' } },
  }
  const source = { a: '0x1', extra: 1, list: [{ b: 2, c: 3 }, null], both: [true, 'x'] }
  expect(pick(source, shape)).toEqual({ a: '0x1', list: [{ b: 2 }, null], both: [true, 'x'] })
  expect(pick({ a: null, list: [] }, shape)).toEqual({ a: null, list: [] })
})

it('keeps a value of the wrong kind wrong, without what is in it', () => {
  expect(pick({ b: 1 }, 'scalar')).toEqual({})
  expect(pick([1, 2], 'scalar')).toEqual([])
  expect(pick([1, 2], { fields: { b: 'scalar' } })).toEqual([])
  expect(pick({ b: 1 }, { items: 'scalar' })).toEqual({})
  expect(pick('0x', { items: 'scalar' })).toBe('0x')
  for (const value of [undefined, 1n, Symbol('x'), () => 1]) expect(pick(value, 'scalar')).toBeUndefined()
})

it('counts what cannot be read as missing', () => {
  const getter = Object.defineProperty({ b: 2 }, 'a', {
    enumerable: true,
    get: () => {
      throw new Error('a')
    },
  })
  expect(pick(getter, { fields: { a: 'scalar', b: 'scalar' } })).toEqual({ b: 2 })
  expect(pick(revoked, { fields: { a: 'scalar' } })).toBeUndefined()
  expect(pick(throwing, { items: 'scalar' })).toBeNull()
  expect(pick([revoked, 1], { items: 'scalar' })).toEqual([undefined, 1])
  expect(pick(new Array(2), { items: 'scalar' })).toEqual([null, null])
})

it('copies own properties only', () => {
  expect(pick(Object.create({ a: 1 }), { fields: { a: 'scalar' } })).toEqual({})
  expect([readOwn({ a: 1 }, 'a'), readOwn({}, 'toString'), readOwn(revoked, 'a')]).toEqual([1, undefined, undefined])
})

it('charges for every value, and stops when that throws, however long a list says it is', () => {
  const { charged, ...rest } = admission()
  const shape: Shape = { fields: { a: 'scalar', b: { items: 'scalar' } } }
  pickKnown({ a: 'four', b: [1, {}] }, shape, rest)
  expect(charged).toEqual([8, 4, 8, 8, 8])
  let left = 100
  const charge = (length: number) => {
    left -= length
    if (left < 0) throw new RangeError('too much')
  }
  const endless = new Proxy([], {
    get: () => Number.MAX_SAFE_INTEGER,
    getOwnPropertyDescriptor: Reflect.getOwnPropertyDescriptor,
  })
  expect(() => pickKnown(endless, { items: 'scalar' }, { ...rest, charge })).toThrow(RangeError)
  for (const length of [Number.NaN, -1, 1.5, 2 ** 53, '1', 1n, {}]) {
    expect(pick(new Proxy([1], { get: () => length }), { items: 'scalar' })).toBeNull()
  }
})

it('keeps of a string what is admitted', () => {
  const admitText = (text: string) => (text.startsWith('0x') ? text.slice(0, 4) : null)
  const picked = pickKnown(['0x123456', 'secret'], { items: 'scalar' }, { ...admission(), admitText })
  expect(picked).toEqual(['0x12', null])
})

it('counts null as not given', () => {
  expect([undefined, null, 0, '', false, []].map(isGiven)).toEqual([false, false, true, true, true, true])
})
