import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { afterAll, expect, it, vi } from 'vitest'
import { sourceFiles } from '../sources.ts'
import { blocksOf, listDocuments } from './blocks.ts'

/**
 * Compiles and runs every TypeScript block of the documents and doc comments. If a line that logs ends in a comment, it must
 * print that. The JavaScript programs of the guides are compiled here, and run by `guides.test.ts`.
 */
const FOLDER = resolve('test/.examples')
rmSync(FOLDER, { recursive: true, force: true })
mkdirSync(FOLDER, { recursive: true })
afterAll(() => rmSync(FOLDER, { recursive: true, force: true }))

/** Replaces imports of the package with local ones, for a file `depth` folders below `test/`. */
const toLocal = (code: string, depth: number) =>
  code.replaceAll(
    /\b(from |import |import\()'rollup-state-proof(-devnet)?(?:\/([a-z0-9/]+))?'/g,
    (_, verb, devnet, door = 'index') => {
      return `${verb}'${'../'.repeat(depth + 1)}src/${devnet ? 'devnet' : 'entry'}/${door}.ts'`
    },
  )

const sources = [...listDocuments(), ...sourceFiles().map(file => join('src', file))]
const examples = sources.flatMap(source =>
  blocksOf(source)
    .filter(({ language }) => language === 'ts')
    .map(({ text: code }, index) => {
      const path = join(FOLDER, `${source.replace(/[^a-zA-Z0-9]/g, '-')}-${index}.ts`)
      writeFileSync(path, `${toLocal(code, 1)}\nexport {}\n`)
      return { source, index, code, path }
    }),
)

/** The programs of the guides: `guides.test.ts` runs them. */
const programs = sources.flatMap(source =>
  blocksOf(source)
    .filter(({ language }) => language === 'js')
    .map(({ text: code }) => {
      const folder = join(FOLDER, basename(source, '.md'))
      mkdirSync(folder, { recursive: true })
      const path = join(folder, /^\/\/ (\S+)/.exec(code)?.[1] ?? 'unnamed')
      writeFileSync(path, toLocal(code, 2))
      return path
    }),
)

it('finds examples', () => {
  expect(examples.length).toBeGreaterThan(40)
  expect(programs.length).toBeGreaterThan(4)
})

it('compiles the examples', () => {
  const { lib }: { lib: string[] } = JSON.parse(readFileSync('tsconfig.json', 'utf8')).compilerOptions
  const config = {
    extends: resolve('tsconfig.json'),
    compilerOptions: {
      incremental: false,
      tsBuildInfoFile: null,
      noUnusedLocals: false,
      allowJs: true,
      checkJs: true,
      // The types of viem refer to browser types.
      lib: [...lib, 'dom'],
    },
    include: [],
    files: [...examples.map(({ path }) => path), ...programs],
  }
  const path = join(FOLDER, 'tsconfig.json')
  writeFileSync(path, JSON.stringify(config))
  const { stdout, status } = spawnSync('npx', ['--no-install', 'tsc', '-p', path, '--pretty', 'false'], {
    encoding: 'utf8',
  })
  expect(stdout).toBe('')
  expect(status).toBe(0)
})

it.each(examples)('runs example $index of $source', async ({ code, path }) => {
  const logged: string[] = []
  const log = vi.spyOn(console, 'log').mockImplementation((...values) => {
    logged.push(values.map(value => (typeof value === 'bigint' ? `${value}n` : String(value))).join(' '))
  })
  // Without an output, it has to run to its end.
  expect(await import(path)).toBeDefined()
  log.mockRestore()
  const expected = [...code.matchAll(/console\.log\(.*\) \/\/ (.*)$/gm)].map(match => match[1])
  if (expected.length > 0) expect(logged).toEqual(expected)
})
