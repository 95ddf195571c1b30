/**
 * Writes `dist/sbom.cdx.json`, a part of the library's package: the three packages of a release and all that they need at run time, in
 * the versions that were tested, as CycloneDX 1.6. `npm sbom` leaves out what is a development dependency somewhere else too.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Lock, licenceOf, nameOf, neededBy, PUBLISHED, readLock, runTimePaths } from './dependencies.ts'

const FILE = 'dist/sbom.cdx.json'

/** The address of a package in the registry. */
const purlOf = (name: string, version: string): string => `pkg:npm/${name.replace('@', '%40')}@${version}`

function componentOf(lock: Lock, path: string) {
  const locked = lock[path]
  if (locked === undefined) throw new Error(`${path} is not in the lock file`)
  const [name, { version, integrity }, licence] = [nameOf(path, locked), locked, licenceOf(path, locked)]
  const [, digest] = /^sha512-(.+)$/.exec(integrity ?? '') ?? []
  return {
    type: 'library',
    'bom-ref': purlOf(name, version),
    ...{ name, version },
    ...(digest === undefined
      ? {}
      : { hashes: [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }] }),
    licenses: [licence.includes(' ') ? { expression: licence } : { license: { id: licence } }],
    purl: purlOf(name, version),
  }
}

/** The document. The same lock file makes the same bytes, so it has no date and no serial number. */
export function describeParts(lock: Lock = readLock('')) {
  const paths = [...PUBLISHED, ...runTimePaths(lock, PUBLISHED)]
  const refOf = (path: string) => componentOf(lock, path)['bom-ref']
  const [library, ...components] = paths.map(path => componentOf(lock, path))
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: library },
    components,
    dependencies: paths.map(path => ({ ref: refOf(path), dependsOn: [...new Set(neededBy(lock, path).map(refOf))] })),
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  mkdirSync(dirname(FILE), { recursive: true })
  writeFileSync(FILE, `${JSON.stringify(describeParts(), null, 1)}\n`)
}
