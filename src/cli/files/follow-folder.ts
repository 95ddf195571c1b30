import { accessSync, constants, existsSync, mkdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { orUsageError, UsageError } from '../errors.ts'
import { toJson } from '../output/report.ts'
import { openGrowingFile } from './growing-file.ts'
import { refuseOverwrite, serialize, statRegular, writeWhole } from './output-file.ts'
import { type AskedFor, progressFile, type Warn } from './progress-file.ts'

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
  write(entries: readonly Entry[], progress: unknown): string[]
}

/** What `state.json` holds. It is signed: a run of this user for this request saved it. */
interface Saved {
  readonly progress: unknown
  /** Of the index, in bytes. */
  readonly length: number
  /** The bundles that a run was writing. If it was killed, they may be there, and so may more lines of the index. */
  readonly writing: readonly string[]
}

/** Runs `work` with the folder where `follow` writes: a bundle per entry, an index of them, and its progress. */
export async function withFolder<T>(
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
  const indexPath = join(path, 'index.ndjson')
  const isBegun = state.read() !== undefined
  if (!isBegun && statRegular(indexPath) !== undefined) throw refuseOverwrite(indexPath, FOREIGN, REMEDY)
  const index = await openGrowingFile(indexPath)
  try {
    // Read again: only from here on can no other run change it.
    const before = isBegun ? (state.read() as Saved) : { progress: undefined, length: 0, writing: [] }
    const isOwn = before.writing.length > 0 ? index.length() >= before.length : index.length() === before.length
    if (!isOwn) throw refuseOverwrite(indexPath, 'holds something other than what was written', REMEDY)
    if (before.writing.length > 0) index.truncate(before.length)
    let { progress, writing } = before
    return await work({
      progress,
      progressPath: state.path,
      write(entries, made) {
        const names = entries.map(({ number }) => `${number}.json`)
        for (const name of names) {
          if (statRegular(join(path, name)) !== undefined && !writing.includes(name))
            throw refuseOverwrite(join(path, name), FOREIGN, REMEDY)
        }
        writing = names
        state.save({ progress, length: index.length(), writing })
        const paths = entries.map(({ number, bundle }) => {
          const file = join(path, `${number}.json`)
          writeWhole(file, serialize(file, bundle), true)
          return file
        })
        index.append(entries.map(({ line }, place) => toJson({ version: 1, ...line, file: names[place] })).join(''))
        index.sync()
        progress = made
        writing = []
        state.save({ progress, length: index.length(), writing })
        return paths
      },
    })
  } finally {
    index.close()
    // A run that wrote nothing leaves no file behind.
    if (!isBegun && index.length() === 0 && !state.exists()) rmSync(indexPath, { force: true })
  }
}

const FOREIGN = 'was not written by a run that follows'
