import { expect, it } from 'vitest'
import { MAX_TEXT_CHARACTERS } from '../../../src/cli/words/limits.ts'
import {
  brief,
  DocumentError,
  fieldIn,
  fieldsOf,
  hasFields,
  isObject,
  itemsOf,
  parseJson,
  printable,
  show,
} from '../../../src/cli/words/value.ts'
import { withInherited } from './files.ts'

it('reads own properties of objects only', () => {
  withInherited(['scheme', 'a'], () => {
    expect(Object.keys(fieldsOf({ b: 1 }))).toEqual(['b'])
    expect(Reflect.get(fieldsOf({}), 'scheme')).toBeUndefined()
    expect(fieldIn({}, 'scheme')).toBeUndefined()
    expect(hasFields({ b: 1 }, 'b', 'a')).toBe(false)
  })
  expect(Reflect.get(fieldsOf({}), 'toString')).toBeUndefined()
  expect(fieldIn({ a: undefined, b: 2 }, 'b')).toBe(2)
  expect(hasFields({ a: undefined, b: 2 }, 'a', 'b')).toBe(true)
  for (const none of [null, undefined, 'text', 7, ['x']]) {
    expect(isObject(none)).toBe(false)
    expect(fieldsOf(none)).toEqual({})
    expect(fieldIn(none, 'length')).toBeUndefined()
    expect(hasFields(none, 'length')).toBe(false)
  }
  expect(itemsOf([1])).toEqual([1])
  for (const none of [{ length: 1 }, 'x', null, new Set([1])]) expect(itemsOf(none)).toEqual([])
})

it('shows scalars, and anything else by its kind', () => {
  expect([undefined, null, 7, 'x', true, [1, 2], {}].map(show)).toEqual([
    ...['nothing', 'null', '7', 'x', 'true', 'an array of 2', 'an object'],
  ])
  const trap = { toString: () => expect.unreachable(), toJSON: () => expect.unreachable() }
  expect(show(trap)).toBe('an object')
})

it('prints no characters that move, recolour or reverse text', () => {
  expect(printable('a\u001b[31m\u202e\u0085\u2028\ud800b')).toBe('a?[31m????b')
  expect(printable('a\nb\rc\td\u0000e\u200bf\u2066g')).toBe('a?b?c?d?e?f?g')
  expect(printable('é → 漢 😀')).toBe('é → 漢 😀')
})

it('cuts long texts, and says how long they were', () => {
  expect(MAX_TEXT_CHARACTERS).toBe(400)
  expect(brief('x'.repeat(400))).toBe('x'.repeat(400))
  expect(brief('x'.repeat(500))).toMatch(/^x{400}… \(500 characters\)$/)
  expect(brief(`\u001b${'x'.repeat(500)}`)).toMatch(/^\?x{399}… \(501 characters\)$/)
})

it('parses JSON in UTF-8, and says what is wrong with anything else', () => {
  const parse = (text: string) => parseJson(new TextEncoder().encode(text))
  expect(parse('{"é":[1,"😀"]}')).toEqual({ é: [1, '😀'] })
  expect(parse('\ufeff{}')).toEqual({})
  for (const [bytes, message] of [
    [[0x7b, 0xff], 'not UTF-8'],
    [[], 'empty'],
    [[0x20, 0x0a], 'empty'],
    [[0x7b], 'not JSON'],
    [[0x7b, 0x7d, 0x7d], 'not JSON'],
  ] as const) {
    expect(() => parseJson(Uint8Array.from(bytes)), message).toThrow(DocumentError)
    expect(() => parseJson(Uint8Array.from(bytes))).toThrow(message)
  }
  expect(() => parse(`${'['.repeat(100_000)}`)).toThrow(DocumentError)
})
