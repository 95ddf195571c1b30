import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import ts from 'typescript'
import { afterAll, expect, it, vi } from 'vitest'

/**
 * Every TypeScript block of the README, the documentation and the doc comments is compiled and run. Where a line that
 * logs ends in a comment, that is what it must print.
 */
const FOLDER = resolve('test/.examples')
rmSync(FOLDER, { recursive: true, force: true })
mkdirSync(FOLDER, { recursive: true })
afterAll(() => rmSync(FOLDER, { recursive: true, force: true }))

const listFiles = (folder: string, extension: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith(extension))
    .map(file => join(folder, file))

function blocksOf(file: string): string[] {
  const isSource = file.endsWith('.ts')
  const text = readFileSync(file, 'utf8')
  const plain = isSource ? text.replace(/^ *\* ?/gm, '') : text
  return [...plain.matchAll(/^```ts\n(.*?)^```/gms)].map(match => match[1] ?? '')
}

const sources = ['README.md', ...listFiles('docs', '.md'), ...listFiles('src', '.ts')]
const examples = sources.flatMap(source =>
  blocksOf(source).map((code, index) => {
    const path = join(FOLDER, `${source.replace(/[^a-zA-Z0-9]/g, '-')}-${index}.ts`)
    const local = code.replaceAll(/'rollup-state-proof(?:\/([a-z0-9]+))?'/g, (_, door = 'index') => {
      return `'../../src/${door}.ts'`
    })
    writeFileSync(path, `${local}\nexport {}\n`)
    return { source, index, code, path }
  }),
)

it('finds examples', () => expect(examples.length).toBeGreaterThan(2))

it('compiles them', () => {
  const { config } = ts.readConfigFile('tsconfig.json', name => readFileSync(name, 'utf8'))
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: [] }, ts.sys, '.')
  const program = ts.createProgram(
    examples.map(example => example.path),
    { ...options, noUnusedLocals: false },
  )
  const problems = ts.getPreEmitDiagnostics(program).map(problem => {
    return `${problem.file?.fileName}: ${ts.flattenDiagnosticMessageText(problem.messageText, ' ')}`
  })
  expect(problems).toEqual([])
})

it.each(examples)('runs example $index of $source', async ({ code, path }) => {
  const logged: string[] = []
  const log = vi.spyOn(console, 'log').mockImplementation((...values) => {
    logged.push(values.map(value => (typeof value === 'bigint' ? `${value}n` : String(value))).join(' '))
  })
  await import(path)
  log.mockRestore()
  const expected = [...code.matchAll(/console\.log\(.*\) \/\/ (.*)$/gm)].map(match => match[1])
  if (expected.length > 0) expect(logged).toEqual(expected)
})
