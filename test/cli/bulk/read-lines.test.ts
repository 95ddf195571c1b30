import { createReadStream, readFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type ByteStream, readLines } from '../../../src/entry/bulk.ts'

const RUNS = { seed: 29, numRuns: 300 }
const TOO_LONG = 'longer than a record may be'

async function* chunked(bytes: Uint8Array, length: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += length) yield bytes.subarray(start, start + length)
}

async function collect(lines: AsyncIterable<string>): Promise<string[]> {
  const all: string[] = []
  for await (const line of lines) all.push(line)
  return all
}

const linesOf = (text: string) => {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines.map(line => line.replace(/\r$/, ''))
}

it('splits a text into its lines, whatever the chunks, also within a character', async () => {
  let split = 0
  const text = fc.array(fc.constantFrom('a', '\n', '\r\n', '\r', 'é', '€', '😀', '\u2028'), { maxLength: 60 })
  await fc.assert(
    fc.asyncProperty(text, fc.integer({ min: 1, max: 5 }), async (parts, length) => {
      const joined = parts.join('')
      const bytes = new TextEncoder().encode(joined)
      expect(await collect(readLines(chunked(bytes, length)))).toEqual(linesOf(joined))
      if (joined.includes('😀') && length < 4) split++
    }),
    RUNS,
  )
  expect(split).toBeGreaterThan(50)
})

it('says which lines are too long, and which are not UTF-8, and goes on', async () => {
  const bytes = Buffer.concat([
    Buffer.from('1234\n12345\r\n123456\néé\nééé\n\n'),
    Uint8Array.of(0x22, 0xff, 0x22, 0x0a, 0xe2, 0x82, 0x0a),
    Buffer.from(`${'x'.repeat(1000)}\nend`),
  ])
  for (const length of [1, 3, 7, 2000]) {
    expect(await collect(readLines(chunked(bytes, length), { maxLineLength: 5 }))).toEqual([
      ...['1234', '12345', TOO_LONG, 'éé', TOO_LONG, '', 'not UTF-8', 'not UTF-8', TOO_LONG, 'end'],
    ])
  }
})

it('drops what is too long as it arrives', async () => {
  const chunk = new Uint8Array(2 ** 20).fill(0x61)
  let sent = 0
  async function* endless() {
    yield new TextEncoder().encode('first\n')
    for (; sent < 512; sent++) yield chunk
    yield new TextEncoder().encode('\nlast')
  }
  const before = process.memoryUsage().arrayBuffers
  let most = 0
  const lines: string[] = []
  for await (const line of readLines(endless())) {
    most = Math.max(most, process.memoryUsage().arrayBuffers - before)
    lines.push(line)
  }
  expect(lines).toEqual(['first', TOO_LONG, 'last'])
  expect(sent).toBe(512)
  expect(most).toBeLessThan(2 ** 27)
})

it('reads whatever streams there are', async () => {
  const expected = linesOf(readFileSync('package.json', 'utf8'))
  const bytes = new Uint8Array(readFileSync('package.json'))
  const web = (): ReadableStream<Uint8Array> => new Blob([bytes]).stream()
  const packed = web().pipeThrough(new CompressionStream('gzip'))
  const streams = {
    file: createReadStream('package.json', { highWaterMark: 7 }),
    web: web(),
    unpacked: packed.pipeThrough(new DecompressionStream('gzip')),
    node: Readable.from([bytes.subarray(0, 10), bytes.subarray(10)]),
    // As in browsers that cannot iterate over a stream.
    reader: { getReader: () => web().getReader() } satisfies ByteStream,
  }
  for (const [name, stream] of Object.entries(streams)) expect(await collect(readLines(stream)), name).toEqual(expected)
  expect(expected.length).toBeGreaterThan(100)
})

it('needs no Buffer, as in browsers', async () => {
  const { Buffer } = globalThis
  try {
    Reflect.deleteProperty(globalThis, 'Buffer')
    const bytes = new TextEncoder().encode('é1\r\n\n€2')
    expect(await collect(readLines(chunked(bytes, 2)))).toEqual(['é1', '', '€2'])
  } finally {
    globalThis.Buffer = Buffer
  }
})

it('yields a line as soon as it is there', async () => {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const writer = writable.getWriter()
  const lines = readLines(readable)
  void writer.write(new TextEncoder().encode('one\ntwo\nth'))
  expect(await lines.next()).toEqual({ done: false, value: 'one' })
  expect(await lines.next()).toEqual({ done: false, value: 'two' })
  const third = lines.next()
  void writer.write(new TextEncoder().encode('ree\n'))
  expect(await third).toEqual({ done: false, value: 'three' })
  void writer.close()
  expect(await lines.next()).toEqual({ done: true, value: undefined })
})

it('ends the stream when its reader stops, and throws what the stream throws', async () => {
  let cancelled = 0
  const endless = (): ReadableStream<Uint8Array> =>
    new ReadableStream({
      pull: controller => controller.enqueue(new TextEncoder().encode('line\n')),
      cancel: () => void cancelled++,
    })
  for (const stream of [endless(), { getReader: () => endless().getReader() }]) {
    for await (const line of readLines(stream)) {
      expect(line).toBe('line')
      break
    }
  }
  expect(cancelled).toBe(2)

  let turn = 0
  const failing = (): ReadableStream<Uint8Array> =>
    new ReadableStream({
      pull(controller) {
        if (turn++ % 2 === 1) throw new Error('the network is gone')
        controller.enqueue(new TextEncoder().encode('one\ntwo\nthr'))
      },
    })
  for (const stream of [failing(), { getReader: () => failing().getReader() }]) {
    const lines: string[] = []
    const run = async () => {
      for await (const line of readLines(stream)) lines.push(line)
    }
    await expect(run()).rejects.toThrow('the network is gone')
    // The line that was cut off is not one.
    expect(lines).toEqual(['one', 'two'])
  }
})

it('refuses what is no stream of bytes, and options that are misspelt or wrong', async () => {
  const stream = (): AsyncIterable<Uint8Array> => chunked(Uint8Array.of(0x61), 1)
  const cases: [string, unknown, unknown?][] = [
    ['stream', undefined],
    ['stream', null],
    ['stream', 'a text'],
    ['stream', new Uint8Array(4)],
    ['', stream(), null],
    ['maxlinelength', stream(), { maxlinelength: 1 }],
    ['maxLineLength', stream(), { maxLineLength: 0 }],
    ['maxLineLength', stream(), { maxLineLength: 2 ** 28 + 1 }],
    ['maxLineLength', stream(), { maxLineLength: 1n }],
  ]
  for (const [path, given, options] of cases) {
    expect(() => readLines(given as never, options as never), path).toThrow(
      expect.objectContaining({ code: 'ARGUMENT_INVALID', path }),
    )
  }
  const texts = createReadStream('package.json', 'utf8') as unknown as AsyncIterable<Uint8Array>
  await expect(collect(readLines(texts))).rejects.toMatchObject({ code: 'ARGUMENT_INVALID', path: 'stream' })
  expect(await collect(readLines(stream(), { maxLineLength: undefined }))).toEqual(['a'])
})
