import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const MEGABYTE = 2 ** 20
/** What most disks give to a file at a time. Many packages are thousands of small files. */
const BLOCK = 4096
/** The packages that are as large as this have a reason in CONTRIBUTING.md. */
const LARGE = 20

/** The bytes on the disk of a package, without the packages that are installed inside it. */
function sizeOf(folder: string): number {
  let bytes = 0
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isFile()) bytes += Math.ceil(lstatSync(path).size / BLOCK) * BLOCK
    else if (entry.isDirectory() && entry.name !== 'node_modules') bytes += sizeOf(path)
  }
  return bytes
}

/** What is installed, of the packages in the lock file. Those of other platforms are not. */
function installedSizes(): Map<string, number> {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'))
  const folders = Object.keys(packages).filter(path => path.includes('node_modules/') && packages[path].link !== true)
  return new Map(
    folders.flatMap(path => {
      try {
        return [[path.replace(/^node_modules\//, ''), sizeOf(path) / MEGABYTE] as const]
      } catch {
        return []
      }
    }),
  )
}

const isMeasured = process.platform === 'linux' && process.arch === 'x64'
if (!isMeasured) console.warn('skipped: the sizes of packages, because the list is that of Linux on x64')

it.skipIf(!isMeasured)('installs few megabytes, with a reason for each large package', () => {
  const sizes = installedSizes()
  expect(sizes.size).toBeGreaterThan(100)
  const total = [...sizes.values()].reduce((sum, size) => sum + size, 0)
  expect(total).toBeLessThan(350)
  const [, section = ''] = readFileSync('CONTRIBUTING.md', 'utf8').split('## What `npm ci` installs\n')
  const stated = [...(section.split('\n## ')[0] ?? '').matchAll(/^\| `([^`]*[^`/])` \| (\d+) \| .{10,}\|$/gm)]
  expect(Object.fromEntries(stated.map(([, name, size]) => [name, Number(size)]))).toEqual(
    Object.fromEntries([...sizes].filter(([, size]) => size >= LARGE).map(([name, size]) => [name, Math.round(size)])),
  )
})
