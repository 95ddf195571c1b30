import { existsSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { sourceFiles } from '../sources.ts'

/** Checks the table of bounds in `docs/bounds.md`. */
const ROW = /^\| .+ \| ([\d,]+)(?: (\w+))? \| `(\w+)` \| \[([\w/-]+)\]\(\.\.\/(test\/[\w/-]+\.test\.ts)\) \|$/gm
const UNITS: Readonly<Record<string, number>> = { '': 1, bytes: 1, KiB: 2 ** 10, MiB: 2 ** 20, ms: 1, s: 1000 }
/** A table for each file. */
const sections = readFileSync('docs/bounds.md', 'utf8').split('\n## `').slice(1)
const rows = sections.flatMap(section =>
  [...section.matchAll(ROW)].map(([, digits = '', unit = '', name = '', tests = '', path = '']) => {
    return { digits, unit, name, file: section.slice(0, section.indexOf('`')), tests, path }
  }),
)

it('states the value of each bound', async () => {
  expect(rows.length).toBeGreaterThan(30)
  for (const { digits, unit, name, file } of rows) {
    const constants: Record<string, unknown> = await import(`../../${file}`)
    expect(Number(constants[name]), `${name} in ${file}`).toBe(Number(digits.replaceAll(',', '')) * (UNITS[unit] ?? 0))
  }
})

it('names for each bound the tests that fail without it', () => {
  // Without the two lines of each head.
  const lines = sections.flatMap(section =>
    section
      .split('\n')
      .filter(line => line.startsWith('|'))
      .slice(2),
  )
  expect(lines).toHaveLength(rows.length)
  expect(rows.filter(({ tests, path }) => path !== `test/${tests}.test.ts` || !existsSync(path))).toEqual([])
})

it('names the bounds of every layer', () => {
  const files = sourceFiles().map(file => `src/${file}`)
  const named = new Set(rows.map(({ file }) => file))
  expect(files.filter(file => file.endsWith('/limits.ts') && !named.has(file))).toEqual([])
})
