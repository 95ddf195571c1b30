import { expect, it } from 'vitest'
import type { Hex } from '../../../src/index.ts'
import { createCache } from '../../../src/provider/cache.ts'
import type { CallRequest } from '../../../src/provider/call-request.ts'
import { createKnownCodes } from '../../../src/provider/known-codes.ts'
import { collectReads, createKnownReads } from '../../../src/provider/known-reads.ts'
import { at, word } from '../endpoints.ts'

it('evicts the oldest values until the rest fits', () => {
  const cache = createCache<string, number>(10)
  cache.set('a', 1, 4)
  cache.set('b', 2, 4)
  cache.set('c', 3, 2)
  expect(['a', 'b', 'c'].map(cache.get)).toEqual([1, 2, 3])
  cache.set('d', 4, 1)
  expect(['a', 'b', 'c', 'd'].map(cache.get)).toEqual([undefined, 2, 3, 4])
  // Three more fit now.
  cache.set('e', 5, 3)
  expect(['b', 'c', 'd', 'e'].map(cache.get)).toEqual([2, 3, 4, 5])
  cache.set('f', 6, 5)
  expect(['b', 'c', 'd', 'e', 'f'].map(cache.get)).toEqual([undefined, undefined, 4, 5, 6].map(value => value))
})

it('counts a value once, with its newest size, and keeps its place in the order', () => {
  const cache = createCache<string, string>(10)
  cache.set('a', 'small', 2)
  cache.set('b', 'other', 2)
  cache.set('a', 'large', 8)
  expect(['a', 'b'].map(cache.get)).toEqual(['large', 'other'])
  cache.set('b', 'grown', 3)
  expect(['a', 'b'].map(cache.get)).toEqual([undefined, 'grown'])
  cache.set('c', 'rest', 7)
  expect(['b', 'c'].map(cache.get)).toEqual(['grown', 'rest'])
})

it('does not keep a value that never fits, and forgets what is deleted', () => {
  const cache = createCache<string, number>(10)
  cache.set('a', 1, 11)
  expect(cache.get('a')).toBeUndefined()
  cache.set('b', 2, 10)
  cache.delete('b')
  cache.delete('unknown')
  cache.set('c', 3, 10)
  expect(['b', 'c'].map(cache.get)).toEqual([undefined, 3])
})

it('keeps 16 MiB of codes', () => {
  const codes = createKnownCodes()
  // An entry counts as 256 bytes more than its code.
  const code = new Uint8Array(2 ** 20 - 256)
  for (let count = 0; count < 16; count++) codes.set(word(count), code)
  expect(codes.get(word(0))).toBe(code)
  codes.set(word(16), code)
  expect([codes.get(word(0)), codes.get(word(1)) === code]).toEqual([undefined, true])
})

it('takes a hint about 32 contracts and 1,024 slots, and keeps 64 such hints', () => {
  const noted = collectReads()
  for (let count = 0; count < 33; count++) noted.account(at((16 + count).toString(16)))
  for (let count = 0; count < 1026; count++) noted.slot(at('10'), word(count))
  const { reads } = noted
  expect([reads.size, reads.get(at('10'))?.keys.size]).toEqual([32, 1024])

  const known = createKnownReads()
  const callOf = (value: number, data: Hex = '0x') =>
    ({ from: at('aa'), to: at('bb'), value: BigInt(value), data }) as CallRequest
  const keys = new Set(Array.from({ length: 1022 }, (_, index) => word(index)))
  // With the account, and a word for the data.
  const hint = new Map([[at('10'), { keys, isCodeRead: false }]])
  for (let count = 0; count < 64; count++) known.set(callOf(count), hint)
  expect(known.get(callOf(0))).toBe(hint)
  known.set(callOf(64), hint)
  expect([known.get(callOf(0)), known.get(callOf(1))]).toEqual([undefined, hint])

  // Data of 1,024 words, with its prefix, and of more.
  const [long, tooLong] = [65_534, 65_536].map(digits => callOf(0, `0x${'0'.repeat(digits)}`))
  for (const call of [long, tooLong]) call && known.set(call, new Map())
  expect([long, tooLong].map(call => call && known.get(call))).toEqual([new Map(), undefined])
})
