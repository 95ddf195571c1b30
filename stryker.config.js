/** What is mutated, by layer. `LAYER=anchor npm run mutation` mutates one, and runs only its tests: see `vitest.config.ts`. */
const LAYERS = {
  hash: ['src/verify/hash/hasher.ts', 'src/verify/hash/kernel.ts'],
  path: [
    'src/base/**/*.ts',
    'src/verify/{field,scheme,tree,proof,verifier}/**/*.ts',
    // Decoders of other documents, and the fields that clients keep of an answer: the tests of those layers cover them.
    '!src/{base/json/decoders,verify/proof/known-answer}.ts',
  ],
  anchor: ['src/verify/{anchor,evidence}/**/*.ts'],
  beacon: ['src/verify/beacon/**/*.ts'],
  blocks: ['src/verify/blocks/**/*.ts'],
  messages: ['src/verify/messages/**/*.ts'],
  transition: ['src/verify/transition/**/*.ts'],
  provider: [
    'src/provider/{cache,evm,evm-state,execute,proven-state,state-reader,view}.ts',
    'src/provider/call-evidence/**/*.ts',
  ],
  world: ['src/devnet/world/**/*.ts'],
}
const { LAYER = 'all' } = process.env
const mutate = LAYER === 'all' ? Object.values(LAYERS).flat() : LAYERS[LAYER]
if (mutate === undefined) throw new Error(`LAYER: expected one of ${Object.keys(LAYERS).join(', ')}, got ${LAYER}`)

/** @type {import('@stryker-mutator/core').PartialStrykerOptions} */
export default {
  testRunner: 'vitest',
  vitest: { configFile: 'vitest.mutation.config.ts' },
  mutate,
  concurrency: 2,
  timeoutMS: 20000,
  reporters: ['clear-text', 'progress-append-only', 'json'],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  jsonReporter: { fileName: `reports/mutation-${LAYER}.json` },
  tempDirName: '.stryker-tmp',
  ignorePatterns: ['dist', 'coverage', 'reports'],
  allowEmpty: false,
  // Most strings are the wording of messages, which no test asserts. Codes, paths and field names are strings too: the
  // vectors of each scheme assert every code. `test/mutants.md` explains the mutants that stay.
  mutator: { excludedMutations: ['StringLiteral'] },
}
