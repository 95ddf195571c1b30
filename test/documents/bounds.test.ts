import { existsSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { sourceFiles } from '../sources.ts'

/** Checks the lists of bounds in `docs/bounds.md`. */
const BOUND = /`([A-Z][A-Z0-9_]+)`, ([\d,]*\d)(?: (bytes|KiB|MiB|ms|s)\b)?/g
/** Each list begins with the test of its bounds. */
const TEST = /^\[([\w/-]+)\]\(\.\.\/(test\/[\w/-]+\.test\.ts)\)(?=[:\n])/
const UNITS: Readonly<Record<string, number>> = { '': 1, bytes: 1, KiB: 2 ** 10, MiB: 2 ** 20, ms: 1, s: 1000 }
/** A list for each file. */
const sections = readFileSync('docs/bounds.md', 'utf8').split('\n## `').slice(1)
const lists = sections.flatMap(section => {
  const [head = '', ...tests] = section.split('\n- ')
  return tests.map(text => ({ text, file: head.slice(0, head.indexOf('`')) }))
})
const rows = lists.flatMap(({ text, file }) =>
  [...text.replace(/\n +/g, ' ').matchAll(BOUND)].map(([, name = '', digits = '', unit = '']) => {
    return { name, digits, unit, file }
  }),
)

it('states the value of each bound', async () => {
  expect(rows.length).toBeGreaterThan(120)
  for (const { digits, unit, name, file } of rows) {
    const constants: Record<string, unknown> = await import(/* @vite-ignore */ `../../${file}`)
    expect(Number(constants[name]), `${name} in ${file}`).toBe(Number(digits.replaceAll(',', '')) * (UNITS[unit] ?? 0))
  }
  const named = lists.flatMap(({ text }) => text.match(/`[A-Z][A-Z0-9_]+`/g) ?? [])
  expect(named).toHaveLength(rows.length)
})

it('names for each bound the test that fails without it', () => {
  for (const { text } of lists) {
    const [, name = '', path = ''] = TEST.exec(text) ?? []
    expect(path, text).toBe(`test/${name}.test.ts`)
    expect(existsSync(path), path).toBe(true)
    expect(text).toMatch(/`[A-Z][A-Z0-9_]+`, \d/)
  }
  for (const section of sections) expect(section.split('\n- ')[0]).toMatch(/^[\w/.-]+`\n$/)
})

it('names the bounds of every layer', () => {
  const files = sourceFiles().map(file => `src/${file}`)
  const named = new Set(rows.map(({ file }) => file))
  expect(files.filter(file => file.endsWith('/limits.ts') && !named.has(file))).toEqual([])
})
