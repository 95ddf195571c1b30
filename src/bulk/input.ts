import { Readable } from 'node:stream'
import zlib from 'node:zlib'

/** How much is read and unpacked at a time. */
export const CHUNK_LENGTH = 2 ** 18

/** Unpacks no further than what is taken: what comes before a damaged place is then never lost to its error. */
const UNPACKING = { chunkSize: CHUNK_LENGTH, readableHighWaterMark: 1 }

/** Packed streams, by how they begin. */
const PACKED: readonly {
  readonly magic: readonly number[]
  readonly name: string
  readonly unpacker: () => zlib.Gunzip | undefined
}[] = [
  { magic: [0x1f, 0x8b], name: 'gzip', unpacker: () => zlib.createGunzip(UNPACKING) },
  { magic: [0x28, 0xb5, 0x2f, 0xfd], name: 'zstd', unpacker: createZstd },
]

/** Node has it from 22.15 on. */
function createZstd(): zlib.Gunzip | undefined {
  const create: unknown = Reflect.get(zlib, 'createZstdDecompress')
  return typeof create === 'function' ? create(UNPACKING) : undefined
}

/**
 * The bytes of a stream, unpacked when they are gzip or zstd. How they begin decides, not the name of a file.
 *
 * @throws Error of the unpacker when they are damaged or cut off
 */
export async function* unpack(chunks: AsyncIterable<Uint8Array | string>): AsyncGenerator<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]()
  let start: Uint8Array = new Uint8Array()
  // A pipe may bring less at first than it takes to tell.
  while (start.length < 4) {
    const { done, value } = await iterator.next()
    if (done) break
    start = Buffer.concat([start, Buffer.from(value)])
  }
  const packed = PACKED.find(({ magic }) => magic.every((byte, index) => start[index] === byte))
  if (packed === undefined) return yield* continued(start, iterator)
  const unpacker = packed.unpacker()
  if (unpacker === undefined) throw new Error(`it is packed with ${packed.name}, which takes Node 22.15 or later`)
  const source = Readable.from(continued(start, iterator), { objectMode: false, highWaterMark: 4 * CHUNK_LENGTH })
  source.on('error', error => unpacker.destroy(error))
  yield* source.pipe(unpacker)
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
