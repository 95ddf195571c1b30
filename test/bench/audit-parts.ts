import { BATCH_LENGTH } from '../../src/bulk/audit.ts'
import { textsOf } from '../../src/bulk/audited.ts'
import { readFileChunks, unpack } from '../../src/bulk/input.ts'
import { type Batch, linesOf, readBatches } from '../../src/bulk/lines.ts'
import { createRecordVerifier } from '../../src/bulk/record.ts'

/** Prints the seconds that each part of an audit takes by itself on one thread, over all lines. Usage: `audit-parts.mjs FILE`. */
const [path = ''] = process.argv.slice(2)

let mark = performance.now()
/** The seconds since the last call. */
function lap(): number {
  const before = mark
  mark = performance.now()
  return (mark - before) / 1000
}

async function eachBatch(work: (batch: Batch) => void): Promise<void> {
  const spare: Uint8Array<ArrayBuffer>[] = []
  const limits = { batchLength: BATCH_LENGTH, maxLineLength: 2 ** 24, spare }
  for await (const batch of readBatches(unpack(readFileChunks(path)), limits)) {
    work(batch)
    spare.push(new Uint8Array(batch.bytes.buffer))
  }
}

const parts = { reading: 0, parsing: 0, verifying: 0 }
lap()
await eachBatch(batch => {
  for (const _ of linesOf(batch));
})
parts.reading = lap()

const verify = createRecordVerifier({})
await eachBatch(batch => {
  // Reading again is not counted twice.
  lap()
  const toText = textsOf(batch.bytes)
  const records: unknown[] = []
  for (const line of linesOf(batch)) records.push(JSON.parse(`${toText(line ?? new Uint8Array())}`))
  parts.parsing += lap()
  for (const record of records) if (verify(record).verdict !== 'present') throw new Error('not verified')
  parts.verifying += lap()
})
console.log(JSON.stringify(parts))
