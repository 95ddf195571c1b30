/**
 * Writes `docs/licences.md`: the licences of all dependencies, from the lock files. With `--check`, compares it with the existing file
 * instead.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { foreignPaths, licenceOf, nameOf, PUBLISHED, readLock, runTimePaths, TOOL_FOLDERS } from './dependencies.ts'

export const PAGE = 'docs/licences.md'

/** Those that ask for no more than a notice. Packages under others are named. */
const NOTICE_ONLY = new Set(['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT', 'MIT OR Apache-2.0'])

const lock = readLock('')
const WORDS = ['library', 'command', 'devnet']

const versioned = (path: string): string => `\`${nameOf(path, locked(path))}\` ${locked(path).version}`
function locked(path: string) {
  const found = lock[path]
  if (found === undefined) throw new Error(`${path} is not in the lock file`)
  return found
}

/** A line for each licence of what the published packages need, and for each set of packages that need it. */
function runTimeLines(): string[] {
  const needs = PUBLISHED.map(folder => new Set(runTimePaths(lock, [folder])))
  const byNeed = new Map<string, string[]>()
  for (const path of runTimePaths(lock, PUBLISHED)) {
    const by = WORDS.filter((_, index) => needs[index]?.has(path)).join(', ')
    const head = `${licenceOf(path, locked(path))} (${by})`
    byNeed.set(head, [...(byNeed.get(head) ?? []), versioned(path)])
  }
  return [...byNeed].map(([head, names]) => `- ${head}: ${names.join(', ')}`).sort()
}

/** Lines of what development needs, by licence, the most frequent first. */
function developmentLines(): string[] {
  const byLicence = new Map<string, Set<string>>()
  for (const folder of ['', ...TOOL_FOLDERS]) {
    const own = readLock(folder)
    const atRunTime = new Set(folder === '' ? runTimePaths(own, PUBLISHED) : [])
    for (const path of foreignPaths(own)) {
      const entry = own[path]
      if (entry === undefined || atRunTime.has(path)) continue
      const licence = licenceOf(path, entry).replace(/^\((.*)\)$/, '$1')
      byLicence.set(licence, (byLicence.get(licence) ?? new Set()).add(nameOf(path, entry)))
    }
  }
  return [...byLicence]
    .sort(([a, { size: many }], [b, { size: few }]) => few - many || (a < b ? -1 : 1))
    .map(([licence, names]) => {
      const heads = [...names].sort().filter(name => ![...names].some(other => name.startsWith(`${other}-`)))
      const named = NOTICE_ONLY.has(licence) ? [] : heads.map(name => `\`${name}\``)
      return `- ${licence}, ${names.size}${named.length > 0 ? `: ${named.join(', ')}` : ''}`
    })
}

/** The page. */
export const describeLicences = (): string => `<!-- Written by \`npm run generate\`: do not edit. -->
# Licences

This project has the MIT licence. Here are the licences of everything that it depends on, from its lock files. For programs, the library's
package has the same as CycloneDX: \`dist/sbom.cdx.json\`.

## At run time

In parentheses is what needs these packages:

${runTimeLines().join('\n')}

MPL-2.0 applies file by file. If you change one of the files of such a package and pass it on, you have to publish that file. Code that
only imports the package keeps its own licence. No package here is changed. The explorer, a bundle, contains
\`@ethereumjs/rlp\`, whose source is [its package](https://www.npmjs.com/package/@ethereumjs/rlp).

## In development

None of these is in a published package. A package is named where its licence asks for more than a notice, or is rare. It stands for those
whose names begin with its own, such as those for one platform:

${developmentLines().join('\n')}
`

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const page = describeLicences()
  if (!process.argv.includes('--check')) writeFileSync(PAGE, page)
  else if (readFileSync(PAGE, 'utf8') !== page) {
    console.error(`${PAGE} is not what the lock files say: run npm run generate`)
    process.exitCode = 1
  }
  console.log(`${PAGE}: ${page.length} characters`)
}
