import { readFileSync } from 'node:fs'
import ts from 'typescript'
import { expect, it } from 'vitest'

/**
 * What the doc comments of the public API must contain. typedoc checks that every symbol has one (`npm run docs`), and
 * `examples.test.ts` that the examples run.
 */
const { exports } = JSON.parse(readFileSync('package.json', 'utf8'))
const doors = Object.keys(exports)
  .filter(subpath => subpath !== './package.json')
  .map(subpath => `src/${subpath.slice(2) || 'index'}.ts`)

const { config } = ts.readConfigFile('tsconfig.json', name => readFileSync(name, 'utf8'))
const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: [] }, ts.sys, '.')
const program = ts.createProgram(doors, options)
const checker = program.getTypeChecker()

const symbols = new Map<ts.Symbol, string>()
for (const door of doors) {
  const source = program.getSourceFile(door)
  const module = source && checker.getSymbolAtLocation(source)
  for (const exported of module ? checker.getExportsOfModule(module) : []) {
    const isAlias = (exported.flags & ts.SymbolFlags.Alias) !== 0
    symbols.set(isAlias ? checker.getAliasedSymbol(exported) : exported, exported.name)
  }
}

const textOf = (symbol: ts.Symbol): string => ts.displayPartsToString(symbol.getDocumentationComment(checker))
const tagsOf = (symbol: ts.Symbol, name: string): string[] =>
  symbol.getJsDocTags(checker).flatMap(tag => (tag.name === name ? [ts.displayPartsToString(tag.text)] : []))
const isValue = ({ flags }: ts.Symbol): boolean => (flags & ts.SymbolFlags.Value) !== 0
const isFunction = ({ flags }: ts.Symbol): boolean => (flags & ts.SymbolFlags.Function) !== 0

/** All declarations that can have parameters: functions, constructors, and methods of interfaces. */
function callables(symbol: ts.Symbol): { name: string; parameters: string[]; documented: string[] }[] {
  const members = [...(symbol.members?.values() ?? [])]
  return [symbol, ...members].flatMap(member =>
    (member.declarations ?? []).flatMap(declaration => {
      if (!ts.isFunctionLike(declaration)) return []
      const documented = ts.getJSDocTags(declaration).flatMap(tag => {
        return ts.isJSDocParameterTag(tag) ? [tag.name.getText()] : []
      })
      // A destructured parameter has no name, so any documented name will do.
      const parameters = declaration.parameters.map(({ name }, index) => {
        return ts.isIdentifier(name) ? name.text : (documented[index] ?? name.getText())
      })
      return { name: `${symbol.name}.${member.name}`, parameters, documented }
    }),
  )
}

it('covers the whole public API', () => {
  expect(doors.length).toBe(11)
  expect(symbols.size).toBeGreaterThan(60)
})

it('has an example for every value: functions, classes, constants', () => {
  const values = [...symbols].filter(([symbol]) => isValue(symbol))
  expect(values.length).toBeGreaterThan(30)
  const without = values.filter(([symbol]) => !tagsOf(symbol, 'example').some(text => text.startsWith('```ts\n')))
  expect(without.map(([, name]) => name)).toEqual([])
})

it('documents every parameter, in order', () => {
  const found = [...symbols.keys()].flatMap(callables).filter(({ parameters }) => parameters.length > 0)
  expect(found.length).toBeGreaterThan(40)
  for (const { name, parameters, documented } of found) expect(documented, name).toEqual(parameters)
})

it('documents what every function throws', () => {
  const functions = [...symbols].filter(([symbol]) => isFunction(symbol))
  expect(functions.length).toBeGreaterThan(20)
  const silent = functions.filter(([symbol]) => {
    const said = [textOf(symbol), ...tagsOf(symbol, 'returns'), ...tagsOf(symbol, 'throws')].join(' ')
    return tagsOf(symbol, 'throws').length === 0 && !/never throws|throws (only|nothing)/i.test(said)
  })
  expect(silent.map(([, name]) => name)).toEqual([])
})
