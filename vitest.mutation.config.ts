import { defineConfig } from 'vitest/config'

/** What mutants are run against: the quick tests of the rooms that are mutated, none that starts a process. */
export default defineConfig({
  resolve: { tsconfigPaths: true },
  test: {
    include: [
      'test/*.test.ts',
      'test/hash/**/*.test.ts',
      'test/proof/**/*.test.ts',
      'test/tree/**/*.test.ts',
      'test/world/**/*.test.ts',
    ],
    exclude: ['examples', 'rooms', 'checks', 'corpus', 'forgeries', 'properties', 'proof/verifier'].map(
      name => `test/${name}.test.ts`,
    ),
    testTimeout: 60_000,
  },
})
