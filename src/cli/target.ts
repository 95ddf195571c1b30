import { accessSync, constants, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { KeptAnswer } from '../rpc.ts'
import { UsageError } from './command.ts'
import { isFolder, MAX_INPUT_MIB, orUsageError } from './input.ts'

/** The file that a command makes, and beside it what is kept until then. */
export interface Target {
  readonly path: string
  /** Whether there is such a file, which is not to be replaced. */
  readonly exists: boolean
  /** What an earlier run has kept; undefined when there is nothing. */
  readonly kept: unknown
  keep(kept: KeptAnswer): void
  /** Writes the file, and forgets what was kept. */
  write(content: unknown): void
}

/** @throws UsageError when nothing can be written there: better said before anything is fetched */
export function openTarget(path: string | undefined, force: boolean): Target {
  if (path === undefined || path === '-') throw new UsageError('--output is needed: the file to write')
  if (isFolder(path)) throw new UsageError(`${path} is a folder`)
  orUsageError(`cannot write ${path}`, () => accessSync(dirname(path), constants.W_OK))
  const partial = `${path}.partial`
  return {
    path,
    exists: !force && existsSync(path),
    kept: force ? undefined : readKept(partial),
    keep: kept => writeWhole(partial, kept),
    write(content) {
      // An endpoint can fill its answer with what nobody reads.
      if (JSON.stringify(content).length >= MAX_INPUT_MIB * 2 ** 20) {
        throw new UsageError(`${path} would be larger than the ${MAX_INPUT_MIB} MiB that verify reads`)
      }
      writeWhole(path, content)
      rmSync(partial, { force: true })
    },
  }
}

/** The file that is there is not what the command would have made: only the user may replace it. */
export const notOurs = (path: string, reason: string): UsageError =>
  new UsageError(`${path} is there, and ${reason}: move it away, or use --force`)

/** It may be cut off, or anything: then there is nothing. */
function readKept(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return undefined
  }
}

/** Under another name first: whoever looks finds the whole file, or what was there before. */
function writeWhole(path: string, content: unknown): void {
  const temporary = `${path}.${process.pid}.tmp`
  orUsageError(`cannot write ${path}`, () => {
    try {
      writeFileSync(temporary, `${JSON.stringify(content)}\n`, { flush: true })
      renameSync(temporary, path)
    } finally {
      rmSync(temporary, { force: true })
    }
  })
}
