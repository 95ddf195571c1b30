/** What the lock files say: which packages are installed, what each needs, and its licence. */
import { readFileSync } from 'node:fs'

/** An entry of a lock file. */
export interface Locked {
  readonly name?: string
  readonly version: string
  readonly license?: string
  readonly integrity?: string
  readonly link?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

/** By the path in the folder: `''` for the folder's own, `node_modules/ws` for an installed one. */
export type Lock = Readonly<Record<string, Locked>>

/** The folders whose scripts install packages of their own. */
export const TOOL_FOLDERS = [
  'test/bench/peers',
  'test/browser',
  'test/clients',
  'test/mutation',
  'test/oracles',
  'test/tools/site',
  'test/upkeep',
]

/** The packages that are published, by folder in the repository. */
export const PUBLISHED = ['', 'src/cli', 'src/devnet']

/** Licences that lock files lack, because the packages name them in an older form. */
const LICENCES: Readonly<Record<string, string>> = { memorystream: 'MIT' }

export const readLock = (folder: string): Lock =>
  JSON.parse(readFileSync(`${folder === '' ? '.' : folder}/package-lock.json`, 'utf8')).packages

/** The name of a package from its path. */
export const nameOf = (path: string, { name }: Locked): string => name ?? path.replace(/^.*node_modules\//, '')

/** @throws if neither the lock file nor the table above names a licence */
export function licenceOf(path: string, locked: Locked): string {
  const licence = locked.license ?? LICENCES[nameOf(path, locked)]
  if (licence === undefined) throw new Error(`${path} has no licence: look it up, and add it to the table`)
  return licence
}

/** The path of what a package imports by a name: in its own folder, or in one above. */
function find(lock: Lock, from: string, name: string): string {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/')))) {
    const path = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`
    if (lock[path] !== undefined) return path
    if (folder === '') throw new Error(`${from} needs ${name}, which is not in the lock file`)
  }
}

/** The paths of what the package at a path needs at run time. */
export const neededBy = (lock: Lock, path: string): string[] =>
  Object.keys({ ...lock[path]?.dependencies, ...lock[path]?.optionalDependencies }).map(name => find(lock, path, name))

/** The paths of all that these need at run time, and what those need, without these. */
export function runTimePaths(lock: Lock, starts: readonly string[]): string[] {
  const found = new Set<string>()
  const visit = (path: string): void => {
    for (const needed of neededBy(lock, path)) {
      if (found.has(needed)) continue
      found.add(needed)
      visit(needed)
    }
  }
  for (const start of starts) visit(start)
  return [...found].sort()
}

/** The paths of all packages of others. */
export const foreignPaths = (lock: Lock): string[] =>
  Object.keys(lock).filter(path => path.includes('node_modules/') && lock[path]?.link !== true)
