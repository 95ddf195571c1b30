import { once } from 'node:events'
import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { codeOf, messageOf, UsageError } from '../errors.ts'

/** A file to which only one run appends at a time. */
export type GrowingFile = Awaited<ReturnType<typeof openGrowingFile>>

/** @throws UsageError if it cannot be opened, is not a regular file, or another run appends to it */
export async function openGrowingFile(path: string) {
  // Windows has no O_NOFOLLOW.
  const { O_RDWR, O_APPEND, O_CREAT, O_NOFOLLOW = 0 } = constants
  const handle = await orUnwritable(path, open(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW, 0o666))
  try {
    if (!(await handle.stat()).isFile()) throw new UsageError(`${path} is not a regular file`)
    const claim = await claimFile(path, handle)
    let { size: length } = await handle.stat()
    return {
      /** For reading. */
      handle,
      /** In bytes. */
      get length() {
        return length
      },
      async truncate(to: number) {
        await orUnwritable(path, handle.truncate(to))
        length = to
      },
      /** @throws UsageError if it cannot be written, or another program has changed it */
      async append(content: string | Uint8Array) {
        // On systems where a file cannot be claimed, this detects a second run.
        if ((await handle.stat()).size !== length) throw new UsageError(`${path}: another program has changed it`)
        await orUnwritable(path, handle.appendFile(content))
        length += Buffer.byteLength(content)
      },
      sync: () => orUnwritable(path, handle.datasync()),
      async close() {
        claim?.close()
        await handle.close()
      },
    }
  } catch (error) {
    await handle.close()
    throw error
  }
}

/**
 * Claims the file by listening on an abstract socket, whose name Linux gives to one process at a time and frees when that
 * process ends, however it ends. A lock file would stay behind.
 *
 * @returns undefined on systems without such names
 */
async function claimFile(path: string, handle: FileHandle): Promise<Server | undefined> {
  if (process.platform !== 'linux') return undefined
  const { dev, ino } = await handle.stat({ bigint: true })
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

async function orUnwritable<T>(path: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw new UsageError(`cannot write ${path}: ${messageOf(error)}`)
  }
}
