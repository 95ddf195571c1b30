import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** They take the most time. A mutant that an earlier file notices does not get as far. */
const LAST = ['test/world/', 'test/hash/', 'test/verifier/hasher.test.ts', 'test/engines.test.ts']

class QuickFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => LAST.findIndex(part => moduleId.includes(`/${part}`))
    return files.sort((a, b) => rank(a) - rank(b) || (a.moduleId < b.moduleId ? -1 : 1))
  }
}

/** They replace modules, which the other files would notice. */
const ALONE = ['test/engines.test.ts', 'test/hash/fallback.test.ts']

const shared = { testTimeout: 60_000 }

/** What mutants are run against: the quick tests of the layers that are mutated, none that starts a process. */
export default defineConfig({
  resolve: { tsconfigPaths: true },
  test: {
    sequence: { sequencer: QuickFirst },
    projects: [
      {
        extends: true,
        test: {
          ...shared,
          name: 'together',
          include: [
            ...['bytes', 'errors', 'field', 'json', 'scheme', 'vectors'].map(name => `test/${name}.test.ts`),
            ...['hash', 'proof', 'tree', 'verifier', 'world'].map(layer => `test/${layer}/**/*.test.ts`),
          ],
          exclude: [...ALONE, 'test/verifier/verifier.test.ts'],
          // To load the modules anew for each file would take longer than the tests.
          isolate: false,
        },
      },
      { extends: true, test: { ...shared, name: 'alone', include: ALONE } },
    ],
  },
})
