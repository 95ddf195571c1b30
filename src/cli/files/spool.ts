import { accessSync, closeSync, constants, createReadStream, openSync, renameSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname } from 'node:path'
import type { Io } from '../command.ts'
import { orUsageError, requireWritten, UsageError } from '../errors.ts'
import { forgetTemporary, keepTemporary } from '../signals.ts'
import { linkExclusive, temporaryIn } from './exclusive.ts'
import { refuseOverwrite, statRegular } from './output-file.ts'

/** Keeps text that nobody may see before all of it is verified: in a temporary file, beside the output file if there is one. */
export function openSpool(path: string, force: boolean, io: Io) {
  const isFile = path !== '-'
  if (path.endsWith('/')) throw new UsageError(`${path} is a folder`)
  if (isFile && statRegular(path) !== undefined && !force) throw refuseOverwrite(path, 'would be replaced')
  const folder = isFile ? dirname(path) : tmpdir()
  orUsageError(`cannot write ${path}`, () => accessSync(folder, constants.W_OK))
  const temporary = temporaryIn(folder)
  keepTemporary(temporary)
  const file = orUsageError(`cannot write ${path}`, () => openSync(temporary, 'wx', isFile ? 0o666 : 0o600))
  let isOpen = true
  const end = () => {
    if (isOpen) closeSync(file)
    isOpen = false
  }
  return {
    write(text: string): void {
      orUsageError(`cannot write ${path}`, () => writeSync(file, text))
    },
    /** Shows everything: as the output file, or on standard output. */
    async publish(): Promise<void> {
      end()
      if (isFile)
        return orUsageError(`cannot write ${path}`, () => (force ? renameSync : linkExclusive)(temporary, path))
      for await (const chunk of createReadStream(temporary)) {
        const isWritten = await new Promise(resolve => io.stdout.write(chunk, error => resolve(!error)))
        // Its reader has seen enough, which does not change the verdict.
        if (!isWritten) return requireWritten(io.stdout)
      }
    },
    remove(): void {
      end()
      forgetTemporary(temporary)
    },
  }
}
