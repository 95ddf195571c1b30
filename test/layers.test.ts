import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import ts from 'typescript'
import { expect, it } from 'vitest'

/** The layers, from the trusted core outwards. A layer imports only from itself and from layers before it. */
const LAYERS = [
  'error-meanings',
  'errors',
  'bytes',
  'hex',
  'json',
  'arguments',
  'options',
  'field',
  'hash',
  'workerd',
  'scheme',
  'tree',
  'proof',
  'verifier',
  'anchor',
  'beacon',
  'blocks',
  'transition',
  'evidence',
  'messages',
  'world',
  'rpc',
  'provider',
  'http',
  'service',
  'document',
  'bulk',
  'cli',
  'explorer',
]
/** These use the library through its entry points, as its users do. None imports another. */
const OUTERMOST = ['cli', 'explorer', 'workerd']
const ALLOWED_PACKAGES = ['@noble/hashes', '@noble/curves', '@ethereumjs/rlp']
/** Packages that only one layer may import. */
const PACKAGES_OF_LAYER: Record<string, readonly string[]> = {
  provider: ['@ethereumjs/evm', '@ethereumjs/common', '@ethereumjs/util'],
  bulk: ['tinypool'],
  cli: ['tinypool'],
}
const PLATFORM_LAYERS = ['http', 'service', 'bulk', 'cli']

const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .map(file => normalize(file).replaceAll('\\', '/'))
  .filter(file => file.endsWith('.ts') && !file.startsWith('hash/assembly/'))

const layerOf = (file: string): string => (file.split('/')[0] ?? '').replace(/\.ts$/, '')
const isEntryPoint = (file: string): boolean =>
  file === 'service/demo.ts' ||
  (!file.includes('/') && !['error-meanings', 'errors', 'bytes', 'hex', 'arguments', 'options'].includes(layerOf(file)))
const importsOf = (file: string): string[] =>
  ts.preProcessFile(readFileSync(join('src', file), 'utf8')).importedFiles.map(imported => imported.fileName)

it('has only one-way imports between layers', () => {
  let imports = 0
  for (const file of files.filter(file => !isEntryPoint(file))) {
    expect(LAYERS, file).toContain(layerOf(file))
    for (const specifier of importsOf(file).filter(name => name.startsWith('.'))) {
      const target = normalize(join(dirname(file), specifier)).replaceAll('\\', '/')
      expect(
        isEntryPoint(target) && !OUTERMOST.includes(layerOf(file)),
        `${file} imports the entry point ${target}`,
      ).toBe(false)
      if (isEntryPoint(target)) continue
      expect(LAYERS.indexOf(layerOf(target)), `${file} imports ${target}`).toBeLessThanOrEqual(
        LAYERS.indexOf(layerOf(file)),
      )
      imports++
    }
  }
  expect(imports).toBeGreaterThan(30)
})

it('has its layers in CONTRIBUTING.md, in the same order', () => {
  const [, table = ''] = /## How the layers fit(.*?)\n## /s.exec(readFileSync('CONTRIBUTING.md', 'utf8')) ?? []
  const cells = [...table.matchAll(/^\| (`src.*?) \|/gm)].map(([, cell = '']) => cell)
  const named = cells.flatMap(cell => [...cell.matchAll(/`src\/([\w-]+)/g)].map(([, layer]) => layer))
  expect(named).toEqual(LAYERS)
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
  const circle = findCircle(file => (file === 'errors.ts' ? ['bytes.ts'] : local(file)))
  expect(circle?.slice(0, 1)).toEqual(circle?.slice(-1))
  expect(circle).toEqual(expect.arrayContaining(['errors.ts', 'bytes.ts']))
})

it('keeps the prover independent of the verifier', () => {
  const world = files.filter(file => file.startsWith('world/'))
  expect(world.length).toBeGreaterThan(0)
  for (const file of world) expect(importsOf(file).join(), file).not.toMatch(/\/(proof|anchor)\//)
})

it('imports only allowed packages, and platform modules only in the outer layers', () => {
  for (const file of files) {
    for (const specifier of importsOf(file).filter(name => !name.startsWith('.'))) {
      const message = `${file} imports ${specifier}`
      if (specifier.startsWith('node:')) expect(PLATFORM_LAYERS, message).toContain(layerOf(file))
      else {
        const name = specifier.startsWith('@') ? specifier.split('/').slice(0, 2).join('/') : specifier.split('/')[0]
        expect([...ALLOWED_PACKAGES, ...(PACKAGES_OF_LAYER[layerOf(file)] ?? [])], message).toContain(name)
      }
    }
  }
})

it('keeps the page independent of the command line', () => {
  const page = files.filter(file => file.startsWith('explorer/'))
  expect(page.length).toBeGreaterThan(10)
  for (const file of page) expect(importsOf(file).join(), file).not.toMatch(/\/(cli|bulk|service|rpc)\//)
})

it('keeps the client independent of the platform', () => {
  const client = files.filter(file => file.startsWith('rpc/'))
  expect(client.length).toBeGreaterThan(4)
  for (const file of ['rpc.ts', ...client]) expect(importsOf(file).join(), file).not.toMatch(/node:|\/service\//)
})

/** `export const mimc: Scheme = scheme`: the same value under a narrower type. */
const isNarrowed = (statement: ts.Statement): boolean =>
  ts.isVariableStatement(statement) &&
  statement.declarationList.declarations.every(
    ({ type, initializer }) => type !== undefined && initializer !== undefined && ts.isIdentifier(initializer),
  )

it('has entry points that only re-export', () => {
  const entryPoints = files.filter(isEntryPoint)
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
