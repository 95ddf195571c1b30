import { readFileSync } from 'node:fs'
import { build } from 'esbuild'
import { beforeAll, expect, it } from 'vitest'
import { type Bundle, measureBundles } from './bench/bundles.ts'

/** The maximum size of each import, in bytes: minified, gzipped. Raise a limit only for good reason. */
const limits: Readonly<Record<string, readonly [minified: number, gzipped: number]>> = {
  'rollup-state-proof': [31_900, 12_500],
  '…/mimc': [14_900, 7_600],
  '…/poseidon2': [18_900, 7_200],
  '…/anchor': [59_100, 21_400],
  '…/beacon': [97_600, 36_000],
  '…/blocks': [107_700, 40_000],
  '…/messages': [43_500, 16_300],
  '…/transition': [21_700, 8_800],
  '…/bulk': [94_600, 37_500],
  '…/world': [23_200, 9_200],
  '…/rpc': [152_000, 56_300],
  // Without the EVM, which is imported on first use.
  '…/provider': [107_700, 41_300],
  '…/provider/evm': [300, 200],
  // Without the curve, which is imported on the first request to the beacon API.
  '…/service': [119_000, 45_300],
  '…/service/demo': [78_900, 30_300],
  'verifyProof and poseidon2': [36_000, 14_300],
  'verifyProof and mimc': [30_400, 14_100],
  'mappingSlot alone': [11_900, 5_000],
  'createRollupClient alone': [65_000, 25_100],
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
          !/^src\/((field|hash|json|scheme|tree|proof)\/|verifier\/(verify-proof|empty-subtrees|hash-unknown|remember-last|shared-nodes)|(arguments|bytes|errors|mimc|options|poseidon2)\.ts$)/.test(
            file,
          ),
      ),
    ).toEqual([])
  }
  expect(filesOf('…/anchor').join()).not.toMatch(/src\/(world|rpc|cli)\/|generated/)
  expect(filesOf('…/bulk').join()).not.toMatch(
    /src\/(world|rpc|service|cli)\/|src\/bulk\/(?!audit\/(record|lines|read-lines)|limits)/,
  )
  expect(filesOf('createRollupClient alone').join()).not.toMatch(/src\/(world|anchor\/|cli|rpc\/service)\/|generated/)
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
