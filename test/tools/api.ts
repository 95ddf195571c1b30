/**
 * Writes `test/surface/exports.txt`: every exported name, by entry point, with the first sentence of its doc comment. With `--check`,
 * compares it with the existing file instead.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

export const LIST = 'test/surface/exports.txt'

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

/** The list: types come after the functions, classes and constants of their entry point. */
export function describeApi(): string {
  const { entryPoints, checker } = readApi()
  const lineOf = ({ name, symbol }: Export) => {
    const comment = ts.displayPartsToString(symbol.getDocumentationComment(checker))
    return `  ${isValue(symbol) ? '' : 'type '}${name}: ${firstSentence(comment)}`
  }
  const sections = entryPoints.map(({ specifier, exports }) => {
    const sorted = exports.toSorted(byName)
    const [values, types] = [
      sorted.filter(({ symbol }) => isValue(symbol)),
      sorted.filter(({ symbol }) => !isValue(symbol)),
    ]
    return [specifier, ...[...values, ...types].map(lineOf)].join('\n')
  })
  return `${sections.join('\n\n')}\n`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const list = describeApi()
  if (!process.argv.includes('--check')) writeFileSync(LIST, list)
  else if (readFileSync(LIST, 'utf8') !== list) throw new Error(`${LIST} is not what the doc comments make`)
  console.log(`${LIST}: ${list.match(/^ {2}/gm)?.length} exported names`)
}
