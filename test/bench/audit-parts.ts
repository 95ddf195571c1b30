import { BATCH_LENGTH } from '../../src/bulk/audit.ts'
import { textsOf } from '../../src/bulk/audited.ts'
import { readFileChunks, unpack } from '../../src/bulk/input.ts'
import { linesOf, readBatches } from '../../src/bulk/lines.ts'
import { createRecordVerifier } from '../../src/bulk/record.ts'

/** Prints the seconds that each part of an audit takes by itself on one thread. Usage: `audit-parts.mjs FILE LINES`. */
const [path = '', count = ''] = process.argv.slice(2)
const SAMPLE = 5000

async function secondsOf(work: () => Promise<void> | void): Promise<number> {
  const begun = performance.now()
  await work()
  return (performance.now() - begun) / 1000
}

/** Reads the first lines, for parsing and verifying. */
async function readSample(): Promise<Uint8Array[]> {
  const sample: Uint8Array[] = []
  for await (const batch of readBatches(unpack(readFileChunks(path)), LIMITS))
    for (const line of linesOf(batch)) {
      if (line !== null) sample.push(line.slice())
      if (sample.length === SAMPLE) return sample
    }
  return sample
}

const spare: Uint8Array<ArrayBuffer>[] = []
const LIMITS = { batchLength: BATCH_LENGTH, maxLineLength: 2 ** 24, spare }

const reading = await secondsOf(async () => {
  for await (const batch of readBatches(unpack(readFileChunks(path)), LIMITS)) {
    for (const _ of linesOf(batch));
    spare.push(new Uint8Array(batch.bytes.buffer))
  }
})

const sample = await readSample()
const batch = new Uint8Array(Buffer.concat(sample))
let parsed: unknown[] = []
const parsing = await secondsOf(() => {
  const toText = textsOf(batch)
  let start = 0
  parsed = sample.map(({ length }) => {
    const line = batch.subarray(start, start + length)
    start += length
    return JSON.parse(`${toText(line)}`)
  })
})

const verify = createRecordVerifier({})
for (const line of sample) verify(line)
const verifying = await secondsOf(() => {
  for (const record of parsed) if (verify(record).verdict !== 'present') throw new Error('not verified')
})

const scale = Number(count) / sample.length
console.log(JSON.stringify({ reading, parsing: parsing * scale, verifying: verifying * scale }))
