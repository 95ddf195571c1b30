import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Plugin, transform } from 'esbuild'
import { networkNames, rollupNames } from '../../src/cli/words/evidence.ts'
import { exampleSources } from '../../src/site/examples.ts'
import { tellChecks } from './rules/telling.ts'

/** Builds the page into `docs/explorer/`. With `--check`, compares it with the existing files instead. */
const source = fileURLToPath(new URL('../../src/site/', import.meta.url))
const target = fileURLToPath(new URL('../../docs/explorer/', import.meta.url))
const catalogue = fileURLToPath(new URL('../../docs/checks.md', import.meta.url))
const vectors = fileURLToPath(new URL('../../vectors/', import.meta.url))

/** The checks of the verifier tell the page that they are run. */
const telling: Plugin = {
  name: 'telling',
  setup({ onLoad }) {
    onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => {
      const contents = tellChecks(path, readFileSync(path, 'utf8'))
      return contents === null ? undefined : { contents, loader: 'ts' }
    })
  },
}

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))

async function bundle(entry: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [`${source}${entry}`],
    bundle: true,
    write: false,
    format: 'iife',
    target: 'es2022',
    minify: true,
    charset: 'utf8',
    legalComments: 'none',
    plugins: [telling],
    define: { CHECK_REASONS: JSON.stringify(listReasons()), PAGE_VERSION: JSON.stringify(version) },
  })
  return outputFiles.map(({ text }) => text).join('')
}

/** What could go wrong without each check, by code. */
function listReasons(): Record<string, string> {
  const rows = readFileSync(catalogue, 'utf8').matchAll(/^- `([A-Z0-9_]+)`: (.+?) \[\w+\]\(/gm)
  return Object.fromEntries([...rows].map(([, code, reason = '']) => [code, reason.replaceAll('`', '')]))
}

function listExamples(): string {
  const examples = exampleSources.map(({ path, ...example }) => {
    // The page finds out itself what comes of it.
    const { $schema: _, expected: __, base, ...content } = JSON.parse(readFileSync(`${vectors}${path}`, 'utf8'))
    // Twice the same content would weigh twice as much.
    const changed = base === undefined ? {} : { base: titleOf(join(dirname(path), '..', 'valid', `${base}.json`)) }
    return JSON.stringify({ ...example, ...changed, content })
  })
  return `globalThis.rollupStateProofExamples = [\n${examples.join(',\n')}\n]\n`
}

function titleOf(path: string): string {
  const found = exampleSources.find(source => source.path === path)
  if (found === undefined) throw new Error(`no example has the path ${path}`)
  return found.title
}

const optionsOf = (names: readonly string[]) => names.map(name => `<option value="${name}"></option>`).join('')

/** The page, which names each network that there is. */
const page = readFileSync(`${source}index.html`, 'utf8')
  .replace('{{rollups}}', rollupNames().join(', '))
  .replace('{{rollupOptions}}', optionsOf(rollupNames()))
  .replace('{{networkOptions}}', optionsOf(networkNames()))

const { code: style } = await transform(readFileSync(`${source}explorer.css`, 'utf8'), { loader: 'css', minify: true })

const files: readonly (readonly [name: string, text: string])[] = [
  ['index.html', page],
  ['explorer.css', style],
  ['icon.svg', readFileSync(`${source}icon.svg`, 'utf8')],
  ['examples.js', listExamples()],
  ['explorer.js', await bundle('page.ts')],
  ['worker.js', await bundle('worker.ts')],
]

if (process.argv.includes('--check')) {
  const stale = files.filter(([name, text]) => readFileSync(`${target}${name}`, 'utf8') !== text).map(([name]) => name)
  if (stale.length > 0) throw new Error(`docs/explorer is not what its source makes: ${stale.join(', ')}`)
  console.log(`docs/explorer: ${files.length} files are what their source makes`)
} else {
  for (const [name, text] of files) writeFileSync(`${target}${name}`, text)
  console.log(files.map(([name, text]) => `${name} ${Math.ceil(text.length / 1024)} KiB`).join(', '))
}
