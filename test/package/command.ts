import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type BuildOptions, build, type Plugin } from 'esbuild'

const shared = {
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'es2022',
  packages: 'external',
  metafile: true,
} as const satisfies BuildOptions

/**
 * Replaces the modules of the command in `dist` by bundles, which start faster than a file per module, and removes the other
 * modules that the command alone uses.
 */
export async function bundleCommand(dist: string): Promise<void> {
  const command = await build({
    ...shared,
    entryPoints: ['src/cli/main.ts', 'src/cli/audit/worker.ts'],
    outdir: `${dist}/cli`,
    ...{ entryNames: '[name]', minify: true, write: false },
    // Only `serve` uses these, and nobody waits for it.
    plugins: [
      external(/\/entry\/service(?:\/\w+)?\.ts$/, path => path.replace(/^.*\/(entry\/service[/.].*)ts$/, '../$1js')),
    ],
  })
  const library = await build({
    ...shared,
    entryPoints: doors(),
    ...{ outdir: dist, write: false, logLevel: 'error' },
    plugins: [external(/\.wasm$/, path => path)],
  })
  for (const file of Object.keys(command.metafile.inputs)) {
    if (file in library.metafile.inputs) continue
    const stem = file.replace(/^src(.*)\.ts$/, `${dist}$1`)
    for (const ending of ['.js', '.js.map', '.d.ts']) rmSync(`${stem}${ending}`, { force: true })
  }
  for (const { path, contents } of command.outputFiles) writeFileSync(path, contents)
  chmodSync(`${dist}/cli/main.js`, 0o755)
}

/** The source files of what the package exports. */
function doors(): string[] {
  const { exports } = JSON.parse(readFileSync('package.json', 'utf8'))
  const targets = Object.values<object>(exports).flatMap(door => Object.values(door))
  return targets.flatMap(target => /^\.\/dist(\/.*)\.js$/.exec(target)?.[1] ?? []).map(name => `src${name}.ts`)
}

/** Leaves imports outside of the bundle. @param toTarget the path to write in place of the one in the source */
const external = (filter: RegExp, toTarget: (path: string) => string): Plugin => ({
  name: 'external',
  setup: ({ onResolve }) =>
    onResolve({ filter }, ({ path, kind }) =>
      kind === 'entry-point' ? undefined : { path: toTarget(path), external: true },
    ),
})
