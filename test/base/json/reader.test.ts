import { expect, it } from 'vitest'
import { ProofError } from '../../../src/base/errors.ts'
import { readerOf } from '../../../src/base/json/reader.ts'
import { refusal } from '../../refusal.ts'

const reader = readerOf('MALFORMED_RESPONSE')
const fail = (): never => {
  throw new ProofError('STATE_ROOT_MISMATCH')
}
const readItems = (source: unknown) =>
  reader.items(
    source,
    () => {},
    item => item,
  )

const others: [value: unknown, found: string][] = [
  [undefined, 'nothing'],
  [null, 'nothing'],
  [[], 'an array'],
  ['', 'a string'],
  [0, 'a number'],
  [false, 'a boolean'],
  [1n, 'a bigint'],
  [Symbol('x'), 'a symbol'],
  [() => {}, 'a function'],
  [{}, 'an object'],
]

it.each<[string, (value: unknown) => unknown, string]>([
  ['an object', value => reader.fields(value, ['a']), 'an object'],
  ['an array', readItems, 'an array'],
  ['a string', reader.string, 'a string'],
  ['a number', reader.number, 'a number'],
])('accepts %s, and names any other value it finds', (expected, read, own) => {
  let refused = 0
  for (const [value, found] of others) {
    if (found === own) read(value)
    else {
      expect(refusal(() => read(value))).toMatchObject({ code: 'MALFORMED_RESPONSE', path: '', expected, found })
      refused++
    }
  }
  expect(refused).toBe(9)
})

it('refuses values that are not hexadecimal of the given length', () => {
  expect(reader.bytesOf(2)('0x0102')).toEqual(Uint8Array.of(1, 2))
  expect(refusal(() => reader.bytesOf(2)('0x01')).code).toBe('WRONG_LENGTH')
  expect(refusal(() => reader.bytesOf(1)('01')).code).toBe('BAD_HEX')
  expect(refusal(() => reader.bytesOf(1)(1)).code).toBe('MALFORMED_RESPONSE')
})

it("reports an unreadable object with the document's code, whatever the read", () => {
  const evidence = readerOf('EVIDENCE_MALFORMED')
  const { proxy, revoke } = Proxy.revocable([], {})
  revoke()
  const [object, array] = [{}, ['']].map(target => new Proxy(target, { getOwnPropertyDescriptor: fail }))
  const reads = [
    () => evidence.isArray(proxy),
    () =>
      evidence.items(
        proxy,
        () => {},
        item => item,
      ),
    () =>
      evidence.items(
        array,
        () => {},
        item => item,
      ),
    () => evidence.fields(proxy, []),
    () => evidence.fields(object, ['a']),
    () => evidence.string(proxy),
    () => evidence.number(proxy),
  ]
  for (const read of reads) {
    expect(refusal(read)).toMatchObject({
      code: 'EVIDENCE_MALFORMED',
      path: '',
      found: 'an object that cannot be read',
    })
  }
  const getter = Object.defineProperty([1], 1, { get: fail, enumerable: true })
  expect(refusal(() => readItems(getter))).toMatchObject({ code: 'MALFORMED_RESPONSE', path: '[1]' })
})

it('refuses a length that is no whole number from 0, and reads nothing then', () => {
  for (const length of ['1', 1n, undefined, {}, Number.NaN, -1, 1.5, 2 ** 53, Number.POSITIVE_INFINITY]) {
    const source = new Proxy(['a'], { get: () => length })
    const read = () => reader.items(source, fail, fail)
    expect(refusal(read)).toMatchObject({ code: 'MALFORMED_RESPONSE', expected: 'a length' })
  }
  const empty = new Proxy(['a'], { get: (target, name) => (name === 'length' ? 0 : Reflect.get(target, name)) })
  expect(readItems(empty)).toEqual([])
})

it('reads only the requested own fields, and treats null as missing', () => {
  const source = Object.assign(Object.create({ inherited: 4 }), { a: 1, b: null, c: 3 })
  const fields = reader.fields(source, ['b', 'a', 'd', 'inherited'])
  expect({ ...fields }).toEqual({ b: undefined, a: 1, d: undefined, inherited: undefined })
  expect(Object.getPrototypeOf(fields)).toBeNull()
})

it('does not read missing fields from Object.prototype', () => {
  Object.defineProperty(Object.prototype, 'l1', { value: 'inherited', configurable: true })
  try {
    expect(reader.fields({ version: 1 }, ['version']).version).toBe(1)
    expect(reader.fields({ version: 1 }, ['version', 'l1']).l1).toBeUndefined()
    expect((reader.fields({}, []) as { l1?: unknown }).l1).toBeUndefined()
  } finally {
    Reflect.deleteProperty(Object.prototype, 'l1')
  }
})

it('checks the count first, reads each item once in order, and stops at the first refused', () => {
  const log: unknown[] = []
  const source = new Proxy(['a', 'b', 'c'], {
    get(target, name) {
      log.push(name)
      return Reflect.get(target, name)
    },
  })
  const count = (length: number) => log.push(length)
  const decode = (item: unknown) => {
    log.push(item)
    if (item === 'b') throw new ProofError('BAD_HEX')
    return item
  }
  expect(refusal(() => reader.items(source, count, decode))).toMatchObject({ code: 'BAD_HEX', path: '[1]' })
  expect(log).toEqual(['length', 3, '0', 'a', '1', 'b'])
  expect(refusal(() => reader.items(new Array(2 ** 32 - 1), () => {}, reader.string)).path).toBe('[0]')
  expect(
    reader.items(
      ['a', null],
      () => {},
      item => item,
    ),
  ).toEqual(['a', null])
  expect(() => reader.items([1], fail, item => item)).toThrow('STATE_ROOT_MISMATCH')
})

it('takes a promise for no object: it would be one that lacks every field', () => {
  const { expected, found } = refusal(() => reader.fields(Promise.resolve({ name: 1 }), ['name']))
  expect([expected, found]).toEqual(['an object', 'a promise: await it first'])
})
