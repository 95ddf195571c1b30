import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Batch, linesOf, readBatches } from '../../../src/cli/audit/lines.ts'

const RUNS = { seed: 16, numRuns: 300 }

/** Bytes with frequent line terminators. */
const input = fc.array(fc.constantFrom(0x0a, 0x0d, 0x61, 0x62, 0xff), { maxLength: 120 })

async function* chunked(bytes: readonly number[], length: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += length) yield Uint8Array.from(bytes.slice(start, start + length))
}

async function collect(batches: AsyncIterable<Batch>): Promise<Batch[]> {
  const all: Batch[] = []
  for await (const batch of batches) all.push(batch)
  return all
}

const asText = (line: Uint8Array | null): string | null => line && Buffer.from(line).toString('latin1')

/** Splits lines with string functions. */
function naiveLines(bytes: readonly number[], maxLineLength: number): (string | null)[] {
  const lines = Buffer.from(bytes).toString('latin1').split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines.map(line => line.replace(/\r$/, '')).map(line => (line.length > maxLineLength ? null : line))
}

it('splits any bytes into their lines, whatever the chunks', async () => {
  const shape = fc.tuple(input, fc.integer({ min: 1, max: 40 }), fc.nat({ max: 12 }))
  await fc.assert(
    fc.asyncProperty(shape, async ([bytes, chunkLength, maxLineLength]) => {
      const batches = await collect(readBatches(chunked(bytes, chunkLength), maxLineLength))
      const lines = batches.flatMap(batch => [...linesOf(batch)].map(asText))
      expect(lines).toEqual(naiveLines(bytes, maxLineLength))
      let line = 1
      for (const { firstLine, count } of batches) {
        expect(firstLine).toBe(line)
        expect(count).toBeGreaterThan(0)
        line += count
      }
    }),
    RUNS,
  )
})

it('hands over a line without an end as soon as it is too long, and drops the rest of it', async () => {
  let read = 0
  async function* endless(): AsyncGenerator<Uint8Array> {
    for (; read < 2000; read++) yield new Uint8Array(2 ** 16).fill(0x61)
    yield Uint8Array.of(0x0a, 0x62)
  }
  const all = readBatches(endless(), 1000)
  const first = await all.next()
  expect(read).toBe(0)
  const batches = [first.value as Batch, ...(await collect(all))]
  expect(batches.flatMap(batch => [...linesOf(batch)].map(asText))).toEqual([null, 'b'])
  expect(batches.reduce((sum, { bytes }) => sum + bytes.length, 0)).toBeLessThan(1010)
})

it('hands over many short lines in several batches', async () => {
  const batches = await collect(
    readBatches(
      chunked(
        Array.from({ length: 10_000 }, () => 0x0a),
        10_000,
      ),
      10,
    ),
  )
  expect(batches.map(({ firstLine, count }) => [firstLine, count])).toEqual([
    [1, 4096],
    [4097, 4096],
    [8193, 1808],
  ])
})
