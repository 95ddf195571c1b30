/**
 * `npm run sizes`: the size of each import. With `--write`, writes the table in docs/benchmarks.md, to which
 * test/bundles.test.ts holds what is measured.
 */
import { measureBundles, publishSizes } from './bundles.ts'

publishSizes(await measureBundles())
