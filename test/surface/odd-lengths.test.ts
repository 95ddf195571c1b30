import { expect, it } from 'vitest'
import type { Fields } from '../../src/cli/words/value.ts'
import { sized } from '../size.ts'
import { changedAt, placesOf } from '../verify/evidence/places.ts'
import { corpusIn, outcomeOf, SENT } from './corpus.ts'

/** A list with its items, whose length is read from `next`. */
const listOf = (items: readonly unknown[], next: () => unknown): unknown =>
  new Proxy([...items], {
    get: (target, name, receiver) => (name === 'length' ? next() : Reflect.get(target, name, receiver)),
  })

/** By what is odd about it: a list with these items. */
const odd: Readonly<Record<string, (items: readonly unknown[]) => unknown>> = {
  ...Object.fromEntries(
    [Number.NaN, -1, 1.5, 2 ** 32, 2 ** 53, Number.POSITIVE_INFINITY, '1', null, undefined, 1n, {}, true].map(
      length => [`${typeof length} ${length}`, (items: readonly unknown[]) => listOf(items, () => length)],
    ),
  ),
  'an object that becomes a number': items => listOf(items, () => ({ valueOf: () => items.length })),
  'first its length, then NaN': items => {
    let reads = 0
    return listOf(items, () => (reads++ === 0 ? items.length : Number.NaN))
  },
  'first NaN, then its length': items => {
    let reads = 0
    return listOf(items, () => (reads++ === 0 ? Number.NaN : items.length))
  },
  'one more at each read': items => {
    let reads = 0
    return listOf(items, () => items.length + reads++)
  },
  'a getter that throws': items =>
    listOf(items, () => {
      throw new TypeError('a trap')
    }),
  'holes only': items => new Array(items.length),
}

/** How many vectors of a function have their list at a place changed. */
const VECTORS_PER_PLACE = sized(1)
const seen = new Map<string, number>()

/** The lists in what was sent: of those at the same place but for their indices, one. None where enough vectors had one. */
function listsIn(content: Fields): string[][] {
  const own = new Map<string, string[]>()
  for (const name of SENT) {
    for (const path of placesOf(content[name], [name])) {
      if (!Array.isArray(partAt(content, path))) continue
      const place = path.map(part => (/^\d+$/.test(part) ? '*' : part)).join('.')
      own.set(`${content['operation']} ${place}`, path)
    }
  }
  return [...own].flatMap(([place, path]) => {
    const count = (seen.get(place) ?? 0) + 1
    seen.set(place, count)
    return count > VECTORS_PER_PLACE ? [] : [path]
  })
}

const partAt = (value: unknown, path: readonly string[]): unknown =>
  path.reduce((holder, name) => Reflect.get(Object(holder), name), value)

it('proves no more for a list of an odd length, in any format', async () => {
  const counts = { lists: 0, refused: 0, same: 0 }
  const wrong: string[] = []
  for (const { path, content } of corpusIn(['valid'])) {
    const places = listsIn(content)
    const truth = places.length === 0 ? null : await outcomeOf(content)
    if (truth) expect(truth, path).toHaveProperty('proven')
    for (const place of places) {
      counts.lists++
      for (const [what, make] of Object.entries(odd)) {
        const sent = changedAt(content, place, list => make(list as readonly unknown[]))
        const outcome = await outcomeOf(sent as Fields)
        if ('refused' in outcome) counts.refused++
        else if (isSame(outcome, truth)) counts.same++
        else
          wrong.push(`${path} ${place.join('.')} ${what}: ${'untyped' in outcome ? outcome.untyped : 'proves another'}`)
      }
    }
  }
  expect(wrong).toEqual([])
  expect(counts.lists).toBeGreaterThan(100)
  expect(counts.refused + counts.same).toBe(counts.lists * Object.keys(odd).length)
})

const isSame = (one: unknown, other: unknown): boolean => spell(one) === spell(other)
const spell = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? `${part}n` : part))
