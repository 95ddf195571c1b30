import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

/** What a user's bundler makes of an import, in bytes. */
export interface Bundle {
  readonly minified: number
  readonly gzipped: number
  /** The project's files of which something is in it. */
  readonly files: readonly string[]
}

const verifyWith = (scheme: string): string =>
  `export { verifyProof } from './src/index.ts'; export { ${scheme} } from './src/${scheme}.ts'`

const entries = {
  'rollup-state-proof': "export * from './src/index.ts'",
  ...Object.fromEntries(
    ['mimc', 'poseidon2', 'anchor', 'beacon', 'bulk', 'world', 'rpc', 'provider', 'service'].map(door => [
      `…/${door}`,
      `export * from './src/${door}.ts'`,
    ]),
  ),
  'verifyProof and poseidon2': verifyWith('poseidon2'),
  'verifyProof and mimc': verifyWith('mimc'),
  'mappingSlot alone': "export { mappingSlot } from './src/anchor.ts'",
  'createClient alone': "export { createClient } from './src/rpc.ts'",
}

/** Every door alone, with all that it needs; what verifying with one scheme takes; and single exports. */
export async function measureBundles(): Promise<Record<string, Bundle>> {
  const bundles: Record<string, Bundle> = {}
  for (const [name, contents] of Object.entries(entries)) {
    const { outputFiles, metafile } = await build({
      stdin: { contents, resolveDir: process.cwd(), loader: 'ts' },
      ...{ bundle: true, minify: true, format: 'esm', target: 'es2022', write: false, metafile: true },
      external: ['node:*', '@ethereumjs/evm', '@ethereumjs/common', '@ethereumjs/util'],
    })
    const code = outputFiles[0]?.contents ?? new Uint8Array()
    const inputs = Object.values(metafile.outputs)[0]?.inputs ?? {}
    const files = Object.keys(inputs).filter(file => (inputs[file]?.bytesInOutput ?? 0) > 0)
    bundles[name] = { minified: code.length, gzipped: gzipSync(code, { level: 9 }).length, files }
  }
  return bundles
}
