import { defineConfig } from 'vitest/config'
import { env } from './vitest.config.ts'

/** One test, while a promise is broken: see `test/tools/promises.ts`. A test that waits for ever has failed, too. */
export default defineConfig({
  resolve: { tsconfigPaths: true, preserveSymlinks: true },
  test: { env, include: ['test/**/*.test.ts'], testTimeout: 60_000, hookTimeout: 60_000, maxWorkers: 1 },
})
