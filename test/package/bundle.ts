import { type BuildOptions, build } from 'esbuild'

const shared = {
  bundle: true,
  splitting: true,
  entryNames: '[name]',
  format: 'esm',
  platform: 'node',
  target: 'es2022',
  packages: 'external',
} as const satisfies BuildOptions

/** The packages that a bundle imports, without the platform's. */
type Imported = ReadonlySet<string>

async function bundle(outdir: string, options: BuildOptions): Promise<Imported> {
  const { metafile } = await build({ ...shared, outdir, ...options, metafile: true })
  const imports = Object.values(metafile.outputs).flatMap(({ imports }) => imports)
  const names = imports.flatMap(({ path, external }) => (external && !path.startsWith('node:') ? [path] : []))
  return new Set(
    names.map(name =>
      name
        .split('/')
        .slice(0, name.startsWith('@') ? 2 : 1)
        .join('/'),
    ),
  )
}

/** Writes the command with all that it takes from the library, which starts faster than a file per module. */
export const bundleCommand = (home: string): Promise<Imported> =>
  bundle(`${home}/dist`, { entryPoints: ['src/cli/start.ts', 'src/cli/audit/worker.ts'], minify: true })

/** Writes the devnet, with all that it takes from the library. */
export const bundleDevnet = (home: string): Promise<Imported> =>
  bundle(`${home}/dist`, { entryPoints: ['src/devnet/index.ts'] })
