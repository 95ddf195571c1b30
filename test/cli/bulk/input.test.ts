import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { queryObjects } from 'node:v8'
import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { readFileChunks, unpack } from '../../../src/cli/audit/input.ts'
import { folderOf } from '../io.ts'

async function* pieces(bytes: Uint8Array, length: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += length) yield bytes.subarray(start, start + length)
}

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Buffer[] = []
  // Chunks of a file are reused, so they are copied.
  for await (const chunk of chunks) all.push(Buffer.from(chunk))
  return Buffer.concat(all)
}

/** Incompressible bytes. */
function noise(length: number): Buffer {
  const blocks = Array.from({ length: Math.ceil(length / 32) }, (_, index) =>
    createHash('sha256').update(`${index}`).digest(),
  )
  return Buffer.concat(blocks).subarray(0, length)
}

it('decompresses multi-member gzip, and passes on plain bytes, in chunks of any length', async () => {
  const text = Buffer.concat([noise(2000), Buffer.alloc(5000, 'a')])
  const members = Buffer.concat([gzipSync(text.subarray(0, 10)), gzipSync(text.subarray(10))])
  for (const length of [1, 2, 3, 5, 1000, 100_000]) {
    expect((await collect(unpack(pieces(members, length)))).equals(text)).toBe(true)
    expect((await collect(unpack(pieces(text, length)))).equals(text)).toBe(true)
  }
  expect(await collect(unpack(pieces(new Uint8Array(), 1)))).toHaveLength(0)
})

it('recognizes UTF-16, whatever the chunks in which it is unpacked', async () => {
  const text = '{"é": "€"}\n'
  const utf16 = Buffer.from(`\ufeff${text}`, 'utf16le')
  for (const bytes of [utf16, Buffer.from(utf16).swap16()]) {
    for (let first = 0; first < 5; first++) {
      // A member of its own is unpacked as a chunk of its own.
      const packed = Buffer.concat([gzipSync(bytes.subarray(0, first)), gzipSync(bytes.subarray(first))])
      for (const length of [1, 3, 1000]) {
        expect((await collect(unpack(pieces(packed, length)))).toString()).toBe(text)
        expect((await collect(unpack(pieces(bytes, length)))).toString()).toBe(text)
      }
    }
  }
})

it('keeps nothing of the pieces that are unpacked', async () => {
  const packed = gzipSync(noise(5000))
  const promises = new Map<number, number>()
  async function* counted() {
    let passed = 0
    for await (const piece of pieces(packed, 1)) {
      if (++passed === 1000 || passed === 5000) promises.set(passed, queryObjects(Promise, { format: 'count' }))
      yield piece
    }
  }
  expect(await collect(unpack(counted()))).toHaveLength(5000)
  const [first = 0, last = Number.MAX_SAFE_INTEGER] = promises.values()
  // Other tests of this file's process may add a few.
  expect(last - first).toBeLessThan(400)
})

it('reads a file to its end, compressed or not', async () => {
  const bytes = noise(2 ** 20 + 17)
  const folder = folderOf({ plain: bytes, packed: gzipSync(bytes) })
  let read = 0
  const count = (length: number) => {
    read += length
  }
  expect((await collect(readFileChunks(join(folder, 'plain'), count))).equals(bytes)).toBe(true)
  expect(read).toBe(bytes.length)
  expect((await collect(unpack(readFileChunks(join(folder, 'packed'))))).equals(bytes)).toBe(true)
})

it('decompresses no further ahead of the consumer than a few chunks, however much the bytes expand', async () => {
  const [members, length] = [128, 2 ** 20]
  const bomb = Buffer.concat(new Array<Buffer>(members).fill(gzipSync(Buffer.alloc(length))))
  const memory = () => process.memoryUsage().arrayBuffers
  const before = memory()
  let came = 0
  for await (const chunk of unpack(pieces(bomb, bomb.length))) {
    // Time to go on, for a decompressor that does not wait.
    if (came === 0) await setTimeout(500)
    if (came === 0) expect(memory() - before).toBeLessThan((members * length) / 8)
    came += chunk.length
  }
  expect(came).toBe(members * length)
})

it('throws if the bytes are damaged, or their source fails', async () => {
  const packed = gzipSync(noise(300_000))
  const cases = [
    [packed.subarray(0, 200_000), 'unexpected end of file'],
    [Buffer.concat([packed.subarray(0, 200_000), Buffer.alloc(1000)]), /./],
    [Buffer.concat([gzipSync('a'), Buffer.from('b')]), /./],
  ] as const
  for (const [bytes, message] of cases)
    for (const length of [1000, 50_000, bytes.length])
      await expect(collect(unpack(pieces(bytes, length)))).rejects.toThrow(message)
  expect(cases).toHaveLength(3)
  async function* failing() {
    yield* pieces(packed, 2 ** 17)
    throw new Error('EIO')
  }
  await expect(collect(unpack(failing()))).rejects.toThrow('EIO')
})

it('refuses whatever follows the end of the compressed data, if only padding', async () => {
  const [one, two] = [gzipSync('one\n'), gzipSync('two\n')]
  const padding = Buffer.alloc(600)
  for (const rest of [padding, Buffer.concat([padding, two])])
    for (const length of [1, 10, 100, 10_000])
      await expect(collect(unpack(pieces(Buffer.concat([one, two, rest]), length)))).rejects.toThrow(/./)
})

it('does not read a pipe ahead', async () => {
  const pipe = join(folderOf({}), 'pipe')
  execFileSync('mkfifo', [pipe])
  // The writer stays silent after its first bytes, until the reader has left.
  const writer = spawn('sh', ['-c', 'exec > "$0"; echo one; read line', pipe], { stdio: ['pipe', 'ignore', 'ignore'] })
  for await (const chunk of readFileChunks(pipe)) {
    expect(Buffer.from(chunk).toString()).toBe('one\n')
    break
  }
  writer.stdin.end('\n')
  await once(writer, 'exit')
})

it('refuses zstd', async () => {
  // A frame of one uncompressed block: "one\ntwo\n".
  const frame = Uint8Array.from([0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x08, 0x41, 0, 0, ...Buffer.from('one\ntwo\n')])
  await expect(collect(unpack(pieces(frame, 3)))).rejects.toThrow('packed with zstd: unpack it first')
})
