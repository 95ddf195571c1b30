import { resolve } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { tellChecks } from './test/tools/rules/telling.ts'

/** The slowest files, slowest first. If a worker started one of them last, the others would wait for it. */
const LONGEST = [
  ...[
    'documents/guides',
    'provider/anvil/anvil',
    'client/beacon-hostile',
    'surface/walk',
    'verify/forgeries',
    'cli/proxy',
  ],
  ...['cli/snapshot', 'cli/audit', 'site/model', 'cli/record', 'client/beacon', 'documents/examples', 'client/record'],
  ...[
    'verify/beacon/beacon',
    'verify/beacon/corpus',
    'verify/blocks/block',
    'verify/transition/histories',
    'verify/evidence/logs',
    'verify/anchor/trie',
  ],
].map(name => `/test/${name}.test.ts`)

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId, project }: TestSpecification) => {
      // Each of these has a worker of its own. Between others, they would end a worker that has loaded all modules.
      if (project.name === 'alone') return -1
      const place = LONGEST.findIndex(name => moduleId.endsWith(name))
      return place < 0 ? LONGEST.length : place
    }
    return files.sort((a, b) => rank(a) - rank(b))
  }
}

/** Tests that replace modules, which would affect other files in the same worker. */
export const ALONE = ['verify/engines', 'verify/hash/fallback', 'provider/contents-bounds', 'client/record-logs'].map(
  name => `test/${name}.test.ts`,
)

const inFolder = (folder: string) => `test/${folder}/**/*.test.ts`

/** The tests of the code that decides verdicts, and of what makes true answers, by layer. */
export const LAYERS = {
  hash: [inFolder('verify/hash')],
  /** From the bytes of an answer to its verdict. */
  path: [
    ...['field', 'scheme', 'vectors'].map(name => `test/verify/${name}.test.ts`),
    ...['base', 'verify/proof', 'verify/tree', 'verify/verifier'].map(inFolder),
  ],
  /** L1 and bundles. */
  anchor: ['verify/anchor', 'verify/evidence'].map(inFolder),
  beacon: [inFolder('verify/beacon')],
  blocks: [inFolder('verify/blocks'), 'test/verify/evidence/logs.test.ts', 'test/client/blocks.test.ts'],
  messages: [inFolder('verify/messages')],
  transition: [inFolder('verify/transition')],
  /** State that is proven, and calls over it. */
  provider: [
    inFolder('provider/proving'),
    ...['base-fee', 'call-evidence', 'call-vectors', 'methods', 'one-head', 'precompiles', 'provider', 'waves'].map(
      name => `test/provider/${name}.test.ts`,
    ),
  ],
  world: [inFolder('devnet/world')],
}
/** These run first, with coverage, which slows all code down. */
const CORE = [
  ...LAYERS.path,
  ...LAYERS.anchor,
  ...LAYERS.beacon,
  ...LAYERS.blocks,
  ...LAYERS.messages,
  ...LAYERS.transition,
  ...LAYERS.provider,
]
/** Slow tests of the same layers, which reach no more lines than the others. The last sets the environment of its worker. */
export const SLOW = ['verifier/full-memory', 'verifier/quick-trees', 'beacon/hostile', 'beacon/minimal'].map(
  name => `test/verify/${name}.test.ts`,
)

/**
 * What `npm test` runs besides: the rooms and their imports, the sizes, the exports, what must not compile, and what the catalogue of
 * checks, the bounds and the models demand of a change.
 */
const HOUSE = [
  'test/*.test.ts',
  'test/surface/copies.test.ts',
  ...['types', 'programs'].map(inFolder),
  ...['api', 'bounds', 'checks', 'methods', 'promises', 'soundness', 'tree-format'].map(
    name => `test/documents/${name}.test.ts`,
  ),
]
/** The tests of the documents, with the examples in doc comments, and of the page: `npm run test:docs`. */
const DOCS = [inFolder('documents')]
const SITE = [inFolder('site')]
/** As in the page that is built, each check of the verifier tells that it is run. */
const telling = {
  ...{ name: 'telling', enforce: 'pre' as const },
  transform: (text: string, path: string) => tellChecks(path, text),
}

/** Programs that tests start keep nothing in the home of whoever runs them. */
export const env = { XDG_STATE_HOME: resolve('node_modules/.cache/state') }

/** Long enough for a machine that is busy with other work. Nothing else here depends on time. */
const shared = { testTimeout: 600_000, hookTimeout: 600_000 }
/** Builds the package, for tests that start it. */
const withPackage = { ...shared, globalSetup: 'test/package/build.ts' }

export default defineConfig({
  resolve: { tsconfigPaths: true },
  test: {
    ...{ env, maxWorkers: '100%' },
    reporters: ['dot', './test/tools/last-sentence.ts'],
    // The last sentence repeats what tests say about what they skip.
    onConsoleLog: () => process.env['VERBOSE'] !== undefined,
    // A test that asserts nothing has found no data, or looped over nothing.
    expect: { requireAssertions: true },
    // What was transformed is kept in node_modules, by content: the second of two runs need not do it again.
    experimental: { fsModuleCache: true },
    sequence: { sequencer: LongestFirst },
    projects: [
      // Loading the modules again for each file would take as long as the tests themselves.
      { extends: true, test: { ...shared, name: 'core', include: CORE, exclude: [...ALONE, ...SLOW], isolate: false } },
      {
        extends: true,
        test: {
          ...{ ...withPackage, name: 'rest', include: ['test/**/*.test.ts'], isolate: false },
          // What .ci/clients has installed brings tests of its own.
          exclude: [...CORE, ...HOUSE, ...ALONE, ...DOCS, ...SITE, '**/node_modules/**'],
        },
      },
      { extends: true, test: { ...withPackage, name: 'house', include: HOUSE, isolate: false } },
      { extends: true, test: { ...shared, name: 'alone', include: [...ALONE, ...SLOW] } },
      { extends: true, test: { ...withPackage, name: 'docs', include: DOCS, exclude: HOUSE, isolate: false } },
      // A test counts the checks that are run: a worker that has verified the same before remembers some.
      { extends: true, plugins: [telling], test: { ...shared, name: 'site', include: SITE } },
    ],
    coverage: {
      provider: 'v8',
      include: [
        'base/**',
        'verify/{field,scheme,tree,proof,verifier,anchor,evidence,beacon,blocks,messages,transition}/**',
        'provider/call-evidence/**',
        'provider/{cache,evm,evm-state,execute,proven-state,view}.ts',
      ].map(files => `src/${files}`),
      thresholds: { lines: 100, branches: 100, functions: 100, statements: 100 },
    },
  },
})
