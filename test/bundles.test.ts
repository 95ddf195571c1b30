import { readFileSync } from 'node:fs'
import { build } from 'esbuild'
import { beforeAll, expect, it } from 'vitest'
import { type Bundle, measureBundles } from './bench/bundles.ts'

/** What an import may cost, in bytes: about a tenth more than it does. Raise one only for something that is worth it. */
const budgets: Readonly<Record<string, { minified: number; gzipped: number }>> = {
  'rollup-state-proof': { minified: 24_500, gzipped: 9_500 },
  '…/mimc': { minified: 23_500, gzipped: 11_500 },
  '…/poseidon2': { minified: 21_000, gzipped: 8_000 },
  '…/anchor': { minified: 48_000, gzipped: 17_500 },
  '…/beacon': { minified: 95_000, gzipped: 36_000 },
  '…/bulk': { minified: 95_000, gzipped: 40_000 },
  '…/world': { minified: 23_500, gzipped: 9_500 },
  '…/rpc': { minified: 65_000, gzipped: 24_000 },
  // Without the EVM, which is imported on first use.
  '…/provider': { minified: 80_000, gzipped: 30_000 },
  '…/service': { minified: 47_500, gzipped: 18_500 },
  'verifyProof and poseidon2': { minified: 40_500, gzipped: 15_500 },
  'verifyProof and mimc': { minified: 36_500, gzipped: 16_500 },
  'mappingSlot alone': { minified: 14_500, gzipped: 6_000 },
  'createClient alone': { minified: 29_000, gzipped: 11_500 },
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

it('has a budget for every bundle and every door, and keeps it', () => {
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

it('bundles the kernel of the scheme in use and no other', () => {
  const kernelsIn = (name: string) => filesOf(name).filter(file => file.endsWith('/generated.ts'))
  expect(kernelsIn('rollup-state-proof')).toEqual([])
  expect(kernelsIn('…/mimc')).toEqual(['src/hash/mimc/generated.ts'])
  expect(kernelsIn('…/poseidon2')).toEqual(['src/hash/poseidon2/generated.ts'])
  expect(kernelsIn('verifyProof and poseidon2')).toEqual(['src/hash/poseidon2/generated.ts'])
  expect(kernelsIn('verifyProof and mimc')).toEqual(['src/hash/mimc/generated.ts'])
})

it('verifies without a dependency, a memory, the anchor, a world, an endpoint or the command line', () => {
  for (const scheme of ['mimc', 'poseidon2']) {
    const files = filesOf(`verifyProof and ${scheme}`)
    expect(files).toContain('src/proof/verify.ts')
    expect(
      files.filter(file => !/^src\/((field|hash|scheme|tree|proof)\/|(bytes|errors|json)\.ts$)/.test(file)),
    ).toEqual([])
  }
  expect(filesOf('…/anchor').join()).not.toMatch(/src\/(world|rpc|cli)\/|generated/)
  expect(filesOf('…/bulk').join()).not.toMatch(/src\/(world|rpc|service|cli)\/|src\/bulk\/(?!record)/)
  expect(filesOf('createClient alone').join()).not.toMatch(/src\/(world|anchor|cli|rpc\/service)\/|generated/)
})

it('leaves nothing of a door of which nothing is used', async () => {
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
