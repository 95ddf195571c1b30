import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import ts from 'typescript'
import { expect, it } from 'vitest'
import { sourceFiles } from './sources.ts'

/**
 * The wings and their rooms, from the trusted core outwards. A room imports only from itself and from rooms before it. A wing
 * without rooms is one room.
 */
const WINGS: Readonly<Record<string, readonly string[]>> = {
  base: ['error-meanings', 'errors', 'bytes', 'hex', 'json', 'arguments', 'options'],
  verify: [
    'field',
    'hash',
    'scheme',
    'tree',
    'proof',
    'verifier',
    'anchor',
    'beacon',
    'blocks',
    'transition',
    'messages',
    'state',
    'evidence',
  ],
  client: ['network', 'transport', 'sources', 'l1', 'beacon', 'record', 'follow'],
  provider: [],
  entry: [],
  devnet: ['world', 'http', 'service'],
  cli: ['words', 'audit', 'snapshot', ''],
  site: [],
}
const ROOMS = Object.entries(WINGS).flatMap(([wing, rooms]) =>
  rooms.length === 0 ? [wing] : rooms.map(room => join(wing, room)),
)
/** These use the library through its entry points, as its users do. */
const OUTERMOST = ['devnet', 'cli', 'site']
const ALLOWED_PACKAGES = ['@noble/hashes', '@noble/curves', '@ethereumjs/rlp']
/** Packages that only one wing may import. */
const PACKAGES_OF_WING: Record<string, readonly string[]> = {
  provider: ['@ethereumjs/evm', '@ethereumjs/common', '@ethereumjs/util'],
  entry: ['@ethereumjs/evm', '@ethereumjs/common', '@ethereumjs/util'],
  cli: ['tinypool', 'ws'],
}
const PLATFORM_WINGS = ['devnet', 'cli']

const files = sourceFiles().filter(file => !file.startsWith('verify/hash/assembly/'))

const wingOf = (file: string): string => file.split('/')[0] ?? ''
/** A folder of a wing, or a file at its top; of the command line, what is in no other room. */
function roomOf(file: string): string {
  const [wing = '', name = ''] = file.replace(/\.ts$/, '').split('/')
  return [join(wing, name), wing].find(room => ROOMS.includes(room)) ?? file
}
const isEntryPoint = (file: string): boolean => file.startsWith('entry/') || file === 'devnet/index.ts'
/** The programs that workerd gets in place of some of them. */
const isForWorkerd = (file: string): boolean => file.startsWith('entry/workerd/')
/** Needs more than a re-export: bundlers must see its imports. */
const isEvm = (file: string): boolean => file === 'entry/provider/evm.ts'
const importsOf = (file: string): string[] =>
  ts.preProcessFile(readFileSync(join('src', file), 'utf8')).importedFiles.map(imported => imported.fileName)

it('has only one-way imports between rooms', () => {
  let imports = 0
  for (const file of files.filter(file => !isEntryPoint(file))) {
    expect(ROOMS, file).toContain(roomOf(file))
    for (const specifier of importsOf(file).filter(name => name.startsWith('.'))) {
      const target = normalize(join(dirname(file), specifier)).replaceAll('\\', '/')
      expect(
        isEntryPoint(target) && !OUTERMOST.includes(wingOf(file)),
        `${file} imports the entry point ${target}`,
      ).toBe(false)
      if (isEntryPoint(target)) continue
      expect(ROOMS.indexOf(roomOf(target)), `${file} imports ${target}`).toBeLessThanOrEqual(
        ROOMS.indexOf(roomOf(file)),
      )
      imports++
    }
  }
  expect(imports).toBeGreaterThan(30)
})

it('has its wings and rooms in CONTRIBUTING.md, in the same order', () => {
  const [, table = ''] = /## How the layers fit(.*?)\n## /s.exec(readFileSync('CONTRIBUTING.md', 'utf8')) ?? []
  const named = [...table.matchAll(/^\| `src\/(\w+)\/` \|([^|]*)\|/gm)].map(([, wing = '', rooms = '']) => [
    wing,
    [...rooms.matchAll(/`([\w-]+)`/g)].map(([, room = '']) => room),
  ])
  expect(named).toEqual(Object.entries(WINGS).map(([wing, rooms]) => [wing, rooms.filter(room => room !== '')]))
})

/** The first circle of files that import each other, types included; null if there is none. */
function findCircle(importsOf: (file: string) => readonly string[]): string[] | null {
  const done = new Set<string>()
  const way: string[] = []
  const visit = (file: string): string[] | null => {
    if (done.has(file)) return null
    if (way.includes(file)) return [...way.slice(way.indexOf(file)), file]
    way.push(file)
    for (const imported of importsOf(file)) {
      const circle = visit(imported)
      if (circle !== null) return circle
    }
    way.pop()
    done.add(file)
    return null
  }
  for (const file of files) {
    const circle = visit(file)
    if (circle !== null) return circle
  }
  expect(done.size).toBeGreaterThanOrEqual(files.length)
  return null
}

