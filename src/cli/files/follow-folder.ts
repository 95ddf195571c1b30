import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { orUsageError, UsageError } from '../errors.ts'
import { toJson } from '../output/report.ts'
import { withGrowingFiles } from './growing-file.ts'
import { type AskedFor, progressFile, refuseOverwrite, serialize, statRegular, writeWhole } from './output-file.ts'
import type { Warn } from './own-key.ts'

/** Of this command. It has no --force. */
const REMEDY = 'move it away'

/** What a folder keeps of a finalization or a message: a bundle, and a line in the index. */
export interface Entry {
  readonly number: bigint
  readonly bundle: unknown
  /** Has short values alone. */
  readonly line: object
}

export interface FollowFolder {
  /** The progress of an earlier run; undefined if there was none. */
  readonly progress: unknown
  readonly progressPath: string
  /** Writes the bundles and their lines in the index, each once, and then notes the progress. @returns the paths of the bundles */
  write(entries: readonly Entry[], progress: unknown): Promise<string[]>
}

/**
 * Runs `work` with the folder where `follow` writes: a bundle per entry, an index of them, and its progress. Creates it if missing.
 */
export function withFolder<T>(
  path: string,
  askedFor: AskedFor,
  warn: Warn,
  work: (folder: FollowFolder) => Promise<T>,
): Promise<T> {
  orUsageError(`cannot write to ${path}`, () => {
    if (!existsSync(path)) mkdirSync(path)
    if (!statSync(path).isDirectory()) throw new UsageError(`${path} is not a folder`)
    accessSync(path, constants.W_OK)
  })
  const state = progressFile(join(path, 'state.json'), askedFor, warn, REMEDY)
  const foreign = 'holds something other than what was written'
  const start: { progress: unknown; writing: readonly string[] } = { progress: null, writing: [] }
  const about = { progress: state, start, force: false, foreign, beginning: '{"version":1,' }
  return withGrowingFiles([join(path, 'index.ndjson')], about, async ({ begun, write, save }) => {
    let { progress, writing } = begun
    const note = async (lines: string) => {
      await write([lines], { progress, writing })
      await save()
    }
    return work({
      progress: progress ?? undefined,
      progressPath: state.path,
      async write(entries, made) {
        const names = entries.map(({ number }) => `${number}.json`)
        for (const name of names) {
          // A killed run of this user may have written it, which has said so before.
          if (statRegular(join(path, name)) !== undefined && !writing.includes(name))
            throw refuseOverwrite(join(path, name), 'was not written by a run that follows', REMEDY)
        }
        writing = names
        if (names.length > 0) await note('')
        const paths = entries.map(({ number, bundle }) => {
          const file = join(path, `${number}.json`)
          writeWhole(file, serialize(file, bundle), true)
          return file
        })
        progress = made ?? null
        writing = []
        await note(entries.map(({ line }, index) => toJson({ version: 1, ...line, file: names[index] })).join(''))
        return paths
      },
    })
  })
}
