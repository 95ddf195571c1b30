import { statSync } from 'node:fs'
import { ChangedInput, type Judged, type JudgedBatch } from '../audit/audit.ts'
import { createTally, type Tally } from '../audit/audited.ts'
import { createLineDigest } from '../audit/line-digest.ts'
import { endOfLastLine, readWritten } from '../audit/written.ts'
import { DocumentError } from '../words/error.ts'
import { fieldIn, itemsOf } from '../words/value.ts'
import { withGrowingFiles } from './growing-file.ts'
import { type AskedFor, progressFile, refuseOverwrite } from './output-file.ts'

/** Where `audit` writes its verdicts. */
export interface VerdictFile {
  /** What earlier runs of the same audit judged, and the counts of what they wrote. */
  readonly judged: Judged
  readonly written: Tally
  /** @param batch its bytes may be overwritten afterwards */
  write(batch: Pick<JudgedBatch, 'bytes' | 'judged' | 'isOpen'>): Promise<void>
}

/** How far an audit is: verdicts behind it are written again, because nothing says what was read for them. */
interface Checkpoint extends Judged {
  /** Of the output, in bytes. */
  readonly length: number
}

const NOTHING: Judged = { lines: 0, digest: createLineDigest().get() }

/** In milliseconds. */
const CHECKPOINT_INTERVAL = 1000

/**
 * Runs `work` with the file, to continue where an earlier run of the same audit ended. `PATH.audit` describes that audit, and
 * holds a digest of all that was read for it.
 *
 * @param inputs paths; `-` is standard input
 * @throws UsageError if the file belongs to something else, or the inputs are no longer those that were read
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
  if (before !== undefined) requireSameSizes(path, inputs, before)
  const sizes = inputs.map(sizeOf)
  const start = { sizes, checkpoint: { ...NOTHING, length: 0 } }
  const about = { progress, start, force, foreign: 'is not the output of an audit' }
  return withGrowingFiles([path], about, async ([file], saved) => {
    const { length, ...judged } = checkpointIn(saved, progress.path)
    if (file.length < length) throw refuseOverwrite(path, 'is shorter than when it was written')
    const end = await endOfLastLine(file.handle)
    // What is behind the checkpoint is dropped, but only if this program wrote it.
    const readAll = async () => {
      const all = await readWritten(file.handle, end)
      return end === length ? all : readWritten(file.handle, length)
    }
    const written = await readAll().catch((error: unknown) => {
      throw refuseOverwrite(
        path,
        error instanceof DocumentError ? error.message : 'holds something other than verdicts',
      )
    })
    if (written.lines !== judged.lines) throw refuseOverwrite(path, 'holds other verdicts than those that were written')
    await file.truncate(length)
    let checkpoint = { ...judged, length }
    let savedAt = performance.now()
    const save = async () => {
      // If the machine crashes, the checkpoint must not claim more than the file holds.
      await file.sync()
      progress.save({ sizes, checkpoint })
      savedAt = performance.now()
    }
    const outcome = await work({
      ...{ judged, written },
      async write({ bytes, judged, isOpen }) {
        await file.append(bytes)
        const open = isOpen ? bytes.length - bytes.lastIndexOf(LF, bytes.length - 2) - 1 : 0
        checkpoint = { ...judged, length: file.length - open }
        if (performance.now() - savedAt >= CHECKPOINT_INTERVAL) await save()
      },
    }).catch((error: unknown) => {
      throw error instanceof ChangedInput
        ? refuseOverwrite(path, 'is of another input: what was read before has changed')
        : error
    })
    await save()
    return outcome
  })
}

const LF = 0x0a

/** @throws UsageError if there is none */
function checkpointIn(saved: unknown, path: string): Checkpoint {
  const checkpoint = fieldIn(saved, 'checkpoint')
  const [lines, length, digest] = ['lines', 'length', 'digest'].map(name => fieldIn(checkpoint, name))
  const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0
  if (isCount(lines) && isCount(length) && typeof digest === 'string') return { lines, length, digest }
  throw refuseOverwrite(path, 'says nothing of what was read')
}

/** Writes to standard output, where there is no earlier run to continue. */
export const verdictPipe = (write: (verdicts: Uint8Array) => Promise<void>): VerdictFile => ({
  ...{ judged: NOTHING, written: createTally() },
  write: ({ bytes }) => write(bytes),
})

/** The length of a file in bytes; null for a pipe. */
function sizeOf(path: string): number | null {
  const stats = path === '-' ? undefined : statSync(path)
  return stats?.isFile() ? stats.size : null
}

/** Only the last input may have grown since, because verdicts are in order. */
function requireSameSizes(path: string, inputs: readonly string[], before: unknown): void {
  for (const [index, input] of inputs.slice(0, -1).entries()) {
    if (sizeOf(input) === itemsOf(fieldIn(before, 'sizes'))[index]) continue
    throw refuseOverwrite(path, `is of another ${input}: only the last input may grow`)
  }
}
