import { cpSync, readdirSync, rmSync } from 'node:fs'
import { build } from 'esbuild'
import { bundleCommand } from './command.ts'

/** The package as npm installs it, for tests that start it as a separate process. */
export const PACKAGE = 'node_modules/.cache/rollup-state-proof'
export const PROGRAM = `${PACKAGE}/dist/cli/main.js`

/** Runs before all tests. Writes the same files as `npm run build`, without types, in a tenth of the time. */
export async function setup(): Promise<void> {
  rmSync(PACKAGE, { recursive: true, force: true })
  await writeModules(`${PACKAGE}/dist`)
  await bundleCommand(`${PACKAGE}/dist`)
  cpSync('package.json', `${PACKAGE}/package.json`)
}

/** Writes each module as a file, as the compiler does. */
export async function writeModules(dist: string): Promise<void> {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).map(file => file.replaceAll('\\', '/'))
  const isPublished = (file: string) => file.endsWith('.ts') && !/^(site|verify\/hash\/assembly)\b/.test(file)
  await build({
    entryPoints: files.filter(isPublished).map(file => `src/${file}`),
    outdir: dist,
    outbase: 'src',
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'es2022',
    plugins: [
      {
        name: 'each file by itself',
        setup: ({ onResolve }) =>
          onResolve({ filter: /./ }, ({ path, kind }) =>
            kind === 'entry-point' ? undefined : { path: path.replace(/^(\..*)\.ts$/, '$1.js'), external: true },
          ),
      },
    ],
  })
}
