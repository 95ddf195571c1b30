import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { METHODS, withLists } from '../tools/methods.ts'

const page = readFileSync('docs/methods.md', 'utf8')

it('has the lists of methods that the code has', () => {
  expect(withLists(page)).toBe(page)
  const rows = page
    .split('\n')
    .filter(line => /^- `(?:eth|net|web3|debug|rollup|linea|personal|txpool|trace|admin|rpc)_\w+`/.test(line))
  const listed = rows.flatMap(row => row.split(': ')[0]?.match(/`\w+`/g) ?? [])
  for (const method of Object.values(METHODS).flat()) expect(listed).toContain(`\`${method}\``)
})

it('has a place for each list', () => {
  expect(() => withLists(page.replace('<!-- refused -->', ''))).toThrow('no place')
})
