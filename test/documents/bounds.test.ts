import { existsSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { sourceFiles } from '../sources.ts'

/** Checks the lists of bounds in `docs/bounds.md`. */
const ROW = /^ {2}- `(\w+)`, ([\d,]+)(?: (\w+))?: .+$/
/** The tests of the rows below. */
const TESTS = /^- \[([\w/-]+)\]\(\.\.\/(test\/[\w/-]+\.test\.ts)\)$/
const UNITS: Readonly<Record<string, number>> = { '': 1, bytes: 1, KiB: 2 ** 10, MiB: 2 ** 20, ms: 1, s: 1000 }
/** A list for each file. */
const sections = readFileSync('docs/bounds.md', 'utf8').split('\n## `').slice(1)
const lines = sections.flatMap(section => {
  const [head = '', ...list] = section.split('\n').filter(line => line !== '')
  return list.map(line => ({ line, file: head.slice(0, head.indexOf('`')) }))
})
const tests = lines.map(({ line }) => TESTS.exec(line)).filter(match => match !== null)
const rows = lines.flatMap(({ line, file }) => {
  const [, name, digits = '', unit = ''] = ROW.exec(line) ?? []
  return name === undefined ? [] : [{ name, digits, unit, file }]
})

it('states the value of each bound', async () => {
  expect(rows.length).toBeGreaterThan(130)
  for (const { digits, unit, name, file } of rows) {
    const constants: Record<string, unknown> = await import(/* @vite-ignore */ `../../${file}`)
    expect(Number(constants[name]), `${name} in ${file}`).toBe(Number(digits.replaceAll(',', '')) * (UNITS[unit] ?? 0))
  }
})

it('names for each bound the tests that fail without it', () => {
  expect(lines).toHaveLength(rows.length + tests.length)
  expect(tests.filter(([, name, path = '']) => path !== `test/${name}.test.ts` || !existsSync(path))).toEqual([])
  for (const section of sections) expect(section.split('\n- ')[0]).toMatch(/^[\w/.-]+`\n$/)
})

it('names the bounds of every layer', () => {
  const files = sourceFiles().map(file => `src/${file}`)
  const named = new Set(rows.map(({ file }) => file))
  expect(files.filter(file => file.endsWith('/limits.ts') && !named.has(file))).toEqual([])
})
