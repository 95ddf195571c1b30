/**
 * Checks the contents of the packed tarball: `tsx test/package/contents.ts TARBALL FOLDER`, where FOLDER is the unpacked
 * tarball. It contains only expected files, and the source maps and links lead to files in it.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

const LIMITS = { packed: 1_700_000, unpacked: 6_500_000 }
const ALLOWED = [
  /^(package\.json|(README|CHANGELOG|CONTRIBUTING|SECURITY)\.md|LICENSE)$/,
  /^docs\/([\w.-]+\.(md|json)|drawings\/[\w-]+\.svg|explorer\/[\w.-]+)$/,
  /^vectors\/README\.md$/,
  /^src\/[\w./-]+\.ts$/,
  /^dist\/[\w./-]+\.(js(\.map)?|d\.ts)$/,
  /^dist\/entry\/workerd\/(keccak|mimc|poseidon2)\.wasm$/,
]

const [tarball = '', folder = ''] = process.argv.slice(2)
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(file =>
  statSync(join(folder, file)).isFile(),
)
const packed = statSync(tarball).size
const unpacked = files.reduce((sum, file) => sum + statSync(join(folder, file)).size, 0)

const present = new Set(files)
const problems = [
  ...files.filter(file => !ALLOWED.some(rule => rule.test(file))).map(file => `${file} has no business in the package`),
  ...[
    'README.md',
    'CHANGELOG.md',
    'LICENSE',
    'dist/entry/index.js',
    'src/entry/index.ts',
    'dist/entry/workerd/mimc.wasm',
  ]
    .filter(file => !present.has(file))
    .map(file => `${file} is missing`),
  ...brokenLinks(),
  ...files.filter(file => file.endsWith('.map')).flatMap(problemsOfMap),
  ...files.filter(file => /^dist\/.*\.js$/.test(file)).flatMap(problemsOfModule),
  ...(packed > LIMITS.packed ? [`packed it has ${packed} bytes, more than ${LIMITS.packed}`] : []),
  ...(unpacked > LIMITS.unpacked ? [`unpacked it has ${unpacked} bytes, more than ${LIMITS.unpacked}`] : []),
]

/** The sources of a map, and the file that it maps, must be in the package. */
function problemsOfMap(map: string): string[] {
  const { sources }: { sources: string[] } = JSON.parse(readFileSync(join(folder, map), 'utf8'))
  const wanted = [map.replace(/\.map$/, ''), ...sources.map(source => normalize(join(dirname(map), source)))]
  const missing = wanted.filter(file => !present.has(file)).map(file => `${map} leads to ${file}, which is missing`)
  return sources.length === 0 ? [`${map} has no sources`] : missing
}

/** The files that the README links to must be in the package. */
function brokenLinks(): string[] {
  const links = [...readFileSync(join(folder, 'README.md'), 'utf8').matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)]
  const paths = links.flatMap(([, target = '']) => (/^https?:/.test(target) ? [] : [target]))
  const missing = paths.filter(path => !present.has(normalize(path)))
  return [
    ...missing.map(path => `README.md links to ${path}, which is missing`),
    ...(paths.length === 0 ? ['README.md has no links'] : []),
  ]
}

/** A module must come with its declarations and its map, and refer to it. Nobody imports the command, which has neither. */
function problemsOfModule(module: string): string[] {
  if (module.startsWith('dist/cli/')) return []
  const stem = module.replace(/\.js$/, '')
  const parts = [`${stem}.d.ts`, `${stem}.js.map`]
  const missing = parts.filter(part => !present.has(part)).map(part => `${module} comes without ${part}`)
  const comment = readFileSync(join(folder, module), 'utf8').trimEnd().split('\n').at(-1)
  const isNamed = comment === `//# sourceMappingURL=${stem.split('/').at(-1)}.js.map`
  return isNamed ? missing : [...missing, `${module} does not name its map`]
}

for (const problem of problems) console.error(`package: ${problem}`)
console.log(`package: ${files.length} files, ${packed} bytes packed, ${unpacked} unpacked`)
process.exitCode = problems.length === 0 ? 0 : 1
