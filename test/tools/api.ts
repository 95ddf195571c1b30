/**
 * Writes `docs/api.md`: every exported name, by entry point, with the first sentence of its doc comment. With `--check`,
 * compares it with the existing file instead.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

export const PAGE = 'docs/api.md'

/** A public name, and what it stands for. */
interface Export {
  readonly name: string
  /** Of the declaration, whichever entry point exports it. */
  readonly symbol: ts.Symbol
}

interface EntryPoint {
  /** What programs import from. */
  readonly specifier: string
  /** The source file. */
  readonly file: string
  readonly exports: readonly Export[]
}

/** The entry points of the library and of the devnet, and a checker for their symbols. */
export function readApi(): { entryPoints: readonly EntryPoint[]; checker: ts.TypeChecker } {
  const doors = [['package.json', 'src/entry'] as const, ['src/devnet/package.json', 'src/devnet'] as const].flatMap(
    ([manifest, folder]) => {
      const { name, exports } = JSON.parse(readFileSync(manifest, 'utf8'))
      const subpaths = Object.keys(exports).filter(subpath => !subpath.endsWith('.json'))
      return subpaths.map(subpath => ({
        specifier: `${name}${subpath.slice(1)}`,
        file: `${folder}/${subpath.slice(2) || 'index'}.ts`,
      }))
    },
  )
  const { config } = ts.readConfigFile('tsconfig.json', name => readFileSync(name, 'utf8'))
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: [] }, ts.sys, '.')
  const files = doors.map(({ file }) => file)
  const program = ts.createProgram(files, options)
  const checker = program.getTypeChecker()
  const exportsOf = (file: string): Export[] => {
    const source = program.getSourceFile(file)
    const module = source && checker.getSymbolAtLocation(source)
    return (module ? checker.getExportsOfModule(module) : []).map(exported => {
      const isAlias = (exported.flags & ts.SymbolFlags.Alias) !== 0
      return { name: exported.name, symbol: isAlias ? checker.getAliasedSymbol(exported) : exported }
    })
  }
  return { checker, entryPoints: doors.map(door => ({ ...door, exports: exportsOf(door.file) })) }
}

const byName = (a: Export, b: Export) => (a.name < b.name ? -1 : 1)

export const isValue = ({ flags }: ts.Symbol): boolean => (flags & ts.SymbolFlags.Value) !== 0

/** The first sentence of a doc comment, on one line, with names instead of links to them. */
function firstSentence(comment: string): string {
  const text = comment.replace(/\s+/g, ' ').replace(/\{@link ([\w.]+) ?\}/g, '`$1`')
  return /^.*?[.:](?= [A-Z`-]|$)/.exec(text)?.[0].replace(/:$/, '.') ?? text
}

/** The page. */
export function describeApi(): string {
  const { entryPoints, checker } = readApi()
  const lineOf = ({ name, symbol }: Export) => {
    const comment = ts.displayPartsToString(symbol.getDocumentationComment(checker))
    return `- \`${name}\`: ${firstSentence(comment)}`
  }
  const listOf = (title: string, exports: readonly Export[]) =>
    exports.length === 0 ? [] : ['', `${title}:`, '', ...exports.toSorted(byName).map(lineOf)]
  const sections = entryPoints.flatMap(({ specifier, exports }) => [
    ...['', `## ${specifier}`],
    ...listOf(
      'Functions, classes and constants',
      exports.filter(({ symbol }) => isValue(symbol)),
    ),
    ...listOf(
      'Types',
      exports.filter(({ symbol }) => !isValue(symbol)),
    ),
  ])
  const all = entryPoints.flatMap(({ file, exports }) => (file.startsWith('src/entry/') ? exports : []))
  const count = (some: readonly Export[]) => new Set(some.map(({ name }) => name)).size
  const values = all.filter(({ symbol }) => isValue(symbol))
  const head = [
    '# Every export',
    '',
    `${count(all)} names of the library: ${count(values)} functions, classes and constants, the others types. Some are exported by`,
    'several entry points. The names of the devnet come last.',
    'This page is written by `npm run generate` from the doc comments, which say more: shapes, units, errors, and an example for',
    'every function.',
  ]
  return `${[...head, ...sections].join('\n')}\n`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const page = describeApi()
  const [, count = ''] = /^(\d+) names of the library/m.exec(page) ?? []
  if (!process.argv.includes('--check')) writeFileSync(PAGE, page)
  else if (readFileSync(PAGE, 'utf8') !== page) throw new Error(`${PAGE} is not what the doc comments make`)
  console.log(`${PAGE}: ${count} exported names`)
}
