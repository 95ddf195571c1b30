import { defineConfig } from 'vitest/config'

/** What mutants are run against: the tests of the rooms that are mutated, without those that start processes. */
export default defineConfig({
  test: {
    include: [
      'test/*.test.ts',
      'test/proof/**/*.test.ts',
      'test/tree/**/*.test.ts',
      'test/world/**/*.test.ts',
      'test/scheme/**/*.test.ts',
    ],
    exclude: ['test/examples.test.ts', 'test/rooms.test.ts', 'test/checks.test.ts', 'test/corpus.test.ts'],
    testTimeout: 60_000,
  },
})
