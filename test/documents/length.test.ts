import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { listDocuments } from './blocks.ts'

/** Words, with those of code and the bars of tables, as `wc -w` counts them. A page that is longer is not read to its end. */
const OF_A_PAGE = 2_000
const OF_ALL_PAGES = 35_000
/** In a catalogue, one looks up a line. */
const CATALOGUES = ['docs/checks.md']

const documents = listDocuments().filter(file => /^(docs\/.+|README|CONTRIBUTING|CHANGELOG)/.test(file))
const lengths = new Map(documents.map(file => [file, readFileSync(file, 'utf8').split(/\s+/).filter(Boolean).length]))

it('has no page that is too long to be read', () => {
  expect(CATALOGUES.filter(file => !lengths.has(file))).toEqual([])
  const pages = [...lengths].filter(([file]) => !CATALOGUES.includes(file))
  expect(pages.length).toBeGreaterThan(25)
  expect(pages.filter(([, words]) => words > OF_A_PAGE)).toEqual([])
})

it('is short as a whole', () => {
  const total = [...lengths.values()].reduce((sum, words) => sum + words, 0)
  const [longest, words] = [...lengths].reduce((one, other) => (other[1] > one[1] ? other : one))
  console.info(`${lengths.size} documents have ${total} words; the longest, ${longest}, has ${words}`)
  expect(total).toBeLessThanOrEqual(OF_ALL_PAGES)
})
