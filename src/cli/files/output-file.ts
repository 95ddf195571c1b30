import { accessSync, chmodSync, constants, lstatSync, renameSync, rmSync, type Stats, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Io } from '../command.ts'
import { orUsageError, requireWritten, UsageError } from '../errors.ts'
import { MAX_INPUT_BYTES, MAX_INPUT_MIB } from '../limits.ts'
import { forgetTemporary, keepTemporary } from '../signals.ts'
import { escapeUnprintable, fieldIn, isObject, otherVersion } from '../words/value.ts'
import { linkExclusive, temporaryIn } from './exclusive.ts'
import { readRegularJson } from './input.ts'
import { openSigner, type Warn } from './own-key.ts'

/** What a run was asked for, by name. It is compared before an earlier run is continued. */
export type AskedFor = Readonly<Record<string, string>>

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
  if (path.endsWith('/')) throw new UsageError(`${path} is a folder`)
  orUsageError(`cannot write ${path}`, () => accessSync(dirname(path), constants.W_OK))
  if (statRegular(path) !== undefined && !force) throw refuseOverwrite(path, 'would be replaced')
  return { path, write: (content: unknown): void | Promise<void> => writeWhole(path, serialize(path, content), force) }
}

/** The existing file is not what the command would write, so only the user may replace it. */
export const refuseOverwrite = (path: string, reason: string, remedy = REMEDY): UsageError =>
  new UsageError(`${path} exists, and ${reason}: ${remedy}`)

const REMEDY = 'move it away, or use --force'

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

const PROGRESS = 'progress of rollup-state-proof'

const NOT_OWN = 'was not written by this user on this machine, or it was changed, so nothing in it is believed'

/** A file that says what a run was asked for, and how far it is. */
export type ProgressFile = ReturnType<typeof progressFile>

/**
 * Progress is believed only if a run of this user signed it: whoever sends files would otherwise choose what counts as verified.
 */
export function progressFile(path: string, askedFor: AskedFor, warn: Warn, remedy = REMEDY) {
  const { sign, isSigned } = openSigner(warn)
  const textOf = (before: unknown, progress: unknown) => JSON.stringify([1, before, progress])
  const exists = () => statRegular(path) !== undefined
  return {
    path,
    exists,
    remedy,
    /** Undefined if there is none. @throws UsageError if it is not the progress of a run for the same request */
    async read(): Promise<unknown> {
      if (!exists()) return undefined
      const content = await readRegularJson(path, { followLinks: false }).catch((error: unknown) => {
        if (error instanceof UsageError) return undefined
        throw error
      })
      const before = fieldIn(content, 'askedFor')
      if (fieldIn(content, 'kind') !== PROGRESS || !isObject(before)) {
        throw refuseOverwrite(path, 'is not the progress of a run of this program', remedy)
      }
      const other = otherVersion(content)
      if (other !== undefined) throw refuseOverwrite(path, other, remedy)
      const differing = Object.keys(askedFor).filter(name => before[name] !== askedFor[name])
      if (differing.length > 0)
        throw refuseOverwrite(path, `is of another request (it differs in ${differing.join(', ')})`, remedy)
      const progress = fieldIn(content, 'progress') ?? null
      if (isSigned(textOf(before, progress), fieldIn(content, 'signature'))) return progress
      throw refuseOverwrite(path, NOT_OWN, remedy)
    },
    save(progress: unknown, replace = true): void {
      const signature = sign(textOf(askedFor, progress))
      const text = `${JSON.stringify({ kind: PROGRESS, version: 1, askedFor, progress, signature })}\n`
      // Progress that is too large to be read again is useless, so what was saved before stays.
      if (Buffer.byteLength(text) <= MAX_INPUT_BYTES) writeWhole(path, text, replace)
    },
    remove: () => rmSync(path, { force: true }),
  }
}

/** Writes a file under a temporary name first, so that readers see all of it, or what was there before. */
export function writeWhole(path: string, text: string, replace: boolean): void {
  const replaced = replace ? statRegular(path) : undefined
  const mode = replaced && replaced.mode & 0o777
  const temporary = temporaryIn(dirname(path))
  keepTemporary(temporary)
  orUsageError(`cannot write ${path}`, () => {
    try {
      writeFileSync(temporary, text, { flag: 'wx', mode: mode ?? 0o666, flush: true })
      // The process's mask does not apply to the permissions of a file that is replaced.
      if (mode !== undefined) chmodSync(temporary, mode)
      if (replace) renameSync(temporary, path)
      else linkExclusive(temporary, path)
    } finally {
      forgetTemporary(temporary)
    }
  })
}
