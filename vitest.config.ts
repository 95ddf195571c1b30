import { defineConfig } from 'vitest/config'

/** They put other modules in the place of some: in the modules that other tests share, that would show. */
const ALONE = ['test/engines.test.ts', 'test/hash/fallback.test.ts']

const shared = { testTimeout: 120_000, hookTimeout: 120_000 }

export default defineConfig({
  resolve: { tsconfigPaths: true },
  test: {
    globalSetup: 'test/package/build.ts',
    maxWorkers: '100%',
    projects: [
      // To load the modules anew for each file would take as long as the tests.
      {
        extends: true,
        test: { ...shared, name: 'together', include: ['test/**/*.test.ts'], exclude: ALONE, isolate: false },
      },
      { extends: true, test: { ...shared, name: 'alone', include: ALONE } },
    ],
    coverage: {
      provider: 'v8',
      include: [
        ...['src/bytes.ts', 'src/errors.ts', 'src/json.ts', 'src/field/**', 'src/scheme/**'],
        ...['src/tree/**', 'src/proof/**', 'src/verifier/{tree,verifier}.ts'],
      ],
      thresholds: { lines: 100, branches: 100, functions: 100, statements: 100 },
    },
  },
})
