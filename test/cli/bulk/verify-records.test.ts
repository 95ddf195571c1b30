import { createReadStream, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { createBundle } from '../../../src/entry/anchor.ts'
import { type RecordClaim, readLines, type Verdict, verifyRecords } from '../../../src/entry/bulk.ts'
import type { Hex } from '../../../src/entry/index.ts'
import { poseidon2 } from '../../../src/entry/poseidon2.ts'
import { createWorld } from '../../../src/entry/world.ts'

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

async function judge(records: Iterable<unknown> | AsyncIterable<unknown>, claim: RecordClaim): Promise<Verdict[]> {
  const verdicts: Verdict[] = []
  for await (const verdict of verifyRecords(records, claim)) verdicts.push(verdict)
  return verdicts
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
    expect(() => verifyRecords([recording], claim as RecordClaim), JSON.stringify([path, claim])).toThrow(
      expect.objectContaining({ code: 'ARGUMENT_INVALID', path }),
    )
  }
  expect(cases.length).toBe(44)
  for (const name of Object.keys(STATED)) {
    const claim = { ...STATED, [name]: undefined } as unknown as RecordClaim
    expect(() => verifyRecords([recording], claim)).toThrow(
      expect.objectContaining({ path: name, expected: "a value, or 'fromRecord'", found: 'nothing' }),
    )
  }
})

it('says who stated what, and which parts are those of the record', async () => {
  const all = { scheme: 'record', stateRoot: 'record', address: 'record', storageKeys: 'record' }
  expect(await judge([recording], ALL_LEFT)).toMatchObject([{ verdict: 'present', sources: all }])
  for (const name of Object.keys(STATED)) {
    const claim = { ...ALL_LEFT, [name]: STATED[name as keyof typeof STATED] }
    expect(await judge([recording], claim)).toMatchObject([{ verdict: 'present', sources: { ...all, [name]: 'user' } }])
  }
  const answered = { ...STATED, address: LEFT, storageKeys: LEFT } as const
  expect(await judge([result], answered)).toMatchObject([
    { verdict: 'present', sources: { scheme: 'user', stateRoot: 'user', address: 'answer', storageKeys: 'answer' } },
  ])
})

it('judges every record by what is stated, whatever the record says', async () => {
  const wrong: readonly [Partial<typeof STATED>, object][] = [
    [{ stateRoot: word(1) }, { code: 'STATE_ROOT_MISMATCH' }],
    [{ address: OTHER }, { verdict: 'refused' }],
    [{ storageKeys: [] }, { verdict: 'refused' }],
    [{ storageKeys: [word(2)] }, { verdict: 'refused' }],
    [{ scheme: 'mimc' } as object, { verdict: 'refused' }],
  ]
  for (const [change, verdict] of wrong) {
    expect(await judge([recording, recording], { ...STATED, ...change })).toMatchObject([verdict, verdict])
  }
  const others: readonly Partial<typeof FOR_BUNDLES>[] = [
    { trusted: { l2StateRoot: word(1) } },
    { rollup: { address: OTHER } } as object,
    { address: OTHER },
    { storageKeys: [] },
  ]
  expect(await judge([bundle], FOR_BUNDLES)).toMatchObject([{ verdict: 'present', sources: { stateRoot: 'user' } }])
  for (const change of others) {
    expect(await judge([bundle], { ...FOR_BUNDLES, ...change })).toMatchObject([{ verdict: 'refused' }])
  }
})

