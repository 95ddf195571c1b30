import { defineConfig } from 'vitest/config'

export default defineConfig({
  resolve: { tsconfigPaths: true },
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 120_000,
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
