import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import ts from 'typescript'
import { expect, it } from 'vitest'
import { sourceFiles } from '../sources.ts'

/** What is used of recheck, which `npm run test:all` installs. */
interface Checker {
  checkSync(source: string, flags: string, limits: object): { readonly status: string }
}
const ORACLES = resolve('test/oracles/node_modules')
const isInstalled = existsSync(ORACLES)
if (!isInstalled)
  console.warn('skipped: all regular expressions, because only `npm run test:all` installs their checker')

/** Every regular expression literal in a file. Those built at run time see at most 4 KiB of text. */
function patternsOf(file: string): [source: string, flags: string][] {
  const patterns: [string, string][] = []
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.ES2022, true)
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/')
      patterns.push([node.text.slice(1, end), node.text.slice(end + 1)])
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return patterns
}

/** By the checker's limits of steps alone. With its limits of time, which are short, an expression is unsafe on a busy machine. */
const untimed = { timeout: null, attackTimeout: null, incubationTimeout: null, seedingTimeout: null }

it.skipIf(!isInstalled)('has no regular expression that is slow on long text', () => {
  const { checkSync }: Checker = createRequire(join(ORACLES, '/'))('recheck')
  const isSafe = (source: string, flags: string): boolean => checkSync(source, flags, untimed).status === 'safe'
  const files = sourceFiles().map(name => join('src', name))
  /** The last place of each expression. Many occur in several places. */
  const found = new Map<string, { file: string; source: string; flags: string }>()
  for (const file of files) {
    for (const [source, flags] of patternsOf(file)) found.set(`/${source}/${flags}`, { file, source, flags })
  }
  const unsafe = [...found.values()].filter(({ source, flags }) => !isSafe(source, flags))
  expect(unsafe).toEqual([])
  expect(found.size).toBeGreaterThan(50)
  // The checker recognizes unsafe expressions.
  expect(isSafe(String.raw`method\b.*\bnot\b.*\b(found|exist)`, 'i')).toBe(false)
  expect(isSafe(String.raw`[a-z][a-z0-9+.-]*:\/\/[^\s]+`, 'gi')).toBe(false)
})