it('judges answers, bundles or both, as the claim says', async () => {
  const records = [recording, bundle]
  const kinds = async (claim: RecordClaim) =>
    (await judge(records, claim)).map(verdict => ('reason' in verdict ? verdict.reason : verdict.verdict))
  const noBundle = 'an evidence bundle: state the rollup, and what you trust'
  const noAnswer = 'an answer: state its state root'
  expect(await kinds(STATED)).toEqual(['present', noBundle])
  expect(await kinds({ ...STATED, rollup: undefined, trusted: undefined })).toEqual(['present', noBundle])
  expect(await kinds(FOR_BUNDLES)).toEqual([noAnswer, 'present'])
  expect(await kinds({ ...FOR_BUNDLES, stateRoot })).toEqual(['present', 'present'])
  expect(await kinds({ ...FOR_BUNDLES, stateRoot: LEFT })).toEqual(['present', 'present'])
})

it('finds a record unreadable that names malformed parts, and goes on', async () => {
  const malformed = [
    { stateRoot: '0x01' },
    { stateRoot: 7 },
    { address: `${ADDRESS}00` },
    { storageKeys: 'none' },
    { storageKeys: [word(1), null] },
  ]
  const verdicts = await judge([...malformed.map(change => ({ ...recording, ...change })), recording], ALL_LEFT)
  const named = ['stateRoot', 'stateRoot', 'address', 'storageKeys', 'storageKeys[1]']
  expect(verdicts.map(verdict => ('reason' in verdict ? verdict.reason : verdict.verdict))).toEqual([
    ...named.map(path => `malformed: ${path}, which the record names`),
    'present',
  ])
})

it('judges all records by the claim as it was stated, even if it is changed meanwhile', async () => {
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
    for await (const { verdict } of verifyRecords([record, record, record], claim as RecordClaim)) {
      verdicts.push(verdict)
      claim.storageKeys[0] = verdicts.length === 1 ? word(2) : '0x'
      Object.assign(trusted, { l2StateRoot: word(1) })
      Object.assign(claim, ...lies)
    }
    expect(verdicts).toEqual(['present', 'present', 'present'])
  }
})

it('refuses bytes, which are no records, and names readLines', async () => {
  const bytes = new TextEncoder().encode(`${JSON.stringify(recording)}\n`)
  const message = expect.objectContaining({
    code: 'ARGUMENT_INVALID',
    path: 'records',
    message: expect.stringContaining('readLines(stream)'),
  })
  for (const records of [bytes, Buffer.from(bytes), JSON.stringify(recording), 7, null, undefined, {}]) {
    expect(() => verifyRecords(records as never, STATED)).toThrow(message)
  }
  const streams = [
    new Response(bytes).body,
    createReadStream('package.json'),
    [recording, bytes],
    [new DataView(bytes.buffer)],
  ]
  for (const stream of streams) {
    await expect(judge(stream as AsyncIterable<unknown>, STATED)).rejects.toEqual(message)
  }
  expect(await judge(readLines(new Blob([bytes]).stream()), STATED)).toMatchObject([{ verdict: 'present' }])
})

it('takes texts, values and lines, and throws what its records throw', async () => {
  async function* failing() {
    yield JSON.stringify(recording)
    yield recording
    throw new Error('the disk is gone')
  }
  const verdicts: Verdict[] = []
  const run = async () => {
    for await (const verdict of verifyRecords(failing(), STATED)) verdicts.push(verdict)
  }
  await expect(run()).rejects.toThrow('the disk is gone')
  expect(verdicts.map(({ verdict }) => verdict)).toEqual(['present', 'present'])
  const lines = ['', 'no JSON', '[]', 'longer than a record may be', 'not UTF-8', '"not UTF-8"']
  expect(await judge(new Set(lines), ALL_LEFT)).toEqual(
    ['empty', 'not JSON', 'not a record', 'longer than a record may be', 'not UTF-8', 'not a record'].map(reason => ({
      verdict: 'unreadable',
      reason,
    })),
  )
})

it('judges real vectors by what they state', async () => {
  const vector: unknown = JSON.parse(readFileSync('vectors/poseidon2/valid/contract-slots-mixed.json', 'utf8'))
  expect(await judge([vector], ALL_LEFT)).toMatchObject([{ verdict: 'present', sources: { stateRoot: 'record' } }])
})
