import { readFileSync } from 'node:fs'
import { build } from 'esbuild'
import { beforeAll, expect, it } from 'vitest'
import { type Bundle, measureBundles } from './bench/bundles.ts'

/** The maximum size of each import, in bytes, minified and gzipped: what it had once, and 5 %. Raise a limit only for good reason. */
const limits: Readonly<Record<string, readonly [minified: number, gzipped: number]>> = {
  'rollup-state-proof': [36_600, 15_100],
  '…/mimc': [15_700, 8_100],
  '…/poseidon2': [19_900, 7_600],
  '…/anchor': [65_200, 24_500],
  '…/beacon': [102_500, 37_800],
  '…/blocks': [116_100, 43_800],
  '…/messages': [47_400, 18_600],
  '…/transition': [22_000, 9_000],
  '…/bulk': [102_000, 40_500],
  '…/world': [27_500, 11_600],
  '…/rpc': [162_700, 61_100],
  // Without the EVM, which is imported on first use.
  '…/provider': [116_100, 45_300],
  '…/provider/evm': [200, 200],
  // Without the curve, which is imported on the first request to the beacon API.
  '…/service': [127_000, 49_500],
  '…/service/demo': [85_600, 33_700],
  'verifyProof and poseidon2': [37_900, 15_100],
  'verifyProof and mimc': [31_900, 14_900],
  'mappingSlot alone': [15_600, 7_100],
  'createRollupClient alone': [71_200, 28_300],
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

it('keeps every bundle and entry point within its limits', () => {
  expect(Object.keys(limits).sort()).toEqual(Object.keys(bundles).sort())
  const { exports } = JSON.parse(readFileSync('package.json', 'utf8'))
  const doors = Object.keys(exports).filter(door => !door.endsWith('.json'))
  const names = doors.map(door => (door === '.' ? 'rollup-state-proof' : door.replace('.', '…')))
  for (const name of names) expect(Object.keys(limits)).toContain(name)
  const tooLarge = Object.entries(bundles).filter(([name, { minified, gzipped }]) => {
    const [most = 0, mostGzipped = 0] = limits[name] ?? []
    return minified > most || gzipped > mostGzipped
  })
  expect(tooLarge.map(([name, { minified, gzipped }]) => ({ name, minified, gzipped }))).toEqual([])
})

it('bundles only the kernel of the scheme in use', () => {
  const kernelsIn = (name: string) => filesOf(name).filter(file => file.endsWith('/generated.ts'))
  // It checks code, whose hash is keccak.
  expect(kernelsIn('rollup-state-proof')).toEqual(['src/hash/keccak/generated.ts'])
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
          !/^src\/((field|hash|json|scheme|tree|proof)\/|verifier\/(verify-proof|empty-subtrees|hash-unknown|remember-last|shared-nodes)|(arguments|bytes|errors|mimc|options|poseidon2)\.ts$)/.test(
            file,
          ),
      ),
    ).toEqual([])
  }
  expect(filesOf('…/anchor').join()).not.toMatch(/src\/(world|rpc|cli)\/|(mimc|poseidon2)\/generated/)
  expect(filesOf('…/bulk').join()).not.toMatch(
    /src\/(world|rpc|service|cli)\/|src\/bulk\/(?!audit\/(record|lines|read-lines)|limits)/,
  )
  expect(filesOf('createRollupClient alone').join()).not.toMatch(
    /src\/(world|anchor\/|cli|rpc\/service)\/|(mimc|poseidon2)\/generated/,
  )
  // The cryptography of beacon chains is not part of other entry points, only the names of fields and the clock.
  for (const name of ['…/anchor', '…/rpc']) {
    expect(filesOf(name).join(), name).not.toMatch(/src\/beacon\/(?!fields|clock)|noble\/curves/)
  }
})

it('bundles nothing of an unused entry point', async () => {
  const contents = Object.keys(limits)
    .filter(name => name.startsWith('…/') && name !== '…/provider/evm')
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
