import { createHash } from 'node:crypto'
import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { createTally, type Tally } from '../../bulk/audit/audited.ts'
import { endOfLastLine, readWritten } from '../../bulk/audit/written.ts'
import { fieldIn, isObject, itemsOf } from '../../document/value.ts'
import { orUsageError } from '../errors.ts'
import { openGrowingFile } from './growing-file.ts'
import { type AskedFor, readProgress, refuseOverwrite, statRegular, writeWhole } from './output-file.ts'

/** Where `audit` writes its verdicts. */
export interface VerdictFile {
  /** The counts of what earlier runs of the same audit wrote. */
  readonly written: Tally
  /** @param verdicts UTF-8; they may be overwritten afterwards */
  write(verdicts: Uint8Array): Promise<void>
  close(): Promise<void>
}

/**
 * Opens the file, to continue where an earlier run of the same audit ended. The file `PATH.audit` describes that audit.
 *
 * @param inputs paths; `-` is standard input
 * @throws UsageError if the file belongs to something else
 */
export async function openVerdictFile(
  path: string,
  force: boolean,
  inputs: readonly string[],
  askedFor: AskedFor,
): Promise<VerdictFile> {
  const beside = `${path}.audit`
  const [exists, isContinued] = [statRegular(path) !== undefined, statRegular(beside) !== undefined && !force]
  if (exists && !isContinued && !force) throw refuseOverwrite(path, 'is not the output of an audit')
  if (isContinued) requireSameInputs(path, inputs, await readProgress(beside, askedFor))
  const describe = () => {
    const checkpoint = { starts: inputs.map(input => startOf(input, START_LENGTH)), sizes: inputs.map(sizeOf) }
    writeWhole(beside, `${JSON.stringify({ askedFor, checkpoint })}\n`, force)
  }
  // Written before the first verdict, so that it always says what the verdicts belong to.
  if (!isContinued && !force) describe()
  const file = await openGrowingFile(path)
  try {
    if (force) {
      await file.truncate(0)
      describe()
    }
    await file.truncate(await endOfLastLine(file.handle))
    const written = await readWritten(file.handle).catch(() => {
      throw refuseOverwrite(path, 'holds something other than verdicts')
    })
    return {
      written,
      write: verdicts => file.append(verdicts),
      async close() {
        await file.sync()
        await file.close()
      },
    }
  } catch (error) {
    await file.close()
    throw error
  }
}

/** Writes to standard output, where there is no earlier run to continue. */
export const openVerdictPipe = (write: VerdictFile['write']): VerdictFile => ({
  written: createTally(),
  write,
  close: async () => {},
})

/** Bytes at the start of an input that tell whether it is still the same one. */
const START_LENGTH = 2 ** 16

/** SHA-256 of the first bytes of an input; null for a pipe, whose bytes are unknown before it is read. */
function startOf(path: string, length: number): { length: number; sha256: string } | null {
  if (path === '-' || !statSync(path).isFile()) return null
  return orUsageError(`cannot read ${path}`, () => {
    const file = openSync(path, 'r')
    try {
      const bytes = new Uint8Array(length)
      const start = bytes.subarray(0, readSync(file, bytes))
      return { length: start.length, sha256: createHash('sha256').update(start).digest('hex') }
    } finally {
      closeSync(file)
    }
  })
}

/** The length of a file in bytes; null for a pipe. */
function sizeOf(path: string): number | null {
  const stats = path === '-' ? undefined : statSync(path)
  return stats?.isFile() ? stats.size : null
}

/** All inputs must begin with the same bytes. Only the last may have grown since, because verdicts are in order. */
function requireSameInputs(path: string, inputs: readonly string[], checkpoint: unknown): void {
  const [starts, sizes] = ['starts', 'sizes'].map(name => itemsOf(fieldIn(checkpoint, name))) as [unknown[], unknown[]]
  const grown = inputs.slice(0, -1).find((input, index) => sizeOf(input) !== sizes[index])
  if (grown !== undefined) throw refuseOverwrite(path, `is of another ${grown}: only the last input may grow`)
  for (const [index, input] of inputs.entries()) {
    const before = starts[index]
    const length = fieldIn(before, 'length')
    if (!isObject(before) || typeof length !== 'number' || !(length >= 0 && length <= START_LENGTH)) continue
    if (startOf(input, length)?.sha256 === fieldIn(before, 'sha256')) continue
    throw refuseOverwrite(path, `is of another ${input}`)
  }
}
