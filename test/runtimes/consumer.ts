import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build, type Metafile } from 'esbuild'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const FOLDERS = ['mimc', 'poseidon2', 'evidence'].flatMap(name => [`${name}/valid`, `${name}/invalid`])

/**
 * Fills an empty folder as a user would: the installed tarball, `console.js` (whose imports of the package the runtime
 * resolves), `bundled/` (for browsers and workerd), `workerd/` (bundled under workerd's own condition) and `corpus.json`.
 *
 * @returns the number of cases in the corpus
 */
export async function createConsumer(folder: string): Promise<number> {
  const npm = (cwd: string, ...args: string[]) => execFileSync('npm', args, { cwd, encoding: 'utf8' })
  const packed = npm(ROOT, 'pack', '--silent', '--pack-destination', folder)
  const tarball = packed.trim().split('\n').at(-1) ?? ''
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
  npm(folder, 'install', '--loglevel=error', `./${tarball}`)

  const common = { bundle: true, splitting: true, format: 'esm', target: 'es2022', metafile: true } as const
  const own = await build({
    ...common,
    absWorkingDir: ROOT,
    entryPoints: ['console', 'browser', 'workerd'].map(name => `test/runtimes/${name}.ts`),
    outdir: folder,
    packages: 'external',
    // Without the paths of tsconfig.json, which resolve the package's name to src/.
    tsconfigRaw: {},
  })
  expectInputsIn('test/', own.metafile)
  const bundle = async (entryPoints: string[], outdir: string, options: BuildOptions) => {
    const { metafile } = await build({
      ...{ ...common, absWorkingDir: folder, entryPoints, outdir, minify: true },
      ...options,
    })
    if (metafile === undefined) throw new Error('esbuild does not say what it bundled')
    expectInputsIn('(node_modules/|(browser|workerd)\\.js|(corpus|worker)-\\w+\\.js|chunk-\\w+\\.js)', metafile)
  }
  await bundle(['browser.js', 'workerd.js'], 'bundled', {})
  // As the tools of workerd do it: a module of WebAssembly stays one.
  await bundle(['workerd.js'], 'workerd', { conditions: ['workerd'], loader: { '.wasm': 'copy' } })

  const cases = FOLDERS.flatMap(path =>
    readdirSync(join(ROOT, 'vectors', path)).map(file => ({
      path: `${path}/${file}`,
      vector: JSON.parse(readFileSync(join(ROOT, 'vectors', path, file), 'utf8')),
    })),
  )
  writeFileSync(join(folder, 'corpus.json'), JSON.stringify(cases))
  return cases.length
}

/** Throws if a bundle contains files from outside `places`: the tests must run the tarball, not the checkout. */
function expectInputsIn(places: string, { inputs }: Metafile): void {
  const stray = Object.keys(inputs).filter(input => !new RegExp(`^${places}`).test(input))
  if (stray.length > 0) throw new Error(`bundled from elsewhere: ${stray.join(', ')}`)
}
