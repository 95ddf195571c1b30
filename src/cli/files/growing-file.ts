import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { constants, rmSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { codeOf, orUsageError, UsageError } from '../errors.ts'
import { type ProgressFile, refuseOverwrite, statRegular } from './output-file.ts'

/** A file to which only one run appends at a time. */
type GrowingFile = Awaited<ReturnType<typeof openGrowingFile>>

/** How much of a file a run has written, in bytes, and the SHA-256 of that. */
export interface Written {
  readonly length: number
  readonly sha256: string
}

export interface Growing<State> {
  readonly progress: ProgressFile
  readonly start: State
  readonly force: boolean
  /** Why files without progress are not continued. */
  readonly foreign: string
  /** How each piece begins that is appended to the first file. What a killed run left behind is dropped only if it begins so. */
  readonly beginning: string
}

export interface GrowingFiles<State> {
  readonly begun: State
  /**
   * Appends a piece to each file, in the order of the paths. What is appended without a state, or after the last one that is saved,
   * is dropped before the next run.
   *
   * @param state how far it is then. It is saved soon, and when the run ends, however it ends
   */
  write(pieces: readonly (string | Uint8Array)[], state?: State): Promise<void>
  /** Whether something was written, if only a state. */
  isUsed(): boolean
  save(): Promise<void>
  written(): readonly Written[]
}

/** In milliseconds: how often the state is saved. */
const SAVE_INTERVAL = 1000

/**
 * Runs `work` with files that grow over several runs for the same request, and with the state that was saved. The progress
 * is saved before the files exist, so that it always says what they belong to.
 */
export async function withGrowingFiles<State, T>(
  paths: readonly string[],
  growth: Growing<State>,
  work: (files: GrowingFiles<State>) => Promise<T>,
): Promise<T> {
  const { progress, start, force, foreign } = growth
  const isContinued = !force && (await progress.read()) !== undefined
  for (const path of paths) {
    if (statRegular(path) !== undefined && !isContinued && !force) throw refuseOverwrite(path, foreign, progress.remedy)
  }
  const first = { ...start, files: paths.map(() => ({ length: 0, sha256: createHash('sha256').digest('hex') })) }
  if (!isContinued && !force) progress.save(first, false)
  const files: GrowingFile[] = []
  let growing: GrowingFiles<State> | undefined
  try {
    for (const path of paths) files.push(await openGrowingFile(path))
    if (force) {
      for (const file of files) await file.truncate(0)
      progress.save(first)
    }
    // Read again: only from here on can no other run change it.
    const { files: written, ...begun } = await savedIn<State>(progress)
    await requireWritten(growth, files, written)
    growing = grow<State>(files, written, begun as unknown as State, progress)
    try {
      return await work(growing)
    } finally {
      await growing.save()
    }
  } catch (error) {
    // A run that fails before anything is written leaves no files behind.
    const isEmpty = (path: string) => statSync(path, { throwIfNoEntry: false })?.size === 0
    const isUnused = files.length === paths.length && growing?.isUsed() !== true && paths.every(isEmpty)
    if (isUnused && !isContinued) for (const path of [...paths, progress.path]) rmSync(path, { force: true })
    throw error
  } finally {
    for (const file of files) await file.close()
  }
}

/** The state, and what was written then. It is signed: a run of this user for this request saved it. */
const savedIn = async <State>(progress: ProgressFile) =>
  (await progress.read()) as State & { readonly files: readonly Written[] }

/** @throws UsageError unless the files begin with what was written when the progress was saved */
async function requireWritten<State>(
  { progress, beginning }: Growing<State>,
  files: readonly GrowingFile[],
  written: readonly Written[],
): Promise<void> {
  for (const [index, file] of files.entries()) {
    const { length = 0, sha256 } = written[index] ?? {}
    const isOwn = (await file.readTo(length)).sha256 === sha256
    const behind = await file.textAt(length, index === 0 ? beginning.length : 0)
    if (!isOwn || !beginning.startsWith(behind))
      throw refuseOverwrite(file.path, 'holds something other than what was written', progress.remedy)
  }
}

function grow<State>(
  files: readonly GrowingFile[],
  before: readonly Written[],
  begun: State,
  progress: ProgressFile,
): GrowingFiles<State> {
  let [isCut, savedAt] = [false, performance.now()]
  let unsaved: object | undefined
  const written = () => files.map(file => file.written())
  const save = async () => {
    if (unsaved === undefined) return
    // Syncs the files first: if the machine crashes, the progress must not claim more than they hold.
    await Promise.all(files.map(file => file.sync()))
    progress.save(unsaved)
    unsaved = undefined
    savedAt = performance.now()
  }
  return {
    begun,
    written,
    save,
    isUsed: () => isCut,
    async write(pieces, state) {
      // Only once there is something to write: a run that is refused changes nothing.
      if (!isCut) for (const [index, file] of files.entries()) await file.truncate(before[index]?.length ?? 0)
      isCut = true
      if (state === undefined) await save()
      for (const [index, file] of files.entries()) await file.append(pieces[index] ?? '')
      if (state === undefined) return
      unsaved = { ...state, files: written() }
      if (performance.now() - savedAt >= SAVE_INTERVAL) await save()
    },
  }
}

/** @throws UsageError if it cannot be opened, is not a regular file, or another run appends to it */
async function openGrowingFile(path: string) {
  // Windows has no O_NOFOLLOW.
  const { O_RDWR, O_APPEND, O_CREAT, O_NOFOLLOW = 0 } = constants
  const orUnwritable = <T>(work: () => Promise<T>) => orUsageError(`cannot write ${path}`, work)
  const handle = await orUnwritable(() => open(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW, 0o666))
  try {
    if (!(await handle.stat()).isFile()) throw new UsageError(`${path} is not a regular file`)
    const claimed = await claim(path)
    let { size: length } = await handle.stat()
    /** On systems where a file cannot be claimed, this detects a second run. */
    const requireUnchanged = async () => {
      const { size, nlink } = await handle.stat()
      if (nlink === 0) throw new UsageError(`${path}: it was removed under way`)
      if (size !== length) throw new UsageError(`${path}: another program has changed it`)
    }
    const hash = createHash('sha256')
    const written = (): Written => ({ length, sha256: hash.copy().digest('hex') })
    const sync = () => orUnwritable(() => handle.datasync())
    return {
      path,
      async textAt(position: number, length: number): Promise<string> {
        const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position)
        return buffer.toString('latin1', 0, bytesRead)
      },
      written,
      /** Reads the first bytes, once. @returns what they are, or fewer if there are no more */
      async readTo(end: number): Promise<Written> {
        if (end > 0)
          for await (const chunk of handle.createReadStream({ start: 0, end: end - 1, autoClose: false }))
            hash.update(chunk)
        return written()
      },
      async truncate(to: number) {
        await requireUnchanged()
        await orUnwritable(() => handle.truncate(to))
        length = to
      },
      /** @throws UsageError if it cannot be written, or another program has changed it */
      async append(content: string | Uint8Array) {
        await requireUnchanged()
        await orUnwritable(() => handle.appendFile(content))
        hash.update(content)
        length += Buffer.byteLength(content)
      },
      sync,
      async close() {
        await sync().finally(() => {
          claimed?.close()
          return handle.close()
        })
      },
    }
  } catch (error) {
    await handle.close()
    throw error
  }
}

/**
 * Claims a file or folder by listening on an abstract socket, whose name Linux gives to one process at a time and frees when
 * that process ends, however it ends. A lock file would stay behind.
 *
 * @returns undefined on systems without such names
 */
export async function claim(path: string): Promise<Server | undefined> {
  if (process.platform !== 'linux') return undefined
  const { dev, ino } = orUsageError(`cannot write ${path}`, () => statSync(path, { bigint: true }))
  const server = createServer(socket => socket.destroy()).unref()
  try {
    await once(server.listen(`\0rollup-state-proof-${dev}-${ino}`), 'listening')
    return server
  } catch (error) {
    if (codeOf(error) === 'EADDRINUSE') {
      throw new UsageError(`${path}: another run is writing it. Wait until it ends, or end it`)
    }
    return undefined
  }
}
