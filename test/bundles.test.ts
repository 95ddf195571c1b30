import { readFileSync } from 'node:fs'
import { build } from 'esbuild'
import { beforeAll, expect, it } from 'vitest'
import { type Bundle, measureBundles } from './bench/bundles.ts'

/** The maximum size of an import in bytes, about a tenth above the actual size. Raise a budget only for good reason. */
const budgets: Readonly<Record<string, { minified: number; gzipped: number }>> = {
  'rollup-state-proof': { minified: 27_000, gzipped: 10_000 },
  '…/mimc': { minified: 17_000, gzipped: 9_000 },
  '…/poseidon2': { minified: 21_500, gzipped: 8_500 },
  '…/anchor': { minified: 49_500, gzipped: 18_000 },
  '…/beacon': { minified: 101_000, gzipped: 37_000 },
  '…/bulk': { minified: 86_500, gzipped: 34_500 },
  '…/world': { minified: 19_000, gzipped: 8_000 },
  '…/rpc': { minified: 102_000, gzipped: 37_000 },
  // Excludes the EVM, which is imported on first use.
  '…/provider': { minified: 80_000, gzipped: 30_000 },
  // Excludes the curve, which is imported on the first beacon API request.
  '…/service': { minified: 64_000, gzipped: 25_000 },
  'verifyProof and poseidon2': { minified: 34_500, gzipped: 13_500 },
  'verifyProof and mimc': { minified: 28_500, gzipped: 13_500 },
  'mappingSlot alone': { minified: 9_500, gzipped: 4_500 },
  'createClient alone': { minified: 32_000, gzipped: 12_500 },
}

let bundles: Record<string, Bundle>
beforeAll(async () => {
  bundles = await measureBundles()
})
const filesOf = (name: string): readonly string[] => {
  const files = bundles[name]?.files ?? []
  expect(files.length, name).toBeGreaterThan(0)
  return files
}

it('keeps every bundle and entry point within its budget', () => {
  expect(Object.keys(budgets).sort()).toEqual(Object.keys(bundles).sort())
  const { exports } = JSON.parse(readFileSync('package.json', 'utf8'))
  const doors = Object.keys(exports).filter(door => door !== './package.json')
  const names = doors.map(door => (door === '.' ? 'rollup-state-proof' : door.replace('.', '…')))
  for (const name of names) expect(Object.keys(budgets)).toContain(name)
  for (const [name, { minified, gzipped }] of Object.entries(budgets)) {
    expect(bundles[name]?.minified, name).toBeLessThanOrEqual(minified)
    expect(bundles[name]?.gzipped, name).toBeLessThanOrEqual(gzipped)
  }
})

it('bundles only the kernel of the scheme in use', () => {
  const kernelsIn = (name: string) => filesOf(name).filter(file => file.endsWith('/generated.ts'))
  expect(kernelsIn('rollup-state-proof')).toEqual([])
  expect(kernelsIn('…/mimc')).toEqual(['src/hash/mimc/generated.ts'])
  expect(kernelsIn('…/poseidon2')).toEqual(['src/hash/poseidon2/generated.ts'])
  expect(kernelsIn('verifyProof and poseidon2')).toEqual(['src/hash/poseidon2/generated.ts'])
  expect(kernelsIn('verifyProof and mimc')).toEqual(['src/hash/mimc/generated.ts'])
})

it('bundles only what each import needs', () => {
  for (const scheme of ['mimc', 'poseidon2']) {
    const files = filesOf(`verifyProof and ${scheme}`)
    expect(files).toContain('src/proof/verify.ts')
    expect(
      files.filter(
        file =>
          !/^src\/((field|hash|json|scheme|tree|proof)\/|verifier\/(verify-proof|empty-subtrees|hash-unknown)|(bytes|errors)\.ts$)/.test(
            file,
          ),
      ),
    ).toEqual([])
  }
  expect(filesOf('…/anchor').join()).not.toMatch(/src\/(world|rpc|cli)\/|generated/)
  expect(filesOf('…/bulk').join()).not.toMatch(/src\/(world|rpc|service|cli)\/|src\/bulk\/(?!audit\/record)/)
  expect(filesOf('createClient alone').join()).not.toMatch(/src\/(world|anchor\/|cli|rpc\/service)\/|generated/)
  // The cryptography of beacon chains is not part of other entry points.
  for (const name of ['…/anchor', '…/rpc']) {
    expect(filesOf(name).join(), name).not.toMatch(/src\/beacon\/|noble\/curves/)
  }
})

it('bundles nothing of an unused entry point', async () => {
  const contents = Object.keys(budgets)
    .filter(name => name.startsWith('…/'))
    .map(name => `import './src/${name.slice(2)}.ts'`)
    .concat("import './src/index.ts'")
    .join('\n')
  const stdin = { contents, resolveDir: process.cwd(), loader: 'ts' } as const
  const { outputFiles } = await build({
    ...{ stdin, bundle: true, minify: true, format: 'esm', write: false },
    external: ['node:*'],
  })
  expect(outputFiles[0]?.text).toBe('')
})
