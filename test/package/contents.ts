/**
 * Checks the contents of the library's tarball: `tsx test/package/contents.ts TARBALL FOLDER`, where FOLDER is the unpacked
 * tarball. It contains only expected files, its entry points are there with their types, and the links of its README lead to
 * files in it.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, normalize } from 'node:path'

const LIMITS = { packed: 600_000, unpacked: 2_000_000 }
const ALLOWED = [
  /^(package\.json|(README|CHANGELOG|CONTRIBUTING|SECURITY)\.md|LICENSE)$/,
  /^docs\/([\w.-]+\.(md|json)|drawings\/[\w-]+\.svg)$/,
  /^vectors\/README\.md$/,
  /^dist\/(base|verify|client|provider|entry)\/[\w./-]+\.(js|d\.ts)$/,
  /^dist\/sbom\.cdx\.json$/,
  /^dist\/entry\/workerd\/(keccak|mimc|poseidon2)\.wasm$/,
]

const [tarball = '', folder = ''] = process.argv.slice(2)
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(file =>
  statSync(join(folder, file)).isFile(),
)
const packed = statSync(tarball).size
const unpacked = files.reduce((sum, file) => sum + statSync(join(folder, file)).size, 0)

const present = new Set(files)
const { exports }: { exports: Record<string, string | Record<string, string>> } = JSON.parse(
  readFileSync(join(folder, 'package.json'), 'utf8'),
)
const targets = Object.values(exports).flatMap(target => (typeof target === 'string' ? target : Object.values(target)))
const problems = [
  ...files.filter(file => !ALLOWED.some(rule => rule.test(file))).map(file => `${file} has no business in the package`),
  ...[
    'README.md',
    'CHANGELOG.md',
    'LICENSE',
    'dist/sbom.cdx.json',
    'dist/entry/workerd/mimc.wasm',
    ...targets.map(target => normalize(target)),
  ]
    .filter(file => !present.has(file))
    .map(file => `${file} is missing`),
  ...brokenLinks(),
  ...(packed > LIMITS.packed ? [`packed it has ${packed} bytes, more than ${LIMITS.packed}`] : []),
  ...(unpacked > LIMITS.unpacked ? [`unpacked it has ${unpacked} bytes, more than ${LIMITS.unpacked}`] : []),
]

/** The files that the README links to must be in the package. The page is in none. */
function brokenLinks(): string[] {
  const links = [...readFileSync(join(folder, 'README.md'), 'utf8').matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)]
  const paths = links.flatMap(([, target = '']) => (/^(https?:|docs\/explorer\/)/.test(target) ? [] : [target]))
  const missing = paths.filter(path => !present.has(normalize(path)))
  return [
    ...missing.map(path => `README.md links to ${path}, which is missing`),
    ...(paths.length === 0 ? ['README.md has no links'] : []),
  ]
}

for (const problem of problems) console.error(`package: ${problem}`)
console.log(`package: ${files.length} files, ${packed} bytes packed, ${unpacked} unpacked`)
process.exitCode = problems.length === 0 ? 0 : 1
