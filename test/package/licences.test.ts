import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { foreignPaths, type Lock, licenceOf, runTimePaths, TOOL_FOLDERS } from '../tools/dependencies.ts'
import { describeLicences, PAGE } from '../tools/licences.ts'
import { describeParts } from '../tools/sbom.ts'

it('has a page with all licences, which `npm run generate` writes', () => {
  const page = readFileSync(PAGE, 'utf8')
  expect(describeLicences()).toBe(page)
  expect(page).toContain('- MPL-2.0 (library, command, devnet): `@ethereumjs/rlp` 10.1.3')
})

it('lists the packages of a release and what they need at run time, with licences and digests', () => {
  const { components, dependencies, metadata } = describeParts()
  const names = [metadata.component, ...components].map(part => part?.name)
  expect(names.slice(0, 3)).toEqual(['rollup-state-proof', 'rollup-state-proof-cli', 'rollup-state-proof-devnet'])
  const manifests = ['.', 'src/cli', 'src/devnet'].map(folder =>
    JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')),
  )
  const direct = new Set(manifests.flatMap(({ dependencies }) => Object.keys(dependencies)))
  expect(direct.size).toBe(8)
  for (const name of direct) expect(names).toContain(name)
  // What is not ours has the digest of its tarball.
  const foreign = components.slice(2)
  expect(foreign.length).toBeGreaterThan(direct.size)
  for (const { name, hashes } of foreign) expect(hashes?.[0]?.content, name).toMatch(/^[0-9a-f]{128}$/)
  const references = new Set([metadata.component, ...components].map(part => part?.['bom-ref']))
  expect(dependencies.map(({ ref }) => ref)).toEqual([...references])
  for (const { dependsOn } of dependencies) for (const ref of dependsOn) expect(references).toContain(ref)
})

it('finds what a package needs, as Node does, and what that needs', () => {
  const lock: Lock = {
    '': { version: '1.0.0', dependencies: { a: '1' } },
    'node_modules/a': { version: '1.0.0', dependencies: { b: '1' }, optionalDependencies: { c: '1' } },
    'node_modules/a/node_modules/b': { version: '1.0.0', dependencies: { a: '1' } },
    'node_modules/b': { version: '2.0.0' },
    'node_modules/c': { version: '1.0.0' },
  }
  expect(runTimePaths(lock, [''])).toEqual(['node_modules/a', 'node_modules/a/node_modules/b', 'node_modules/c'])
  expect(foreignPaths(lock).length).toBe(4)
  expect(() => runTimePaths({ '': { version: '1.0.0', dependencies: { d: '1' } } }, [''])).toThrow('needs d')
  expect(() => licenceOf('node_modules/a', { version: '1.0.0' })).toThrow('no licence')
})

/** The folders below one that have a lock file. */
function lockedFolders(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true })
  const inside = entries.filter(entry => entry.isDirectory() && entry.name !== 'node_modules')
  return [
    ...(entries.some(({ name }) => name === 'package-lock.json') ? [folder] : []),
    ...inside.flatMap(({ name }) => lockedFolders(`${folder}/${name}`)),
  ]
}

it('knows every lock file, and so do those who update it', () => {
  expect(lockedFolders('test').sort()).toEqual(TOOL_FOLDERS)
  const updates = readFileSync('.github/dependabot.yml', 'utf8')
  for (const folder of TOOL_FOLDERS) expect(updates).toContain(` /${folder}`)
})
