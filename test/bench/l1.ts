/**
 * `npm run bench:l1`: what is verified with Keccak, with the kernel and without it, and beside @ethereumjs/mpt where that does the
 * same work. All take turns in one process. Prints Markdown; with `--write`, also writes it to docs/benchmarks.md.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { named } from '../../vectors/evidence/l1.ts'
import { type Library, works } from './l1-works.ts'
import { measureProcessor, median } from './measure.ts'
import { header, publish, row } from './page.ts'

/** Two copies of the library. The first call decides whether a copy has the kernel. */
async function load(): Promise<Record<'kernel' | 'plain', Library>> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'))
  const copyOf = async (name: string): Promise<Library> => {
    const outfile = join(folder, `${name}.mjs`)
    const contents = ['anchor', 'blocks', 'messages'].map(entry => `export * from './src/entry/${entry}.ts'`).join('\n')
    await build({
      stdin: { contents, resolveDir: process.cwd(), loader: 'ts' },
      ...{ bundle: true, format: 'esm', platform: 'node', outfile, logLevel: 'error' },
    })
    const library: Library = await import(pathToFileURL(outfile).href)
    library.messageTrees([named('message')])
    return library
  }
  const { WebAssembly: engine } = globalThis as { WebAssembly?: unknown }
  try {
    Reflect.deleteProperty(globalThis, 'WebAssembly')
    const plain = await copyOf('plain')
    Object.assign(globalThis, { WebAssembly: engine })
    return { plain, kernel: await copyOf('kernel') }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const { plain, kernel } = await load()
const digits = (value: number | undefined) => (value === undefined ? '' : value.toFixed(value < 100 ? 1 : 0))
const rows: string[] = []
for (const { name, run, peer } of works) {
  const times = await measureProcessor([() => run(plain), () => run(kernel), ...(peer ? [peer] : [])])
  const [slow = 0, fast = 0, other] = times.map(median)
  rows.push(row(name, digits(slow), digits(fast), `${(slow / fast).toFixed(1)}x`, digits(other)))
}
publish('l1', [...header('µs', 'plain Keccak', 'kernel', '', '@ethereumjs/mpt'), ...rows])
