import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { auditBatch } from '../../../src/cli/audit/audited.ts'
import { type Batch, readBatches } from '../../../src/cli/audit/lines.ts'
import { createRecordVerifier, type RecordClaim } from '../../../src/cli/audit/record.ts'
import { joinLines, mixedLines } from './records.ts'

async function batchesOf(bytes: Uint8Array): Promise<Batch[]> {
  const all: Batch[] = []
  async function* chunks() {
    yield bytes
  }
  for await (const batch of readBatches(chunks(), 2 ** 20)) all.push(batch)
  return all
}

/** JSON with integers as decimal strings. */
const toJson = (value: unknown): string =>
  JSON.stringify(value, (_, field) => (typeof field === 'bigint' ? `${field}` : field))

it('names the line at which the verifier itself fails', async () => {
  const [batch] = await batchesOf(Buffer.from('{}\n{}\n{}\n'))
  let turn = 0
  const failing = () => {
    if (++turn === 2) throw new RangeError('too deep')
    return { verdict: 'unreadable', reason: 'empty' } as const
  }
  expect(() => batch && auditBatch({ ...batch, firstLine: 40 }, undefined, failing)).toThrow('line 41: too deep')
})

it('writes each verdict as JSON, whatever it contains', async () => {
  const recorded = JSON.parse(readFileSync('vectors/evidence/valid/poseidon2-block-hash.json', 'utf8'))
  const { rollup, trusted } = recorded.claim
  const claim: RecordClaim = { anchor: { rollup, trusted } }
  const lines = [
    ...mixedLines(80),
    { line: Buffer.from(JSON.stringify(recorded.bundle)), kind: 'present' },
    { line: Buffer.from('"\u00e9"'), kind: 'unreadable: not a record' },
  ]
  const seen = new Set<string>()
  for (const file of [undefined, 'a "quoted"\n\u2028 name']) {
    const texts: string[] = []
    for (const batch of await batchesOf(joinLines(lines))) {
      const { text, tally } = auditBatch(batch, file, createRecordVerifier(claim))
      expect(tally.lines).toBe(batch.count)
      texts.push(...text.split('\n').slice(0, -1))
    }
    const verify = createRecordVerifier(claim)
    const tooLong = { verdict: 'unreadable', reason: 'longer than a record may be' }
    const expected = lines.map(({ line }, index) => {
      const verdict = line.length > 2 ** 20 ? tooLong : verify(line)
      for (const name of Object.keys(verdict)) seen.add(name)
      return toJson({ line: index + 1, ...(file !== undefined && { file }), version: 1, ...verdict }).replaceAll(
        '\u2028',
        '\\u2028',
      )
    })
    expect(texts).toEqual(expected)
  }
  // A number from the input does not make a separate kind.
  const { answer } = JSON.parse(readFileSync('vectors/poseidon2/valid/contract-slots-mixed.json', 'utf8'))
  const slots = [0, 1, 2].map(count => {
    const storageProofs = [...Array(count).fill({ key: `0x${'00'.repeat(32)}` }), {}]
    return { line: Buffer.from(JSON.stringify({ ...answer, storageProofs })), kind: '' }
  })
  for (const batch of await batchesOf(joinLines(slots))) {
    const pinned = createRecordVerifier({ stateRoot: `0x${'00'.repeat(32)}` })
    expect(auditBatch(batch, undefined, pinned).tally.kinds).toEqual({
      'unreadable: no storage key: storageProofs[…] names none': 3,
    })
  }
  expect([...seen].sort().join()).toBe(
    'account,address,code,l2BlockNumber,path,reason,scheme,sources,stateRoot,storage,trusted,verdict',
  )
})
