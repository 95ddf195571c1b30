import { open } from 'node:fs/promises'
import zlib from 'node:zlib'

/** Bytes to read and decompress at a time. */
export const CHUNK_LENGTH = 2 ** 18

/**
 * Reads the bytes of a file. The memory of a chunk is reused for the second chunk after it.
 *
 * @param onRead called with the length of each chunk
 */
export async function* readFileChunks(path: string, onRead?: (length: number) => void): AsyncGenerator<Uint8Array> {
  const file = await open(path)
  try {
    const memory = [new Uint8Array(CHUNK_LENGTH), new Uint8Array(CHUNK_LENGTH)] as const
    for (let turn = 0; ; turn++) {
      const { bytesRead, buffer } = await file.read(memory[turn % 2 === 0 ? 0 : 1], 0, CHUNK_LENGTH, null)
      if (bytesRead === 0) return
      onRead?.(bytesRead)
      yield buffer.subarray(0, bytesRead)
    }
  } finally {
    await file.close()
  }
}

/** The compression formats, and the bytes with which they begin. */
const PACKED: readonly {
  readonly magic: readonly number[]
  readonly name: string
  readonly unpacker: () => zlib.Gunzip | undefined
}[] = [
  { magic: [0x1f, 0x8b], name: 'gzip', unpacker: () => zlib.createGunzip({ chunkSize: CHUNK_LENGTH }) },
  { magic: [0x28, 0xb5, 0x2f, 0xfd], name: 'zstd', unpacker: createZstd },
]

/** Needs Node 22.15 or later; undefined before that. */
function createZstd(): zlib.Gunzip | undefined {
  const create: unknown = Reflect.get(zlib, 'createZstdDecompress')
  return typeof create === 'function' ? create({ chunkSize: CHUNK_LENGTH }) : undefined
}

/**
 * The bytes of a stream, decompressed if they are gzip or zstd. The first bytes decide, not the name of a file.
 *
 * @throws the decompressor's Error if they are damaged or truncated
 */
export async function* unpack(chunks: AsyncIterable<Uint8Array | string>): AsyncGenerator<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]()
  let start: Uint8Array = new Uint8Array()
  // The first chunk of a pipe may be too short to tell.
  while (start.length < 4) {
    const { done, value } = await iterator.next()
    if (done) break
    start = Buffer.concat([start, Buffer.from(value)])
  }
  const packed = PACKED.find(({ magic }) => magic.every((byte, index) => start[index] === byte))
  if (packed === undefined) return yield* continued(start, iterator)
  const unpacker = packed.unpacker()
  if (unpacker === undefined) throw new Error(`it is packed with ${packed.name}, which takes Node 22.15 or later`)
  yield* unpackWith(unpacker, continued(start, iterator))
}

/**
 * Bytes to pass to the decompressor at a time. They can expand a thousandfold, and the result is held in memory. (A stream
 * pipeline is no alternative: on an error, it discards the output that came before.)
 */
const PIECE_LENGTH = 2 ** 15

async function* unpackWith(unpacker: zlib.Gunzip, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const unpacked: Uint8Array[] = []
  let failure: unknown
  let isOver = false
  // Ends the wait for the last piece, which may not be reported if the decompressor fails or ends. (A race against one promise
  // for its end would leave something behind for each piece, until that end.)
  let wake = () => {}
  const end = (error?: unknown) => {
    failure ??= error
    isOver = true
    wake()
  }
  unpacker.on('data', chunk => unpacked.push(chunk))
  for (const event of ['end', 'close', 'error']) unpacker.once(event, end)
  try {
    let written = Promise.resolve()
    for await (const chunk of chunks) {
      for (let start = 0; start < chunk.length; start += PIECE_LENGTH) {
        if (!isOver) await written
        const ready = unpacked.splice(0)
        if (failure === undefined) {
          const piece = chunk.subarray(start, start + PIECE_LENGTH)
          // Decompresses on another thread, while the consumer works on what is ready.
          written = new Promise(resolve => {
            wake = resolve
            unpacker.write(piece, () => resolve())
          })
        }
        yield* ready
        if (failure !== undefined) throw failure
      }
    }
    unpacker.end()
    while (!isOver) await new Promise<void>(resolve => (wake = resolve))
    yield* unpacked
    if (failure !== undefined) throw failure
  } finally {
    unpacker.destroy()
  }
}

async function* continued(start: Uint8Array, rest: AsyncIterator<Uint8Array | string>): AsyncGenerator<Uint8Array> {
  try {
    if (start.length > 0) yield start
    for (;;) {
      const { done, value } = await rest.next()
      if (done) return
      yield typeof value === 'string' ? Buffer.from(value) : value
    }
  } finally {
    await rest.return?.()
  }
}
