import { defineConfig } from 'vitest/config'

/** What mutants are run against: the quick tests of the rooms that are mutated, none that starts a process. */
export default defineConfig({
  resolve: { tsconfigPaths: true },
  test: {
    include: [
      ...['bytes', 'empty-subtrees', 'engines', 'errors', 'field', 'json', 'scheme', 'vectors'].map(
        name => `test/${name}.test.ts`,
      ),
      ...['hash', 'proof', 'tree', 'verifier', 'world'].map(room => `test/${room}/**/*.test.ts`),
    ],
    exclude: ['test/verifier/verifier.test.ts'],
    testTimeout: 60_000,
  },
})
