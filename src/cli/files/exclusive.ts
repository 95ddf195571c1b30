import { randomBytes } from 'node:crypto'
import { constants, copyFileSync, linkSync } from 'node:fs'
import { join } from 'node:path'

/** An unpredictable name, to be opened with `wx`, which neither follows nor changes whatever has that name already. */
export const temporaryIn = (folder: string): string =>
  join(folder, `.rollup-state-proof-${randomBytes(12).toString('hex')}.tmp`)

/** Fails if `path` exists by now. A rename would replace it. */
export function linkExclusive(temporary: string, path: string): void {
  try {
    linkSync(temporary, path)
  } catch {
    // Either the file exists, and this fails too, or the file system has no hard links.
    copyFileSync(temporary, path, constants.COPYFILE_EXCL)
  }
}
