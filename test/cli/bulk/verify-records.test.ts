import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { createRecordVerifier, readRecord, type Verdict } from '../../../src/cli/audit/record.ts'
import type { RecordClaim } from '../../../src/cli/audit/record-claim.ts'
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

const LEFT = 'fromRecord'
const ALL_LEFT = { scheme: LEFT, stateRoot: LEFT, address: LEFT, storageKeys: LEFT } as const
const STATED = { scheme: 'poseidon2', stateRoot, address: ADDRESS, storageKeys } as const
const { stateRoot: _, ...WITHOUT_ROOT } = STATED
const FOR_BUNDLES = { ...WITHOUT_ROOT, rollup: ROLLUP, trusted: { l2StateRoot: stateRoot } } as const

function judge(records: Iterable<unknown>, claim: RecordClaim): Verdict[] {
  const verify = createRecordVerifier(claim)
  return Array.from(records, record => verify(readRecord(record)))
}

it('refuses a claim that is misspelt, incomplete or wrong, when it is called', () => {
  const cases: [string, unknown][] = [
    ['', undefined],
    ['', null],
    ['stateroot', { ...STATED, stateroot: stateRoot }],
    ['rootOf', { ...STATED, rootOf: LEFT }],
    ['scheme', {}],
    ...Object.keys(STATED).flatMap((name): [string, unknown][] => {
      const { [name as keyof typeof STATED]: left, ...others } = STATED
      return [null, 7, 'fromBundle', '', '0x', undefined]
        .map((wrong): [string, unknown] => [name, { ...others, [name]: wrong }])
        .concat([[name, others]])
    }),
    ['storageKeys[1]', { ...STATED, storageKeys: [word(1), '0x1'] }],
    ['scheme', { ...STATED, scheme: poseidon2 }],
    ['rollup', { ...STATED, trusted: FOR_BUNDLES.trusted }],
    ['trusted', { ...STATED, rollup: ROLLUP }],
    ['rollup.adress', { ...FOR_BUNDLES, rollup: { ...ROLLUP, adress: ADDRESS } }],
    ['rollup.address', { ...FOR_BUNDLES, rollup: { address: '0xff' } }],
    ['trusted', { ...FOR_BUNDLES, trusted: {} }],
    ['trusted', { ...FOR_BUNDLES, trusted: { l1BlockHash: word(1), l2StateRoot: word(1) } }],
    ['trusted.l2StateRoot', { ...FOR_BUNDLES, trusted: { l2StateRoot: '0x01' } }],
    ['stateRoot', { ...FOR_BUNDLES, stateRoot: '0x01' }],
    ['address', { rollup: ROLLUP, trusted: FOR_BUNDLES.trusted, scheme: 'poseidon2', storageKeys }],
  ]
  for (const [path, claim] of cases) {
    expect(() => createRecordVerifier(claim as RecordClaim), JSON.stringify([path, claim])).toThrow(
      expect.objectContaining({ code: 'ARGUMENT_INVALID', path }),
    )
  }
  expect(cases.length).toBe(44)
  for (const name of Object.keys(STATED)) {
    const claim = { ...STATED, [name]: undefined } as unknown as RecordClaim
    expect(() => createRecordVerifier(claim)).toThrow(
      expect.objectContaining({ path: name, expected: "a value, or 'fromRecord'", found: 'nothing' }),
    )
  }
})

it('says who stated what, and which parts are those of the record', () => {
  const all = { scheme: 'record', stateRoot: 'record', address: 'record', storageKeys: 'record' }
  expect(judge([recording], ALL_LEFT)).toMatchObject([{ verdict: 'present', sources: all }])
  for (const name of Object.keys(STATED)) {
    const claim = { ...ALL_LEFT, [name]: STATED[name as keyof typeof STATED] }
    expect(judge([recording], claim)).toMatchObject([{ verdict: 'present', sources: { ...all, [name]: 'user' } }])
  }
  const answered = { ...STATED, address: LEFT, storageKeys: LEFT } as const
  expect(judge([result], answered)).toMatchObject([
    { verdict: 'present', sources: { scheme: 'user', stateRoot: 'user', address: 'answer', storageKeys: 'answer' } },
  ])
})

