import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { ALONE, CORE } from './vitest.config.ts'

/** The slowest tests run last. A mutant that an earlier file kills does not reach them. */
const LAST = ['test/world/', 'test/hash/', 'test/verifier/hasher.test.ts', 'test/engines.test.ts']

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
          ...shared,
          name: 'core',
          include: CORE,
          exclude: [...ALONE, 'test/verifier/verifier.test.ts'],
          // Reloading the modules for each file would take longer than the tests.
          isolate: false,
        },
      },
      { extends: true, test: { ...shared, name: 'alone', include: ALONE } },
    ],
  },
})
