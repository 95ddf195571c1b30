import { open } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import zlib from 'node:zlib'
import { DocumentError, encodingOf } from '../words/value.ts'

/** Bytes to read, or to decompress, at a time: so many that to hand them over costs nothing, and so few that no worker waits for the others. */
export const CHUNK_LENGTH = 2 ** 20

export interface Input {
  readonly name: string
  open(): AsyncIterable<Uint8Array | string>
}

/** The bytes of a file. A stream would read ahead, and nothing can cancel a read of a pipe, whose writer may be silent for long. */
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

/** The bytes of a stream, unpacked if gzip, in UTF-8 if UTF-16, as its first bytes tell. Throws what the decompressor or decoder throws. */
export async function* unpack(chunks: AsyncIterable<Uint8Array | string>): AsyncGenerator<Uint8Array> {
  const source = asBytes(chunks)
  try {
    const sent = await begin(source)
    const { start, all } = isGzip(sent.start) ? await begin(gunzip(sent.all)) : sent
    const encoding = encodingOf(start)
    if (encoding === 'utf-8') return yield* all
    const decoder = new TextDecoder(encoding, { fatal: true })
    for await (const chunk of all) yield Buffer.from(decoder.decode(chunk, { stream: true }))
    // Throws if it ends within a character.
    decoder.decode()
  } finally {
    await source.return(undefined)
  }
}

async function* asBytes(chunks: AsyncIterable<Uint8Array | string>): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk
}

const START_LENGTH = 4

/** The same bytes, and the first of them: the first chunk of a pipe may be too short to tell what they are. */
async function begin(chunks: AsyncGenerator<Uint8Array>) {
  let start: Uint8Array = new Uint8Array()
  while (start.length < START_LENGTH) {
    const { done, value } = await chunks.next()
    if (done) break
    start = start.length === 0 ? value : Buffer.concat([start, value])
  }
  async function* all(): AsyncGenerator<Uint8Array> {
    if (start.length > 0) yield start
    yield* chunks
  }
  return { start, all: all() }
}

async function* gunzip(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const unpacker = zlib.createGunzip({ chunkSize: CHUNK_LENGTH })
  let sent = 0
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      sent += chunk.length
      yield chunk
    }
  }
  const feeding = pipeline(counted, unpacker)
  // Its failure is that of the decompressor, which is thrown below.
  feeding.catch(() => {})
  yield* unpacker
  await feeding
  // A decompressor may end before its input does, without an error.
  if (unpacker.bytesWritten < sent) throw new Error('more bytes follow the end of the compressed data')
}
