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
  parsing(batch) {
    for (const line of linesOf(batch)) JSON.parse(Buffer.from(line ?? []).toString())
  },
  verifying(batch) {
    for (const line of linesOf(batch)) if (verify(line).verdict !== 'present') throw new Error('not verified')
  },
}

const work = steps[last]
if (work !== undefined) {
  for await (const batch of readBatches(unpack(readFileChunks(path)), 2 ** 24)) work(batch)
}
