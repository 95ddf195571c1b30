import type { Batch } from '../../src/bulk/audit/lines.ts'

/** The built modules that `audit` runs, not a copy inside this bundle: bundled code is a few percent faster. */
const built = (name: string) => import(new URL(`../bulk/${name}.js`, import.meta.url).href)
const { BATCH_LENGTH }: typeof import('../../src/bulk/audit/audit.ts') = await built('audit')
const { textsOf }: typeof import('../../src/bulk/audit/audited.ts') = await built('audited')
const { readFileChunks, unpack }: typeof import('../../src/bulk/audit/input.ts') = await built('input')
const { linesOf, readBatches }: typeof import('../../src/bulk/audit/lines.ts') = await built('lines')
const { createRecordVerifier }: typeof import('../../src/bulk/audit/record.ts') = await built('record')

/**
 * Does the work of an audit on one thread, up to one of its steps, and nothing else. Usage: `audit-parts.mjs FILE STEP`, where
 * STEP is `none`, `reading`, `parsing` or `verifying`.
 */
const [path = '', last = ''] = process.argv.slice(2)

const left = 'fromRecord'
const verify = createRecordVerifier({ scheme: left, stateRoot: left, address: left, storageKeys: left })

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
