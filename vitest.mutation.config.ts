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

/** What mutants are run against: the quick tests of the layers that are mutated, none that starts a process. */
export default defineConfig({
  resolve: { tsconfigPaths: true },
  test: {
    include: [
      ...['bytes', 'engines', 'errors', 'field', 'json', 'scheme', 'vectors'].map(name => `test/${name}.test.ts`),
      ...['hash', 'proof', 'tree', 'verifier', 'world'].map(layer => `test/${layer}/**/*.test.ts`),
    ],
    exclude: ['test/verifier/verifier.test.ts'],
    testTimeout: 60_000,
    sequence: { sequencer: QuickFirst },
  },
})
