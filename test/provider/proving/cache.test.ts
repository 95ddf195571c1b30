import { expect, it } from 'vitest'
import { createCache } from '../../../src/provider/cache.ts'

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