it('judges every record by what is stated, whatever the record says', () => {
  const wrong: readonly [Partial<typeof STATED>, object][] = [
    [{ stateRoot: word(1) }, { code: 'STATE_ROOT_MISMATCH' }],
    [{ address: OTHER }, { verdict: 'refused' }],
    [{ storageKeys: [] }, { verdict: 'refused' }],
    [{ storageKeys: [word(2)] }, { verdict: 'refused' }],
    [{ scheme: 'mimc' } as object, { verdict: 'refused' }],
  ]
  for (const [change, verdict] of wrong) {
    expect(judge([recording, recording], { ...STATED, ...change })).toMatchObject([verdict, verdict])
  }
  const others: readonly Partial<typeof FOR_BUNDLES>[] = [
    { trusted: { l2StateRoot: word(1) } },
    { rollup: { address: OTHER } } as object,
    { address: OTHER },
    { storageKeys: [] },
  ]
  expect(judge([bundle], FOR_BUNDLES)).toMatchObject([{ verdict: 'present', sources: { stateRoot: 'user' } }])
  for (const change of others) {
    expect(judge([bundle], { ...FOR_BUNDLES, ...change })).toMatchObject([{ verdict: 'refused' }])
  }
})

it('judges answers, bundles or both, as the claim says', () => {
  const records = [recording, bundle]
  const kinds = (claim: RecordClaim) =>
    judge(records, claim).map(verdict => ('reason' in verdict ? verdict.reason : verdict.verdict))
  const noBundle = 'an evidence bundle: state the rollup, and what you trust'
  const noAnswer = 'an answer: state its state root'
  expect(kinds(STATED)).toEqual(['present', noBundle])
  expect(kinds({ ...STATED, rollup: undefined, trusted: undefined })).toEqual(['present', noBundle])
  expect(kinds(FOR_BUNDLES)).toEqual([noAnswer, 'present'])
  expect(kinds({ ...FOR_BUNDLES, stateRoot })).toEqual(['present', 'present'])
  expect(kinds({ ...FOR_BUNDLES, stateRoot: LEFT })).toEqual(['present', 'present'])
})

it('finds a record unreadable that names malformed parts, and goes on', () => {
  const malformed = [
    { stateRoot: '0x01' },
    { stateRoot: 7 },
    { address: `${ADDRESS}00` },
    { storageKeys: 'none' },
    { storageKeys: [word(1), null] },
  ]
  const verdicts = judge([...malformed.map(change => ({ ...recording, ...change })), recording], ALL_LEFT)
  const named = ['stateRoot', 'stateRoot', 'address', 'storageKeys', 'storageKeys[1]']
  expect(verdicts.map(verdict => ('reason' in verdict ? verdict.reason : verdict.verdict))).toEqual([
    ...named.map(path => `malformed: ${path}, which the record names`),
    'present',
  ])
})

it('judges all records by the claim as it was stated, even if it is changed meanwhile', () => {
  const lies: object[] = [
    { scheme: 'mimc', stateRoot: word(1), address: OTHER },
    { trusted: {}, rollup: {} },
  ]
  for (const [record, stated] of [[result, STATED] as const, [bundle, FOR_BUNDLES] as const]) {
    const trusted: object = { l2StateRoot: stateRoot }
    const claim = {
      ...stated,
      storageKeys: [...storageKeys],
      ...('trusted' in stated && { trusted, rollup: { ...ROLLUP } }),
    }
    const verdicts: string[] = []
    const verify = createRecordVerifier(claim as RecordClaim)
    for (let turn = 0; turn < 3; turn++) {
      verdicts.push(verify({ content: record }).verdict)
      claim.storageKeys[0] = verdicts.length === 1 ? word(2) : '0x'
      Object.assign(trusted, { l2StateRoot: word(1) })
      Object.assign(claim, ...lies)
    }
    expect(verdicts).toEqual(['present', 'present', 'present'])
  }
})

it('takes texts, bytes and values', () => {
  const text = JSON.stringify(recording)
  const verdicts = judge([text, new TextEncoder().encode(text), recording], STATED)
  expect(verdicts.map(({ verdict }) => verdict)).toEqual(['present', 'present', 'present'])
  const lines = ['', 'no JSON', '[]', '"a text"', new Uint8Array([0xff])]
  const reasons = ['empty', 'not JSON', 'not a record', 'not a record', 'not UTF-8']
  expect(judge(lines, ALL_LEFT)).toEqual(reasons.map(reason => ({ verdict: 'unreadable', reason })))
})

it('judges real vectors by what they state', () => {
  const vector: unknown = JSON.parse(readFileSync('vectors/poseidon2/valid/contract-slots-mixed.json', 'utf8'))
  expect(judge([vector], ALL_LEFT)).toMatchObject([{ verdict: 'present', sources: { stateRoot: 'record' } }])
})
