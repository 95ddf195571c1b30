/**
 * `npm run sizes`: the size of each import. With `--write`, writes the table in docs/benchmarks.md, to which
 * test/bundles.test.ts holds what is measured.
 */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Bundle, measureBundles } from './bundles.ts'
import { header, PAGE, publish, readSection, row } from './page.ts'

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

if (process.argv[1] === fileURLToPath(import.meta.url)) publishSizes(await measureBundles())
