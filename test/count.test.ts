import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path/posix'
import ts from 'typescript'
import { expect, it } from 'vitest'
import { countAll, countLists, RUNNING_PATH, TRUSTED_PATH } from './tools/count.ts'

/** The maximum number of lines, round constants included. Raise it only for a new check. */
const LIMIT = 1000

/** The files that this one imports, without what the codes of errors mean, of which only the names are used. */
const importsOf = (file: string): string[] =>
  ts
    .preProcessFile(readFileSync(file, 'utf8'))
    .importedFiles.map(({ fileName }) => join(dirname(file), fileName))
    .filter(imported => imported !== 'src/base/error-meanings.ts')

it('keeps the trusted path short', () => {
  const total = countAll(TRUSTED_PATH)
  expect(total).toBeGreaterThan(500)
  expect(total).toBeLessThanOrEqual(LIMIT)
})

it('counts each file before the files that use it, and leaves out only the choice of the hasher', () => {
  const leftOut = TRUSTED_PATH.flatMap((file, index) =>
    importsOf(file).filter(imported => !TRUSTED_PATH.slice(0, index).includes(imported)),
  )
  const choices = ['mimc', 'poseidon2'].map(name => `src/verify/hash/${name}/kernel.ts`)
  expect(leftOut).toEqual(choices)
  // As the page says, they stand in its second list.
  expect(RUNNING_PATH).toEqual(expect.arrayContaining(choices))
})

it('counts everything that runs, and leaves out only the fallbacks and the compiled kernels', () => {
  const leftOut = RUNNING_PATH.flatMap(importsOf).filter(imported => !RUNNING_PATH.includes(imported))
  const perScheme = ['mimc', 'poseidon2'].flatMap(scheme => [
    `src/verify/hash/${scheme}/generated.ts`,
    `src/verify/hash/${scheme}/plain.ts`,
  ])
  expect(leftOut.sort()).toEqual(perScheme)
  expect(RUNNING_PATH).toContain('src/verify/verifier/verify-proof.ts')
  for (const scheme of ['mimc', 'poseidon2']) expect(RUNNING_PATH).toContain(`src/verify/hash/assembly/${scheme}.ts`)
})

it('has its line counts in docs/scrutiny.md', () => {
  const page = readFileSync('docs/scrutiny.md', 'utf8')
  for (const list of countLists()) expect(page).toContain(list)
})