it('has no circle of imports between files', () => {
  const local = (file: string) =>
    importsOf(file)
      .filter(name => name.startsWith('.') && name.endsWith('.ts'))
      .map(name => normalize(join(dirname(file), name)).replaceAll('\\', '/'))
  expect(findCircle(local)).toBeNull()
  // It would be found.
  const circle = findCircle(file => (file === 'base/errors.ts' ? ['base/bytes.ts'] : local(file)))
  expect(circle?.slice(0, 1)).toEqual(circle?.slice(-1))
  expect(circle).toEqual(expect.arrayContaining(['base/errors.ts', 'base/bytes.ts']))
})

it('keeps the prover independent of the verifier', () => {
  const world = files.filter(file => file.startsWith('devnet/world/'))
  expect(world.length).toBeGreaterThan(0)
  for (const file of world) expect(importsOf(file).join(), file).not.toMatch(/\/(proof|anchor)\//)
})

it('imports only allowed packages, and platform modules only in the outer wings', () => {
  for (const file of files) {
    for (const specifier of importsOf(file).filter(name => !name.startsWith('.'))) {
      const message = `${file} imports ${specifier}`
      if (specifier.startsWith('node:')) expect(PLATFORM_WINGS, message).toContain(wingOf(file))
      else {
        const name = specifier.startsWith('@') ? specifier.split('/').slice(0, 2).join('/') : specifier.split('/')[0]
        expect([...ALLOWED_PACKAGES, ...(PACKAGES_OF_WING[wingOf(file)] ?? [])], message).toContain(name)
      }
    }
  }
})

it('reads no clock in what decides verdicts, and waits for nothing there', () => {
  const deciding = files.filter(file => ['base', 'verify'].includes(wingOf(file)))
  expect(deciding.length).toBeGreaterThan(70)
  for (const file of deciding) {
    expect(readFileSync(join('src', file), 'utf8'), file).not.toMatch(
      /\b(new Date|Date\.|performance\.|set(Timeout|Interval|Immediate)\(|Math\.random)/,
    )
  }
})

it('keeps the page independent of the command line', () => {
  const page = files.filter(file => file.startsWith('site/'))
  expect(page.length).toBeGreaterThan(10)
  for (const file of page) expect(importsOf(file).join(), file).not.toMatch(/\/(cli\/(?!words)|devnet|client)\//)
})

it('keeps the client independent of the platform', () => {
  const client = files.filter(file => file.startsWith('client/'))
  expect(client.length).toBeGreaterThan(4)
  for (const file of ['entry/rpc.ts', ...client]) expect(importsOf(file).join(), file).not.toMatch(/node:|\/devnet\//)
})

/** `export const mimc: Scheme = scheme`: the same value under a narrower type. */
const isNarrowed = (statement: ts.Statement): boolean =>
  ts.isVariableStatement(statement) &&
  statement.declarationList.declarations.every(
    ({ type, initializer }) => type !== undefined && initializer !== undefined && ts.isIdentifier(initializer),
  )

it('has entry points that only re-export', () => {
  const entryPoints = files.filter(file => isEntryPoint(file) && !isForWorkerd(file) && !isEvm(file))
  expect(entryPoints.length).toBeGreaterThan(3)
  for (const entryPoint of entryPoints) {
    const source = ts.createSourceFile(
      entryPoint,
      readFileSync(join('src', entryPoint), 'utf8'),
      ts.ScriptTarget.ES2022,
    )
    for (const statement of source.statements) {
      const isKnown = [ts.isImportDeclaration, ts.isExportDeclaration, isNarrowed].some(is => is(statement))
      expect(isKnown, `${entryPoint}: ${statement.getText(source)}`).toBe(true)
    }
  }
})

/** The value itself: neither a bracket nor the name of a type makes it another. */
const bare = (expression: ts.Expression): ts.Expression =>
  ts.isParenthesizedExpression(expression) || ts.isAsExpression(expression) || ts.isSatisfiesExpression(expression)
    ? bare(expression.expression)
    : expression

it('has one line for each property of a long object, and packs none into a literal', () => {
  let spreads = 0
  for (const file of files) {
    const source = ts.createSourceFile(file, readFileSync(join('src', file), 'utf8'), ts.ScriptTarget.ES2022)
    const visit = (node: ts.Node): void => {
      if (ts.isSpreadAssignment(node) || ts.isSpreadElement(node)) {
        const value = bare(node.expression)
        const isPacked = ts.isObjectLiteralExpression(value) || ts.isArrayLiteralExpression(value)
        expect(isPacked, `${file}: ${node.getText(source)}`).toBe(false)
        spreads++
      }
      ts.forEachChild(node, visit)
    }
    visit(source)
  }
  expect(spreads).toBeGreaterThan(300)
})
