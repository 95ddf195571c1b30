import { readFileSync } from 'node:fs'
import { build } from 'esbuild'
import { beforeAll, expect, it } from 'vitest'
import { type Bundle, measureBundles, publishedSizes } from './bench/bundles.ts'

let bundles: Record<string, Bundle>
beforeAll(async () => {
  bundles = await measureBundles()
})
const filesOf = (name: string): readonly string[] => {
  const files = bundles[name]?.files ?? []
  expect(files.length, name).toBeGreaterThan(0)
  return files
}

it('has the size of every bundle and entry point on the page of benchmarks, within 5 %', () => {
  const published = publishedSizes()
  expect([...published.keys()]).toEqual(Object.keys(bundles))
  const { exports } = JSON.parse(readFileSync('package.json', 'utf8'))
  const doors = Object.keys(exports).filter(door => !door.endsWith('.json'))
  for (const door of doors)
    expect(published.has(door === '.' ? 'rollup-state-proof' : door.replace('.', '…')), door).toBe(true)
  const isOff = (now: number, then: number) => Math.abs(now - then) > Math.max(100, then / 20)
  const stale = Object.entries(bundles).flatMap(([name, { minified, gzipped }]) => {
    const [then, thenGzipped] = published.get(name) ?? [0, 0]
    return isOff(minified, then) || isOff(gzipped, thenGzipped)
      ? [`${name}: ${minified} bytes, ${gzipped} gzipped; the page has ${then} and ${thenGzipped}`]
      : []
  })
  expect(stale, 'with a good reason, run npm run sizes -- --write').toEqual([])
})

it('bundles only the kernel of the scheme in use', () => {
  const kernelsIn = (name: string) => filesOf(name).filter(file => file.endsWith('/generated.ts'))
  // It checks code, whose hash is keccak.
  expect(kernelsIn('rollup-state-proof')).toEqual(['src/verify/hash/keccak/generated.ts'])
  expect(kernelsIn('…/mimc')).toEqual(['src/verify/hash/mimc/generated.ts'])
  expect(kernelsIn('…/poseidon2')).toEqual(['src/verify/hash/poseidon2/generated.ts'])
  expect(kernelsIn('verifyProof and poseidon2')).toEqual(['src/verify/hash/poseidon2/generated.ts'])
  expect(kernelsIn('verifyProof and mimc')).toEqual(['src/verify/hash/mimc/generated.ts'])
})

it('bundles only what each import needs', () => {
  for (const scheme of ['mimc', 'poseidon2']) {
    const files = filesOf(`verifyProof and ${scheme}`)
    expect(files).toContain('src/verify/proof/verify.ts')
    expect(
      files.filter(
        file =>
          !/^src\/(base\/(json\/|(arguments|bytes|errors|options)\.ts$)|verify\/((field|hash|scheme|tree|proof)\/|verifier\/(verify-proof|empty-subtrees|remember-last|shared-nodes))|entry\/(mimc|poseidon2)\.ts$)/.test(
            file,
          ),
      ),
    ).toEqual([])
  }
  expect(filesOf('…/anchor').join()).not.toMatch(/src\/(devnet|client|cli)\/|(mimc|poseidon2)\/generated/)
  expect(filesOf('createRollupClient alone').join()).not.toMatch(/src\/(devnet|cli)\/|(mimc|poseidon2)\/generated/)
  // The cryptography of beacon chains is not part of other entry points, only the names of fields and, where a chain is followed, the
  // clock of its network.
  expect(filesOf('…/anchor').join()).not.toMatch(/src\/verify\/beacon\/(?!fields)|noble\/curves/)
  expect(filesOf('…/rpc').join()).not.toMatch(/src\/verify\/beacon\/(?!fields|clock)|noble\/curves/)
})

it('bundles nothing of an unused entry point', async () => {
  const contents = [...publishedSizes().keys()]
    .filter(name => name.startsWith('…/') && name !== '…/provider/evm')
    .map(name => `import './src/entry/${name.slice(2)}.ts'`)
    .concat("import './src/entry/index.ts'")
    .join('\n')
  const stdin = { contents, resolveDir: process.cwd(), loader: 'ts' } as const
  const { outputFiles } = await build({
    // Each import is unused: that is the point, and no reason for a warning.
    ...{ stdin, bundle: true, minify: true, format: 'esm', write: false, logLevel: 'error' },
    external: ['node:*'],
  })
  expect(outputFiles[0]?.text).toBe('')
})
