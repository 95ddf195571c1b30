import { randomBytes } from 'node:crypto'
import {
  accessSync,
  closeSync,
  constants,
  copyFileSync,
  createReadStream,
  fchmodSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  renameSync,
  type Stats,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Io } from '../command.ts'
import { orUsageError, requireWritten, UsageError } from '../errors.ts'
import { MAX_INPUT_BYTES, MAX_INPUT_MIB } from '../limits.ts'
import { forgetTemporary, keepTemporary } from '../signals.ts'
import { escapeUnprintable } from '../words/value.ts'

/** The file that a command writes. Fails before anything is fetched. */
export function openOutputFile(path: string | undefined, force: boolean, io: Io) {
  if (!path) throw new UsageError('--output is needed: the file to write, or - for standard output')
  if (path === '-') {
    const write = (content: unknown) => {
      io.stdout.write(serialize('standard output', content))
      return requireWritten(io.stdout)
    }
    return { path, write }
  }
  requireFree(path, force)
  return { path, write: (content: unknown): void | Promise<void> => writeWhole(path, serialize(path, content), force) }
}

/** The existing file is not what the command would write, so only the user may replace it. */
export const refuseOverwrite = (path: string, reason: string, remedy = REMEDY): UsageError =>
  new UsageError(`${path} exists, and ${reason}: ${remedy}`)

export const REMEDY = 'move it away, or use --force'

/** @throws UsageError if `verify` would refuse to read it, because an endpoint can pad its answer */
export function serialize(name: string, content: unknown): string {
  // It may end on a terminal, and holds what endpoints sent.
  const text = `${escapeUnprintable(JSON.stringify(content))}\n`
  if (Buffer.byteLength(text) <= MAX_INPUT_BYTES) return text
  throw new UsageError(`${name} would be larger than the ${MAX_INPUT_MIB} MiB that verify reads`)
}

/** Undefined if nothing is there. @throws UsageError for a link, device, FIFO, socket or folder, which are never replaced */
export function statRegular(path: string): Stats | undefined {
  const stats = orUsageError(`cannot write ${path}`, () => lstatSync(path, { throwIfNoEntry: false }))
  if (stats === undefined || stats.isFile()) return stats
  if (stats.isDirectory()) throw new UsageError(`${path} is a folder`)
  throw new UsageError(
    stats.isSymbolicLink()
      ? `${path} is a symbolic link: name the file itself, or - for standard output`
      : `${path} is not a regular file: name another, or - for standard output`,
  )
}

/** @throws UsageError if the file cannot be written, or exists and may not be replaced */
export function requireFree(path: string, replace: boolean): Stats | undefined {
  if (path.endsWith('/')) throw new UsageError(`${path} is a folder`)
  orUsageError(`cannot write ${path}`, () => accessSync(dirname(path), constants.W_OK))
  const stats = statRegular(path)
  if (stats !== undefined && !replace) throw refuseOverwrite(path, 'would be replaced')
  return stats
}

export type StagedFile = ReturnType<typeof stageFile>

/**
 * A file that gets its name once it is whole, so that readers see all of it, or what was there before. Until then, it is beside
 * that place, or in the folder of temporary files if `path` is - for standard output. The signals that end a run remove it.
 */
export function stageFile(path: string, replace: boolean, { mode = 0o666 } = {}) {
  const isFile = path !== '-'
  const replaced = isFile ? requireFree(path, replace) : undefined
  const permissions = replaced ? replaced.mode & 0o777 : isFile ? mode : 0o600
  // An unpredictable name, opened with `wx`, which neither follows nor changes whatever has that name already.
  const name = `.rollup-state-proof-${randomBytes(12).toString('hex')}.tmp`
  const temporary = join(isFile ? dirname(path) : tmpdir(), name)
  const orUnwritable = <T>(work: () => T): T => orUsageError(`cannot write ${path}`, work)
  keepTemporary(temporary)
  const file = orUnwritable(() => openSync(temporary, 'wx', permissions))
  let isOpen = true
  const close = () => {
    if (isOpen) closeSync(file)
    isOpen = false
  }
  return {
    write: (content: string | Uint8Array): void => orUnwritable(() => writeFileSync(file, content)),
    publish: (): void =>
      orUnwritable(() => {
        // The process's mask does not apply to the permissions of a file that is replaced.
        if (replaced !== undefined) fchmodSync(file, permissions)
        fsyncSync(file)
        close()
        if (replace) renameSync(temporary, path)
        else linkExclusive(temporary, path)
      }),
    async print({ stdout }: Io): Promise<void> {
      for await (const chunk of createReadStream(temporary)) {
        const isWritten = await new Promise(resolve => stdout.write(chunk, error => resolve(!error)))
        // Its reader has seen enough, which does not change the verdict.
        if (!isWritten) return requireWritten(stdout)
      }
    },
    remove(): void {
      close()
      forgetTemporary(temporary)
    },
  }
}

/** Fails if `path` exists by now. A rename would replace it. */
function linkExclusive(temporary: string, path: string): void {
  try {
    linkSync(temporary, path)
  } catch {
    // Either the file exists, and this fails too, or the file system has no hard links.
    copyFileSync(temporary, path, constants.COPYFILE_EXCL)
  }
}

export function writeWhole(path: string, content: string | Uint8Array, replace: boolean, how?: { mode: number }): void {
  const staged = stageFile(path, replace, how)
  try {
    staged.write(content)
    staged.publish()
  } finally {
    staged.remove()
  }
}
