import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { createRecordVerifier, type RecordClaim, type Verdict } from '../../../src/cli/audit/record.ts'
import { createWorld } from '../../../src/devnet/index.ts'
import { createBundle } from '../../../src/entry/anchor.ts'
import type { Hex } from '../../../src/entry/index.ts'
import { poseidon2 } from '../../../src/entry/poseidon2.ts'

const word = (value: number): Hex => `0x${value.toString(16).padStart(64, '0')}`
const ADDRESS: Hex = `0x${'ab'.repeat(20)}`
const OTHER: Hex = `0x${'cd'.repeat(20)}`
const ROLLUP = { address: `0x${'ff'.repeat(20)}` } as const

const world = createWorld(poseidon2)
world.setAccount(ADDRESS, { balance: 5n })
world.setStorage(ADDRESS, { key: word(1), value: word(7) })
const stateRoot = world.stateRoot()
const storageKeys = [word(1)]
const result = world.getProof(ADDRESS, storageKeys)
const recording = { scheme: 'poseidon2', stateRoot, address: ADDRESS, storageKeys, result }
const parts = { scheme: poseidon2, rollup: ROLLUP, l2BlockNumber: 7n, address: ADDRESS, storageKeys, answer: result }
const bundle = createBundle(parts)

const STATED = { stateRoot, address: ADDRESS, storageKeys } as const
const ANCHOR = { rollup: ROLLUP, trusted: { l2StateRoot: stateRoot } } as const
const FOR_BUNDLES = { address: ADDRESS, storageKeys, anchor: ANCHOR } as const

function judge(records: Iterable<unknown>, claim: RecordClaim): Verdict[] {
  const verify = createRecordVerifier(claim)
  return Array.from(records, record =>
    verify(
      record instanceof Uint8Array ? record : Buffer.from(typeof record === 'string' ? record : JSON.stringify(record)),
    ),
  )
}

it('refuses a wrong anchor when it is called', () => {
  const cases: [string, object][] = [
    ['rollup.adress', { ...ANCHOR, rollup: { ...ROLLUP, adress: ADDRESS } }],
    ['rollup.address', { ...ANCHOR, rollup: { address: '0xff' } }],
    ['trusted', { ...ANCHOR, trusted: {} }],
    ['trusted', { ...ANCHOR, trusted: { l1BlockHash: word(1), l2StateRoot: word(1) } }],
    ['trusted.l2StateRoot', { ...ANCHOR, trusted: { l2StateRoot: '0x01' } }],
  ]
  for (const [path, anchor] of cases) {
    const claim = { ...FOR_BUNDLES, anchor } as unknown as RecordClaim
    expect(() => createRecordVerifier(claim), path).toThrow(expect.objectContaining({ code: 'ARGUMENT_INVALID', path }))
  }
  expect(cases.length).toBe(5)
})

it('says who stated what, and which parts are those of the record', () => {
  const all = { scheme: 'file', stateRoot: 'file', address: 'file', storageKeys: 'file' }
  expect(judge([recording], {})).toMatchObject([{ verdict: 'present', sources: all }])
  for (const name of Object.keys(STATED)) {
    const claim = { [name]: STATED[name as keyof typeof STATED] }
    expect(judge([recording], claim)).toMatchObject([{ verdict: 'present', sources: { ...all, [name]: 'user' } }])
  }
  expect(judge([result], { stateRoot })).toMatchObject([
    { verdict: 'present', sources: { scheme: 'lengths', stateRoot: 'user', address: 'answer', storageKeys: 'answer' } },
  ])
})

it('judges every record by what is stated, whatever the record says', () => {
  const wrong: readonly [Partial<typeof STATED>, object][] = [
    [{ stateRoot: word(1) }, { code: 'STATE_ROOT_MISMATCH' }],
    [{ address: OTHER }, { verdict: 'refused' }],
    [{ storageKeys: [] }, { verdict: 'refused' }],
    [{ storageKeys: [word(2)] }, { verdict: 'refused' }],
  ]
  for (const [change, verdict] of wrong) {
    expect(judge([recording, recording], { ...STATED, ...change })).toMatchObject([verdict, verdict])
  }
  const others: readonly RecordClaim[] = [
    { anchor: { ...ANCHOR, trusted: { l2StateRoot: word(1) } } },
    { anchor: { ...ANCHOR, rollup: { address: OTHER } } },
    { address: OTHER },
    { storageKeys: [] },
  ]
  expect(judge([bundle], FOR_BUNDLES)).toMatchObject([{ verdict: 'present', sources: { stateRoot: 'user' } }])
  for (const change of others) {
    expect(judge([bundle], { ...FOR_BUNDLES, ...change })).toMatchObject([{ verdict: 'refused' }])
  }
})

it('judges bundles only if the claim says what they are proven from', () => {
  const records = [recording, bundle]
  const kinds = (claim: RecordClaim) =>
    judge(records, claim).map(verdict => ('reason' in verdict ? verdict.reason : verdict.verdict))
  const noBundle =
    'an evidence bundle: state what you trust, with --l1-block-hash (`verify --checkpoint` prints it), --l1-state-root or --state-root'
  expect(kinds(STATED)).toEqual(['present', noBundle])
  expect(kinds(FOR_BUNDLES)).toEqual(['present', 'present'])
  expect(kinds({ ...FOR_BUNDLES, stateRoot: word(1) })).toEqual(['refused', 'present'])
})

it('finds a record unreadable that names malformed parts, and goes on', () => {
  const malformed = [
    { stateRoot: '0x01' },
    { stateRoot: 7 },
    { address: `${ADDRESS}00` },
    { storageKeys: 'none' },
    { storageKeys: [word(1), null] },
  ]
  const verdicts = judge([...malformed.map(change => ({ ...recording, ...change })), recording], {})
  const named = ['stateRoot', 'stateRoot', 'address', 'storageKeys', 'storageKeys[1]']
  expect(verdicts.map(verdict => ('reason' in verdict ? verdict.reason : verdict.verdict))).toEqual([
    ...named.map(path => `malformed: ${path}, which the record names`),
    'present',
  ])
})

it('reads UTF-8, with a byte order mark or without', () => {
  const text = JSON.stringify(recording)
  const verdicts = judge([text, `\ufeff${text}`, recording], STATED)
  expect(verdicts.map(({ verdict }) => verdict)).toEqual(['present', 'present', 'present'])
  const lines = ['', 'no JSON', '[]', '"a text"', new Uint8Array([0xff])]
  const reasons = ['empty', 'not JSON', 'not a record', 'not a record', 'not UTF-8']
  expect(judge(lines, {})).toEqual(reasons.map(reason => ({ verdict: 'unreadable', reason })))
})

it('judges real vectors by what they state', () => {
  const vector: unknown = JSON.parse(readFileSync('vectors/poseidon2/valid/contract-slots-mixed.json', 'utf8'))
  expect(judge([vector], {})).toMatchObject([{ verdict: 'present', sources: { stateRoot: 'file' } }])
})
