import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build, type Metafile } from 'esbuild'
import { header, PAGE, publish, readSection, row } from './page.ts'

/** The size of an import after bundling, in bytes. */
export interface Bundle {
  readonly minified: number
  readonly gzipped: number
  /** The project files that contribute code. */
  readonly files: readonly string[]
}

const verifyWith = (scheme: string): string =>
  `export { verifyProof } from './src/entry/index.ts'; export { ${scheme} } from './src/entry/${scheme}.ts'`

const { exports }: { exports: object } = JSON.parse(readFileSync('package.json', 'utf8'))
/** The entry points besides the first, without `./`. */
const doors = Object.keys(exports).flatMap(door => (/^\.\/(?!.*\.json$)/.test(door) ? [door.slice(2)] : []))

const entries = {
  'rollup-state-proof': "export * from './src/entry/index.ts'",
  ...Object.fromEntries(doors.map(door => [`…/${door}`, `export * from './src/entry/${door}.ts'`])),
  'verifyProof and poseidon2': verifyWith('poseidon2'),
  'verifyProof and mimc': verifyWith('mimc'),
  'mappingSlot alone': "export { mappingSlot } from './src/entry/index.ts'",
  'createRollupClient alone': "export { createRollupClient } from './src/entry/rpc.ts'",
}

/** Bundles every entry point with its dependencies, verification with one scheme, and single exports. */
export async function measureBundles(): Promise<Record<string, Bundle>> {
  const bundles: Record<string, Bundle> = {}
  for (const [name, contents] of Object.entries(entries)) {
    const { outputFiles, metafile } = await build({
      stdin: { contents, resolveDir: process.cwd(), loader: 'ts' },
      ...{ bundle: true, minify: true, format: 'esm', target: 'es2022', write: false, metafile: true },
      // Code imported on first use is in separate chunks, which are not counted.
      ...{ splitting: true, outdir: 'out' },
      external: ['node:*', '@ethereumjs/evm', '@ethereumjs/common', '@ethereumjs/util'],
    })
    const loaded = chunksLoaded(metafile)
    const codes = outputFiles
      .filter(({ path }) => loaded.has(relative(process.cwd(), path)))
      .map(({ contents }) => contents)
    const files = [...loaded].flatMap(chunk => {
      const inputs = metafile.outputs[chunk]?.inputs ?? {}
      return Object.keys(inputs).filter(file => (inputs[file]?.bytesInOutput ?? 0) > 0)
    })
    const sum = (lengths: readonly number[]) => lengths.reduce((total, length) => total + length, 0)
    bundles[name] = {
      minified: sum(codes.map(code => code.length)),
      // Compressed as one file, so that the bundler's split into chunks does not matter.
      gzipped: gzipSync(Buffer.concat(codes), { level: 9 }).length,
      files,
    }
  }
  return bundles
}

/** The entry and the chunks that it imports statically, by their names in the metafile. */
function chunksLoaded({ outputs }: Metafile): Set<string> {
  const loaded = new Set(Object.keys(outputs).filter(chunk => outputs[chunk]?.entryPoint === '<stdin>'))
  for (const chunk of loaded) {
    for (const { path, kind } of outputs[chunk]?.imports ?? []) {
      if (kind === 'import-statement' && path in outputs) loaded.add(path)
    }
  }
  return loaded
}

export function publishSizes(bundles: Readonly<Record<string, Bundle>>): void {
  const rows = Object.entries(bundles).map(([name, { minified, gzipped, files }]) => {
    const kernels = ['keccak', 'mimc', 'poseidon2'].filter(hash =>
      files.includes(`src/verify/hash/${hash}/generated.ts`),
    )
    return row(name, `${minified}`, `${gzipped}`, kernels.join(', ') || 'none')
  })
  publish('sizes', [...header('bundle, bytes', 'minified', 'gzipped', 'kernels'), ...rows])
}

/** The sizes on the page, by the names of the bundles. */
export function publishedSizes(): ReadonlyMap<string, readonly [minified: number, gzipped: number]> {
  const section = readSection(readFileSync(PAGE, 'utf8'), 'sizes')
  const rows = [...section.matchAll(/^\| ([^|]+) \| (\d+) \| (\d+) \|/gm)]
  return new Map(rows.map(([, name = '', minified, gzipped]) => [name, [Number(minified), Number(gzipped)]]))
}
