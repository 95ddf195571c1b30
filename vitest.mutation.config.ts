import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { ALONE, LAYERS, SLOW } from './vitest.config.ts'

/** The tests of one layer, or of all. `stryker.config.js` says what is mutated. */
const { LAYER = 'all' } = process.env
const layers: Readonly<Record<string, readonly string[]>> = { all: Object.values(LAYERS).flat(), ...LAYERS }
const include = [...(layers[LAYER] ?? [])]
if (include.length === 0) throw new Error(`LAYER: expected one of ${Object.keys(layers).join(', ')}, got ${LAYER}`)

/** The slowest tests run last. A mutant that an earlier file kills does not reach them. */
const LAST = [
  ...[
    'test/devnet/world/',
    'test/verify/hash/',
    'test/verify/verifier/remembering.test.ts',
    'test/verify/engines.test.ts',
  ],
  'test/verify/beacon/corpus.test.ts',
]

class QuickFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => LAST.findIndex(part => moduleId.includes(`/${part}`))
    return files.sort((a, b) => rank(a) - rank(b) || (a.moduleId < b.moduleId ? -1 : 1))
  }
}

const shared = { testTimeout: 60_000 }

/** The tests for mutants: the quick tests of the mutated layers, without those that start a process. */
export default defineConfig({
  resolve: { tsconfigPaths: true },
  test: {
    sequence: { sequencer: QuickFirst },
    projects: [
      {
        extends: true,
        test: {
          ...{ ...shared, name: 'core', include },
          exclude: [...ALONE, ...SLOW],
          // Reloading the modules for each file would take longer than the tests.
          isolate: false,
        },
      },
      // These are about hashing.
      ...(['all', 'hash', 'path'].includes(LAYER)
        ? [{ extends: true as const, test: { ...shared, name: 'alone', include: ALONE } }]
        : []),
    ],
  },
})
