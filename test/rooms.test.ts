import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import ts from 'typescript'
import { expect, it } from 'vitest'

/** From the trusted core outwards. A room imports from itself and from rooms before it, never from one after. */
const ROOMS = ['errors', 'bytes', 'field', 'hash', 'scheme', 'tree', 'proof', 'anchor', 'world', 'rpc', 'cli']
const ALLOWED_PACKAGES = ['@noble/hashes', '@noble/curves', '@ethereumjs/rlp']

const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .map(file => normalize(file).replaceAll('\\', '/'))
  .filter(file => file.endsWith('.ts') && !file.startsWith('hash/assembly/'))

const roomOf = (file: string): string => (file.split('/')[0] ?? '').replace(/\.ts$/, '')
const isDoor = (file: string): boolean => !file.includes('/') && !['errors.ts', 'bytes.ts'].includes(file)
const importsOf = (file: string): string[] =>
  ts.preProcessFile(readFileSync(join('src', file), 'utf8')).importedFiles.map(imported => imported.fileName)

it('holds the one-way imports between rooms', () => {
  let imports = 0
  for (const file of files.filter(file => !isDoor(file))) {
    expect(ROOMS, file).toContain(roomOf(file))
    for (const specifier of importsOf(file).filter(name => name.startsWith('.'))) {
      const target = normalize(join(dirname(file), specifier)).replaceAll('\\', '/')
      expect(isDoor(target) && roomOf(file) !== 'cli', `${file} imports the door ${target}`).toBe(false)
      if (isDoor(target)) continue
      expect(ROOMS.indexOf(roomOf(target)), `${file} imports ${target}`).toBeLessThanOrEqual(
        ROOMS.indexOf(roomOf(file)),
      )
      imports++
    }
  }
  expect(imports).toBeGreaterThan(30)
})

it('keeps the prover away from the verifier', () => {
  const world = files.filter(file => file.startsWith('world/'))
  expect(world.length).toBeGreaterThan(0)
  for (const file of world) expect(importsOf(file).join(), file).not.toMatch(/\/(proof|anchor)\//)
})

it('imports only the allowed packages, and the platform only at the edge', () => {
  for (const file of files) {
    for (const specifier of importsOf(file).filter(name => !name.startsWith('.'))) {
      if (specifier.startsWith('node:')) expect(['rpc', 'cli'], `${file} imports ${specifier}`).toContain(roomOf(file))
      else
        expect(ALLOWED_PACKAGES, `${file} imports ${specifier}`).toContain(specifier.split('/').slice(0, 2).join('/'))
    }
  }
})

it('keeps the platform out of the client', () => {
  const client = files.filter(file => /^rpc\/[^/]+\.ts$/.test(file))
  expect(client.length).toBeGreaterThan(4)
  for (const file of ['rpc.ts', ...client]) expect(importsOf(file).join(), file).not.toMatch(/node:|\/service\//)
})

it('has doors that only re-export', () => {
  const doors = files.filter(isDoor)
  expect(doors.length).toBeGreaterThan(3)
  for (const door of doors) {
    const source = ts.createSourceFile(door, readFileSync(join('src', door), 'utf8'), ts.ScriptTarget.ES2022)
    for (const statement of source.statements) expect(ts.isExportDeclaration(statement), door).toBe(true)
  }
})
