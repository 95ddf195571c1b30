import { statSync } from 'node:fs'
import { createTally, type Tally } from '../../bulk/audit/audited.ts'
import { endOfLastLine, readWritten } from '../../bulk/audit/written.ts'
import { fieldIn, itemsOf } from '../../document/value.ts'
import { withGrowingFiles } from './growing-file.ts'
import { digestOf } from './input.ts'
import { type AskedFor, progressFile, refuseOverwrite } from './output-file.ts'

/** Where `audit` writes its verdicts. */
export interface VerdictFile {
  /** The counts of what earlier runs of the same audit wrote. */
  readonly written: Tally
  /** @param verdicts UTF-8; they may be overwritten afterwards */
  write(verdicts: Uint8Array): Promise<void>
}

/**
 * Runs `work` with the file, to continue where an earlier run of the same audit ended. `PATH.audit` describes that audit.
 *
 * @param inputs paths; `-` is standard input
 * @throws UsageError if the file belongs to something else
 */
export async function withVerdictFile<T>(
  path: string,
  force: boolean,
  inputs: readonly string[],
  askedFor: AskedFor,
  work: (file: VerdictFile) => Promise<T>,
): Promise<T> {
  const progress = progressFile(`${path}.audit`, askedFor)
  const before = force ? undefined : await progress.read()
  if (before !== undefined) await requireSameInputs(path, inputs, before)
  const starts: Awaited<ReturnType<typeof startOf>>[] = []
  for (const input of inputs) starts.push(await startOf(input, START_LENGTH))
  const start = { starts, sizes: inputs.map(sizeOf) }
  const about = { progress, start, force, foreign: 'is not the output of an audit' }
  return withGrowingFiles([path], about, async ([file]) => {
    await file.truncate(await endOfLastLine(file.handle))
    const written = await readWritten(file.handle).catch(() => {
      throw refuseOverwrite(path, 'holds something other than verdicts')
    })
    return work({ written, write: file.append })
  })
}

/** Writes to standard output, where there is no earlier run to continue. */
export const verdictPipe = (write: VerdictFile['write']): VerdictFile => ({ written: createTally(), write })

/** Bytes at the start of an input that tell whether it is still the same one. */
const START_LENGTH = 2 ** 16

/** The length of a file in bytes; null for a pipe. */
function sizeOf(path: string): number | null {
  const stats = path === '-' ? undefined : statSync(path)
  return stats?.isFile() ? stats.size : null
}

/** The first bytes of an input; null for a pipe, whose bytes are unknown before it is read. */
const startOf = async (path: string, length: number) => (sizeOf(path) === null ? null : digestOf(path, length))

/** All inputs must begin with the same bytes. Only the last may have grown since, because verdicts are in order. */
async function requireSameInputs(path: string, inputs: readonly string[], before: unknown): Promise<void> {
  for (const [index, input] of inputs.entries()) {
    const [start, size] = ['starts', 'sizes'].map(name => itemsOf(fieldIn(before, name))[index])
    if (index < inputs.length - 1 && sizeOf(input) !== size) {
      throw refuseOverwrite(path, `is of another ${input}: only the last input may grow`)
    }
    const length = fieldIn(start, 'length')
    if (typeof length !== 'number' || !(length > 0 && length <= START_LENGTH)) continue
    if ((await startOf(input, length))?.sha256 === fieldIn(start, 'sha256')) continue
    throw refuseOverwrite(path, `is of another ${input}`)
  }
}
