import { defineConfig } from 'vitest/config'

/** One test, while a promise is broken: see `test/tools/promises.ts`. A test that waits for ever has failed, too. */
export default defineConfig({
  resolve: { tsconfigPaths: true, preserveSymlinks: true },
  test: { include: ['test/**/*.test.ts'], testTimeout: 60_000, hookTimeout: 60_000, maxWorkers: 1 },
})
