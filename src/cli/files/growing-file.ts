import { once } from 'node:events'
import {
  closeSync,
  constants,
  createReadStream,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server } from 'node:net'
import { codeOf, orUsageError, UsageError } from '../errors.ts'

const LINE_FEED = 0x0a

export type GrowingFile = Awaited<ReturnType<typeof openGrowingFile>>

/** Opens a file to which one run at a time appends lines, over several runs. Creates it if it is missing. @throws UsageError */
export async function openGrowingFile(path: string) {
  // Windows has no O_NOFOLLOW.
  const { O_RDWR, O_APPEND, O_CREAT, O_NOFOLLOW = 0 } = constants
  const orUnwritable = <T>(work: () => T): T => orUsageError(`cannot write ${path}`, work)
  const file = orUnwritable(() => openSync(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW, 0o666))
  let claimed: Server | undefined
  try {
    if (!fstatSync(file).isFile()) throw new UsageError(`${path} is not a regular file`)
    claimed = await claim(file, path)
  } catch (error) {
    closeSync(file)
    throw error
  }
  let length = fstatSync(file).size
  /** On systems where a file cannot be claimed, this detects a second run. */
  const requireUnchanged = () => {
    const { size, nlink } = fstatSync(file)
    if (nlink === 0) throw new UsageError(`${path}: it was removed under way`)
    if (size !== length) throw new UsageError(`${path}: another program has changed it`)
  }
  const sync = () => orUnwritable(() => fdatasyncSync(file))
  return {
    length: () => length,
    /** Where the last whole line ends: a run that was killed may have written a part of the next. */
    endOfLines(): number {
      const part = Buffer.alloc(2 ** 16)
      for (let end = length; end > 0; end -= part.length) {
        const start = Math.max(0, end - part.length)
        const read = readSync(file, part, 0, end - start, start)
        const last = part.subarray(0, read).lastIndexOf(LINE_FEED)
        if (last >= 0) return start + last + 1
      }
      return 0
    },
    /** The bytes before `end`, of which there are some. */
    read: (end: number): AsyncIterable<Uint8Array> =>
      createReadStream(path, { fd: file, autoClose: false, start: 0, end: end - 1 }),
    truncate(to: number): void {
      requireUnchanged()
      orUnwritable(() => ftruncateSync(file, to))
      length = to
    },
    /** @throws UsageError if it cannot be written, or another program has changed it */
    append(content: string): void {
      requireUnchanged()
      orUnwritable(() => writeFileSync(file, content))
      length += Buffer.byteLength(content)
    },
    sync,
    close(): void {
      try {
        sync()
      } finally {
        claimed?.close()
        closeSync(file)
      }
    },
  }
}

/** Listens on an abstract socket, whose name Linux frees when the process ends, however it ends, unlike a lock file. Undefined elsewhere. */
async function claim(file: number, path: string): Promise<Server | undefined> {
  if (process.platform !== 'linux') return undefined
  const { dev, ino } = fstatSync(file, { bigint: true })
  const server = createServer(socket => socket.destroy()).unref()
  try {
    await once(server.listen(`\0rollup-state-proof-${dev}-${ino}`), 'listening')
    return server
  } catch (error) {
    if (codeOf(error) === 'EADDRINUSE')
      throw new UsageError(`${path}: another run is writing it. Wait until it ends, or end it`)
    return undefined
  }
}
