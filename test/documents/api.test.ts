import { readFileSync } from 'node:fs'
import ts from 'typescript'
import { expect, it } from 'vitest'
import { describeApi, isValue, LIST, readApi } from '../tools/api.ts'

/**
 * What the doc comments of the public API must contain. typedoc checks that every symbol has one (`npm run docs`), and
 * `examples.test.ts` that the examples run.
 */
const { entryPoints, checker } = readApi()
const symbols = new Map(
  entryPoints.flatMap(({ exports }) => exports.map(({ symbol, name }) => [symbol, name] as const)),
)

const textOf = (symbol: ts.Symbol): string => ts.displayPartsToString(symbol.getDocumentationComment(checker))
const tagsOf = (symbol: ts.Symbol, name: string): string[] =>
  symbol.getJsDocTags(checker).flatMap(tag => (tag.name === name ? [ts.displayPartsToString(tag.text)] : []))
const isFunction = ({ flags }: ts.Symbol): boolean => (flags & ts.SymbolFlags.Function) !== 0

/** All declarations that can have parameters: functions, constructors, and methods of interfaces. */
function callables(symbol: ts.Symbol): { name: string; parameters: string[]; documented: string[] }[] {
  const members = [...(symbol.members?.values() ?? [])]
  return [symbol, ...members].flatMap(member =>
    // The comment of the first overload is that of all.
    (member.declarations ?? []).slice(0, 1).flatMap(declaration => {
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
  expect(entryPoints.length).toBe(13)
  expect(symbols.size).toBeGreaterThan(60)
})

it('has a list of every export, which `npm run generate` writes', () => {
  expect(describeApi()).toBe(readFileSync(LIST, 'utf8'))
})

it('begins every doc comment with a sentence that fits a line', () => {
  const lines = readFileSync(LIST, 'utf8').match(/^ {2}.*$/gm) ?? []
  expect(lines.length).toBeGreaterThanOrEqual(symbols.size)
  for (const line of lines) expect(line).toMatch(/^ {2}(?:type )?\w+: .{8,200}\.$/)
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
