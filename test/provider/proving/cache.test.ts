import { expect, it } from 'vitest'
import { createCache } from '../../../src/provider/cache.ts'
import { createKnownState } from '../../../src/provider/proven-state.ts'
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
  const codes = createKnownState()
  // An entry counts as 256 bytes more than its code.
  const code = new Uint8Array(2 ** 20 - 256)
  for (let count = 0; count < 16; count++) codes.addCode(word(count), code)
  expect(codes.code(word(0))).toBe(code)
  codes.addCode(word(16), code)
  expect([codes.code(word(0)), codes.code(word(1)) === code]).toEqual([undefined, true])
})

it('remembers what was last proven of an account, and of 65,536 accounts and slots', () => {
  const known = createKnownState()
  const code = Uint8Array.of(1)
  const account = { nonce: 1n, balance: 2n, codeHash: word(9), hasStorage: true }
  const likely = (of: string) => [
    known.account(at(of))?.account,
    known.account(at(of))?.slots.get(word(1)),
    known.codeOf(known.account(at(of))),
  ]
  expect(likely('aa')).toEqual([undefined, undefined, undefined])
  known.note(at('aa'), { account, slots: new Map([[word(1), word(5)]]) })
  expect(likely('aa')).toEqual([account, word(5), undefined])
  known.addCode(word(9), code)
  const later = { ...account, balance: 3n }
  known.note(at('aa'), { account: later, slots: new Map([[word(2), word(6)]]) })
  expect(likely('aa')).toEqual([later, word(5), code])
  known.note(at('aa'), { account: later, slots: new Map([[word(1), word(7)]]) })
  expect([likely('aa')[1], known.account(at('aa'))?.slots.get(word(2))]).toEqual([word(7), word(6)])
  known.note(at('bb'), { account: null, slots: new Map() })
  expect(likely('bb')).toEqual([null, undefined, new Uint8Array(0)])

  const slots = (count: number) => new Map(Array.from({ length: count }, (_, index) => [word(index), word(1)]))
  known.note(at('cc'), { account, slots: slots(65_536 - 3 - 1 - 1) })
  expect(likely('aa')[0]).toEqual(later)
  known.note(at('dd'), { account, slots: slots(0) })
  expect([likely('aa')[0], likely('bb')[0], likely('cc')[0]]).toEqual([undefined, null, account])
})
