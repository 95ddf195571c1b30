import { open } from 'node:fs/promises'
import zlib from 'node:zlib'
import { DocumentError } from '../words/error.ts'
import { encodingOf, messageOf } from '../words/value.ts'
import { MAX_WAITING } from './limits.ts'

/** Bytes to read, or to decompress, at a time: as many as a batch has. */
export const CHUNK_LENGTH = 2 ** 20

/**
 * Reads the bytes of a file. A stream would read ahead, and nothing can cancel a read of a pipe, whose writer may be silent for long.
 */
export async function* readFileChunks(path: string, onRead?: (length: number) => void): AsyncGenerator<Uint8Array> {
  const file = await open(path)
  try {
    for (;;) {
      const { bytesRead, buffer } = await file.read(new Uint8Array(CHUNK_LENGTH), 0, CHUNK_LENGTH, null)
      if (bytesRead === 0) return
      onRead?.(bytesRead)
      yield buffer.subarray(0, bytesRead)
    }
  } finally {
    await file.close()
  }
}

const GZIP = Uint8Array.of(0x1f, 0x8b)
const ZSTD = Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd)

/** Node reads zstd to the end of a file that was cut, and leaves frames out, without a word. @throws DocumentError if it is zstd */
function isGzip(start: Uint8Array): boolean {
  const begins = (magic: Uint8Array) => magic.every((byte, index) => start[index] === byte)
  if (begins(ZSTD)) throw new DocumentError('packed with zstd: unpack it first, or use gzip')
  return begins(GZIP)
}

/** The bytes, decompressed if they are gzip. @param most how many they may be then @throws DocumentError */
export function unpackWhole(bytes: Uint8Array, most: number): Uint8Array {
  if (!isGzip(bytes)) return bytes
  try {
    return zlib.gunzipSync(bytes, { maxOutputLength: most })
  } catch (error) {
    const isLarge = error instanceof RangeError
    throw new DocumentError(
      isLarge ? `larger than ${most / 2 ** 20} MiB once unpacked` : `damaged gzip: ${messageOf(error)}`,
    )
  }
}

/**
 * The bytes of a stream, decompressed if they are gzip, and in UTF-8 if they are UTF-16. The first bytes decide, not the name of a
 * file.
 *
 * @throws the Error of the decompressor or decoder if they are damaged or truncated
 */
export const unpack = (chunks: AsyncIterable<Uint8Array | string>): AsyncGenerator<Uint8Array> =>
  inUtf8(decompress(chunks))

async function* inUtf8(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let decoder: InstanceType<typeof TextDecoder> | undefined
  for await (const { chunk, isFirst } of withStart(chunks)) {
    const encoding = isFirst ? encodingOf(chunk) : 'utf-8'
    if (encoding !== 'utf-8') decoder = new TextDecoder(encoding, { fatal: true })
    yield decoder === undefined ? chunk : Buffer.from(decoder.decode(chunk, { stream: true }))
  }
  // Throws if it ends within a character.
  decoder?.decode()
}

async function* decompress(chunks: AsyncIterable<Uint8Array | string>): AsyncGenerator<Uint8Array> {
  const parts = withStart(chunks)
  const { value: first } = await parts.next()
  async function* whole(): AsyncGenerator<Uint8Array> {
    if (first !== undefined) yield first.chunk
    for await (const { chunk } of parts) yield chunk
  }
  const isPacked = first !== undefined && isGzip(first.chunk)
  try {
    yield* isPacked ? unpackWith(zlib.createGunzip({ chunkSize: CHUNK_LENGTH }), whole()) : whole()
  } finally {
    await parts.return(undefined)
  }
}

/** Of the bytes that tell what a stream is. */
const START_LENGTH = 4

/** The same bytes. The first chunk of a pipe may be too short to tell what they are: here, it is long enough. */
async function* withStart(
  chunks: AsyncIterable<Uint8Array | string>,
): AsyncGenerator<{ readonly chunk: Uint8Array; readonly isFirst: boolean }, undefined> {
  let start: Uint8Array | undefined = new Uint8Array()
  let failure: { readonly error: unknown } | undefined
  try {
    for await (const piece of chunks) {
      const chunk: Uint8Array = typeof piece === 'string' ? Buffer.from(piece) : piece
      if (start === undefined) yield { chunk, isFirst: false }
      else if (start.length + chunk.length < START_LENGTH) start = Buffer.concat([start, chunk])
      else {
        yield { chunk: start.length === 0 ? chunk : Buffer.concat([start, chunk]), isFirst: true }
        start = undefined
      }
    }
  } catch (error) {
    failure = { error }
  }
  if (start !== undefined && start.length > 0) yield { chunk: start, isFirst: true }
  if (failure !== undefined) throw failure.error
  return undefined
}

/** Where a gzip member may begin: written apart, what comes before a broken one is decompressed. Only so many, as each takes time. */
function* membersIn(chunk: Uint8Array): Generator<Uint8Array> {
  const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
  let start = 0
  for (let count = 1; count < MAX_PIECES; count++) {
    const end = bytes.indexOf(GZIP, start + 1)
    if (end < 0) break
    yield bytes.subarray(start, end)
    start = end
  }
  yield bytes.subarray(start)
}

/** Of a chunk. */
const MAX_PIECES = 256

/** A stream pipeline is no alternative: on an error, it discards the output that came before. */
async function* unpackWith(unpacker: zlib.Gunzip, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const unpacked: Uint8Array[] = []
  let failure: unknown
  let isOver = false
  // Ends the current wait. (A race against one promise for the end would leave something behind for each wait, until the end.)
  let wake = () => {}
  const end = (error?: unknown) => {
    failure ??= error
    isOver = true
    wake()
  }
  unpacker.on('data', chunk => {
    // Paused, it decompresses no further: a few bytes may expand a thousandfold.
    if (unpacked.push(chunk) >= MAX_WAITING) unpacker.pause()
    wake()
  })
  for (const event of ['end', 'close', 'error']) unpacker.once(event, end)
  /** Yields what is decompressed, until `isDone`. Another thread goes on while the consumer works on it. */
  async function* take(isDone: () => boolean): AsyncGenerator<Uint8Array> {
    while (!isOver && !isDone()) {
      if (unpacked.length === 0) await new Promise<void>(resolve => (wake = resolve))
      const ready = unpacked.splice(0)
      unpacker.resume()
      yield* ready
    }
    if (failure !== undefined) throw failure
  }
  function takeWritten(chunk: Uint8Array): AsyncGenerator<Uint8Array> {
    let isWritten = false
    unpacker.write(chunk, () => {
      isWritten = true
      wake()
    })
    return take(() => isWritten)
  }
  try {
    let length = 0
    for await (const chunk of chunks) {
      for (const piece of isOver ? [] : membersIn(chunk)) yield* takeWritten(piece)
      // A decompressor may end before its input does, without an error. Zeros may pad the file.
      const unread = chunk.subarray(Math.max(unpacker.bytesWritten - length, 0))
      if (unread.some(byte => byte !== 0)) throw new Error('more bytes follow the end of the compressed data')
      length += chunk.length
    }
    unpacker.end()
    yield* take(() => isOver)
    yield* unpacked
  } catch (error) {
    yield* unpacked
    throw error
  } finally {
    unpacker.destroy()
  }
}
