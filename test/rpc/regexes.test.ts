import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkSync } from 'recheck'
import ts from 'typescript'
import { expect, it } from 'vitest'
import { redactorOf } from '../../src/rpc/redact.ts'

const FOLDERS = ['src', 'docs/explorer/source']

/** Every regular expression that is spelled in the program, and those that `new RegExp` makes of one literal text. */
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

const isSafe = (source: string, flags: string): boolean => checkSync(source, flags).status === 'safe'

it('has no regular expression that a long text can keep busy', () => {
  const files = FOLDERS.flatMap(folder => {
    try {
      const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      return names.filter(name => name.endsWith('.ts')).map(name => join(folder, name))
    } catch {
      return []
    }
  })
  let checked = 0
  const unsafe: string[] = []
  for (const file of files) {
    for (const [source, flags] of patternsOf(file)) {
      if (!isSafe(source, flags)) unsafe.push(`${file}: /${source}/${flags}`)
      checked++
    }
  }
  expect(unsafe).toEqual([])
  expect(checked).toBeGreaterThan(50)
  // The checker does find what it looks for.
  expect(isSafe(String.raw`method\b.*\bnot\b.*\b(found|exist)`, 'i')).toBe(false)
  expect(isSafe(String.raw`[a-z][a-z0-9+.-]*:\/\/[^\s]+`, 'gi')).toBe(false)
}, 60_000)

it('redacts a text in time that grows with its length alone', () => {
  // What the redactor makes its patterns of is not spelled as a literal: they are caught where they are made.
  const made: [string, string][] = []
  const original = globalThis.RegExp
  const spy = class extends original {
    constructor(pattern: string | RegExp, flags?: string) {
      super(pattern, flags)
      if (typeof pattern === 'string') made.push([pattern, flags ?? ''])
    }
  }
  globalThis.RegExp = spy as RegExpConstructor
  try {
    redactorOf(new URL('https://rpc.example.com:8545/v3/aab-key/ab?k=aaaaaaaa'))
  } finally {
    globalThis.RegExp = original
  }
  expect(made.length).toBe(2)
  const [whole] = made
  expect(whole && isSafe(...whole)).toBe(true)
}, 60_000)
