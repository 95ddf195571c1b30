import { readFileSync, statSync } from 'node:fs'
import { expect, it } from 'vitest'
import { bundleCommand, bundleDevnet } from './bundle.ts'

interface Manifest {
  readonly version: string
  readonly engines: object
  readonly workspaces: readonly string[]
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
  readonly peerDependencies: Readonly<Record<string, string>>
}

const read = (folder: string): Manifest => JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'))
const [library, command, devnet] = [read('.'), read('src/cli'), read('src/devnet')]
const CACHE = 'node_modules/.cache/bundled'

it('has three packages of one version', () => {
  expect(library.workspaces).toEqual(['src/cli', 'src/devnet'])
  for (const { version, engines } of [command, devnet]) {
    expect({ version, engines }).toEqual({ version: library.version, engines: library.engines })
  }
  expect(devnet.peerDependencies).toEqual({ 'rollup-state-proof': library.version })
})

it('links the command in a clone, as the lock file says', () => {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'))
  const { bin } = JSON.parse(readFileSync('src/cli/package.json', 'utf8'))
  expect(packages['src/cli'].bin['rollup-state-proof']).toBe(bin['rollup-state-proof'].replace('./', ''))
  // npm links only what exists before anything is built.
  expect(statSync('src/cli/main.js').mode & 0o111).toBeGreaterThan(0)
})

it('has a library with three dependencies', () => {
  expect(Object.keys(library.dependencies)).toEqual(['@ethereumjs/rlp', '@noble/curves', '@noble/hashes'])
})

it.each([
  ['command', command, bundleCommand],
  ['devnet', devnet, bundleDevnet],
])(
  'has the dependencies that the bundle of the %s imports, in the versions of the tests',
  async (name, own, bundle) => {
    // The EVM is imported by names that no bundler follows.
    const imported = [...(await bundle(`${CACHE}/${name}`)), ...Object.keys(library.peerDependencies)]
    expect(Object.keys(own.dependencies)).toEqual([...new Set(imported)].sort())
    for (const [dependency, version] of Object.entries(own.dependencies)) {
      expect({ ...library.devDependencies, ...library.dependencies }[dependency] ?? version, dependency).toBe(version)
    }
  },
)
