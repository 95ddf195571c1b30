import { BATCH_LENGTH } from '../../src/cli/audit/audit.ts'
import { textsOf } from '../../src/cli/audit/audited.ts'
import { readFileChunks, unpack } from '../../src/cli/audit/input.ts'
import { type Batch, linesOf, readBatches } from '../../src/cli/audit/lines.ts'
import { createRecordVerifier } from '../../src/cli/audit/record.ts'

/**
 * Does the work of an audit on one thread, up to one of its steps, and nothing else. Usage: `audit-parts.mjs FILE STEP`, where
 * STEP is `none`, `reading`, `parsing` or `verifying`.
 */
const [path = '', last = ''] = process.argv.slice(2)

const verify = createRecordVerifier({})

const steps: Readonly<Record<string, (batch: Batch) => void>> = {
  reading(batch) {
    for (const _ of linesOf(batch));
  },
  parsing: batch => void parse(batch),
  verifying(batch) {
    for (const record of parse(batch))
      if (verify({ content: record }).verdict !== 'present') throw new Error('not verified')
  },
}

function parse(batch: Batch): unknown[] {
  const toText = textsOf(batch.bytes)
  const records: unknown[] = []
  for (const line of linesOf(batch)) records.push(JSON.parse(`${toText(line ?? new Uint8Array())}`))
  return records
}

const work = steps[last]
if (work !== undefined) {
  const spare: Uint8Array<ArrayBuffer>[] = []
  const limits = { batchLength: BATCH_LENGTH, maxLineLength: 2 ** 24, spare }
  for await (const batch of readBatches(unpack(readFileChunks(path)), limits)) {
    work(batch)
    spare.push(new Uint8Array(batch.bytes.buffer))
  }
}
