import { cpSync, rmSync } from 'node:fs'
import { build } from 'esbuild'
import { sourceFiles } from '../sources.ts'
import { bundleCommand, bundleDevnet } from './bundle.ts'

const HOME = 'node_modules/.cache/packages'
/** The packages as npm installs them, for tests that start them as separate processes. */
export const PACKAGE = `${HOME}/rollup-state-proof`
export const COMMAND_PACKAGE = `${HOME}/rollup-state-proof-cli`
export const DEVNET_PACKAGE = `${HOME}/rollup-state-proof-devnet`
export const PROGRAM = `${COMMAND_PACKAGE}/main.js`

/** Runs before all tests. Writes the same files as `npm run build`, without types, in a tenth of the time. */
export async function setup(): Promise<void> {
  rmSync(HOME, { recursive: true, force: true })
  await writeModules(`${PACKAGE}/dist`)
  cpSync('package.json', `${PACKAGE}/package.json`)
  await bundleCommand(COMMAND_PACKAGE)
  for (const file of ['main.js', 'package.json']) cpSync(`src/cli/${file}`, `${COMMAND_PACKAGE}/${file}`)
  await bundleDevnet(DEVNET_PACKAGE)
  cpSync('src/devnet/package.json', `${DEVNET_PACKAGE}/package.json`)
}

/** The wings of the library. */
const WINGS = /^(base|verify|client|provider|entry)\b(?!\/hash\/assembly)/

/** Writes each module of the library as a file, as the compiler does. */
export async function writeModules(dist: string): Promise<void> {
  await build({
    entryPoints: sourceFiles()
      .filter(file => WINGS.test(file))
      .map(file => `src/${file}`),
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
