import { relative } from 'node:path'
import { defineConfig } from 'vitest/config'
import { layerOfFile, markSites, refusingFunctions } from './test/tools/rules/sites.ts'
import { ALONE, env, SLOW } from './vitest.config.ts'

const refusing = refusingFunctions()

/** The tests while one place of the verifier is switched off: see `test/tools/operands.ts`. */
export default defineConfig({
  resolve: { tsconfigPaths: true },
  plugins: [
    {
      name: 'marking',
      enforce: 'pre',
      transform(_, id) {
        const file = relative('.', id)
        // Only what lies in the layers has marks.
        return layerOfFile.has(file) ? `${markSites(file, refusing).text}` : undefined
      },
    },
  ],
  test: {
    ...{ include: ['test/**/*.test.ts'], exclude: [...ALONE, ...SLOW], isolate: false, testTimeout: 120_000 },
    ...{ env, setupFiles: ['test/tools/rules/setup.ts'] },
  },
})
