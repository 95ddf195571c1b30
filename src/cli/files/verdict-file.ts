import { ChangedInput, type Judged, type JudgedBatch } from '../audit/audit.ts'
import { createTally, type Tally } from '../audit/audited.ts'
import { createLineDigest } from '../audit/line-digest.ts'
import { withGrowingFiles } from './growing-file.ts'
import { type AskedFor, progressFile, refuseOverwrite } from './output-file.ts'
import type { Warn } from './own-key.ts'

export interface VerdictFile {
  /** What earlier runs of the same audit judged, and the counts of that. */
  readonly judged: Judged
  readonly tally: Tally
  /** How to go on after an interruption, after the words that say where that was. */
  readonly resume: string
  /** @param tally of all that is judged with the batch */
  write(batch: Pick<JudgedBatch, 'text' | 'judged'>, tally: Tally): Promise<void>
}

const NOTHING: Judged = { lines: 0, digest: createLineDigest().get() }

/**
 * Runs `work` with the file, to continue where an earlier run of the same audit ended. `PATH.audit` describes that audit, and
 * holds digests of all that was read and written for it.
 */
export async function withVerdictFile<T extends { readonly failure: Error | undefined }>(
  path: string,
  force: boolean,
  askedFor: AskedFor,
  warn: Warn,
  work: (file: VerdictFile) => Promise<T>,
): Promise<T> {
  const progress = progressFile(`${path}.audit`, askedFor, warn)
  const stateOf = (judged: Judged, tally: Tally) => ({ judged, tally: structuredClone(tally) })
  const start = stateOf(NOTHING, createTally())
  const about = { progress, start, force, foreign: 'is not the output of an audit', beginning: '{"line":' }
  return withGrowingFiles([path], about, async files => {
    const begun = stateOf(files.begun.judged, files.begun.tally)
    let isRead = false
    const outcome = await work({
      ...begun,
      resume: ': run the same command again to continue',
      write({ text, judged }, tally) {
        isRead = true
        return files.write([text], judged === null ? undefined : stateOf(judged, tally))
      },
    }).catch((error: unknown) => {
      throw error instanceof ChangedInput
        ? refuseOverwrite(path, 'is of another input: what was read before has changed')
        : error
    })
    // Drops what a killed run left behind. If an input fails before anything new is read, the file stays as it was.
    if (!isRead && outcome.failure === undefined) await files.write([], stateOf(begun.judged, begun.tally))
    return outcome
  })
}

/** Writes to standard output, where there is no earlier run to continue. */
export const verdictPipe = (write: (verdicts: string) => Promise<void>): VerdictFile => ({
  ...{ judged: NOTHING, tally: createTally() },
  resume: ': with --output FILE, the same command could continue',
  write: ({ text }) => write(text),
})
