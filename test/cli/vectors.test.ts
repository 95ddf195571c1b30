import fs, { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { listJsonFiles } from '../../src/cli/files/input.ts'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { folderOf, runHere, sampleOf } from './io.ts'

const RECORDED = '../shared/vectors/recorded'
const sample = sampleOf(poseidon2)
const { result: answer, ...question } = sample
const invalid = {
  ...question,
  stateRoot: `0x${'00'.repeat(32)}`,
  answer,
  expected: { valid: false, code: 'STATE_ROOT_MISMATCH' },
}
const surprising = { ...invalid, expected: { valid: false, code: 'NOT_ADJACENT' } }

it.each(['mimc', 'poseidon2'])('runs the %s corpus with every outcome as expected', async scheme => {
  const { code, stdout, stderr } = await runHere(['vectors', join('vectors', scheme), '--json'])
  // Those that verify state their own roots.
  expect({ code, stderr }).toEqual({ code: 4, stderr: '' })
  const lines = stdout.trimEnd().split('\n')
  const { summary } = JSON.parse(lines.pop() ?? '')
  expect(summary.cases).toBeGreaterThan(200)
  expect(lines).toHaveLength(summary.cases)
  expect(summary).toMatchObject({ asExpected: summary.cases, unusable: 0 })
  expect(summary.groups.map(({ group }: { group: string }) => group)).toEqual([`${scheme} invalid`, `${scheme} valid`])
})

it.each([
  [
    'evidence',
    {
      'poseidon2 evidence invalid': 134,
      'L1 contract invalid': 1,
      'L1 header invalid': 5,
      'contract code invalid': 2,
      'ethereum evidence invalid': 24,
      'ethereum evidence valid': 8,
      'mimc evidence valid': 13,
      'poseidon2 evidence valid': 15,
    },
  ],
  ['calls', { 'call invalid': 44, 'call valid': 5 }],
  ['logs', { 'logs invalid': 65, 'logs valid': 9 }],
  ['transitions', { 'transition invalid': 176, 'transition valid': 6 }],
  [
    'blocks',
    {
      ...{ 'transactions invalid': 42, 'block invalid': 20, 'receipts invalid': 26, 'block headers invalid': 5 },
      ...{ 'block hash invalid': 5, 'block valid': 1, 'block hash valid': 3, 'block headers valid': 1 },
      ...{ 'receipts valid': 2, 'transactions valid': 3 },
    },
  ],
  [
    'messages',
    {
      ...{ 'arrival of a message invalid': 4, 'message from L2 invalid': 41, 'message evidence invalid': 27 },
      ...{ 'message to L2 invalid': 6, 'arrival of a message valid': 3, 'message from L2 valid': 11 },
      ...{ 'message evidence valid': 4, 'message to L2 valid': 5 },
    },
  ],
])('runs the %s vectors with every outcome as expected', async (folder, groups) => {
  const { code, stdout, stderr } = await runHere(['vectors', join('vectors', folder)])
  // Those that verify state their own roots and hashes.
  expect({ code, stderr }).toEqual({ code: 4, stderr: '' })
  expect((await runHere(['vectors', join('vectors', folder), '--trust-file'])).code).toBe(0)
  const rows = [...stdout.matchAll(/^ {2}(\w.*?) +(\d+) +(\d+)$/gm)]
  expect(rows.map(([, group, cases, asExpected]) => [group, Number(cases), Number(asExpected)])).toEqual(
    Object.entries(groups).map(([group, cases]) => [group, cases, cases]),
  )
  const total = Object.values(groups).reduce((sum, cases) => sum + cases)
  expect(stdout).toContain(`${total} of ${total} files as expected.`)
})

const beaconVectors = (patches: unknown, base: unknown = 'gloas') => {
  const folder = folderOf()
  for (const kind of ['valid', 'invalid']) mkdirSync(join(folder, kind))
  copyFileSync('vectors/beacon/valid/gloas.json', join(folder, 'valid', 'gloas.json'))
  const vector = { operation: 'verifyFinality', base, patches, expected: { valid: false, code: 'BEACON_MALFORMED' } }
  writeFileSync(join(folder, 'invalid', 'a.json'), JSON.stringify(vector))
  return folder
}

it('runs a vector that patches own properties of another', async () => {
  const run = async (patches: unknown, base?: unknown) => {
    const { code, stdout } = await runHere(['vectors', join(beaconVectors(patches, base), 'invalid'), '--json'])
    const [result = '{}'] = stdout.split('\n')
    return { code, ...JSON.parse(result) }
  }
  const good: [unknown, string][] = [
    [[], 'verified'],
    [[{ path: 'answers.finality.data', value: [] }], 'BEACON_MALFORMED'],
    [[{ path: 'answers.finality.data.finality_branch', length: 8 }], 'BEACON_BRANCH_LENGTH'],
    [[{ path: 'answers.finality.data.finality_branch.9', value: `0x${'00'.repeat(32)}` }], 'BEACON_BRANCH_LENGTH'],
    [[{ path: '__proto__', value: { polluted: 1 } }], 'verified'],
    [[{ path: 'answers.finality', value: { data: 7 } }], 'BEACON_MALFORMED'],
  ]
  for (const [patches, outcome] of good) {
    const isExpected = outcome === 'BEACON_MALFORMED'
    expect(await run(patches)).toMatchObject({ code: isExpected ? 0 : 1, outcome, asExpected: isExpected })
  }
  const bad: [unknown, string, unknown?][] = [
    ['x', 'patches: expected an array, got x'],
    [[null], 'a patch needs a path'],
    [[{ path: 'blockRoot' }], 'nothing can be changed at the path blockRoot'],
    [[{ path: '__proto__.polluted', value: 1 }], 'at the path __proto__.polluted'],
    [[{ path: 'answers.constructor.prototype.polluted', value: 1 }], 'at the path answers.constructor'],
    [[{ path: 'answers.updates.5', value: 1 }], 'at the path answers.updates.5'],
    [[{ path: 'answers.updates.length', value: 1e9 }], 'at the path answers.updates.length'],
    [[{ path: 'answers.updates', length: 1e9 }], 'at the path answers.updates'],
    [[{ path: 'answers.updates', length: 0.5 }], 'at the path answers.updates'],
    [[{ path: 'blockRoot.0', value: 1 }], 'at the path blockRoot.0'],
    [[], 'base: expected the name of a vector, got ../../secret', '../../secret'],
    [[], 'base: expected the name of a vector', {}],
    [[], 'cannot read', 'not-there'],
  ]
  for (const [patches, message, base] of bad) {
    expect(await run(patches, base)).toMatchObject({ code: 2, unusable: expect.stringContaining(message) })
  }
  expect({}).not.toHaveProperty('polluted')
  expect(good.length + bad.length).toBe(19)
})

it('lists evidence vectors with other outcomes, and those that cannot be run', async () => {
  const read = (name: string) => JSON.parse(readFileSync(`vectors/evidence/${name}.json`, 'utf8'))
  const valid = read('valid/poseidon2-block-hash')
  const noRoot = read('invalid/no-root')
  const codeAltered = read('invalid/code-altered')
  const mismatches: [object, string][] = [
    [
      { ...valid, expected: { ...valid.expected, trustedInput: 'l2StateRoot' } },
      'trustedInput: expected l2StateRoot, got l1BlockHash',
    ],
    [{ ...valid, expected: { ...valid.expected, l1Block: null } }, 'l1Block: expected null, got an object'],
    [
      { ...valid, expected: { ...valid.expected, account: { nonce: '0x4', balance: '0x5' } } },
      'account.nonce: expected 0x4',
    ],
    [{ ...valid, expected: noRoot.expected }, 'expected ANCHOR_NO_ROOT, but it verified'],
    [{ ...noRoot, expected: valid.expected }, 'expected to verify, got ANCHOR_NO_ROOT at l1.proof.storageProof[0]'],
    [{ ...noRoot, expected: codeAltered.expected }, 'expected CODE_HASH_MISMATCH, got ANCHOR_NO_ROOT'],
    [{ ...codeAltered, code: '0x', expected: noRoot.expected }, 'expected ANCHOR_NO_ROOT, got CODE_HASH_MISMATCH'],
    [{ ...codeAltered, expected: { valid: true } }, 'expected to verify, got CODE_HASH_MISMATCH'],
  ]
  for (const [content, message] of mismatches) {
    const { code, stdout } = await runHere(['vectors', folderOf({ 'a.json': content })])
    expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringContaining(message) })
  }
  const unusable: [object, string][] = [
    [{ ...valid, operation: 'verifyTime' }, 'unknown operation verifyTime'],
    [{ ...valid, operation: { toString: 1 } }, 'unknown operation'],
    [{ ...valid, expected: undefined }, 'expected.valid is neither true nor false'],
    [{ ...valid, scheme: 'sha3' }, 'neither mimc nor poseidon2 nor ethereum: sha3'],
    [{ ...valid, kind: 'statement' }, 'evidence of an unknown kind: statement'],
  ]
  for (const [content, message] of unusable) {
    const { code, stdout } = await runHere(['vectors', folderOf({ 'a.json': content })])
    expect({ code, stdout }).toEqual({ code: 2, stdout: expect.stringContaining(message) })
  }
})

it('counts cases by kind, including subfolders, and skips schemas and other files', async () => {
  const folder = folderOf({ 'a.json': sample, 'b.json': sample, 'x.schema.json': {}, 'notes.txt': 'x' })
  mkdirSync(join(folder, 'deep.json'))
  writeFileSync(join(folder, 'deep.json', 'c.json'), JSON.stringify(invalid))
  const { code, stdout, stderr } = await runHere(['vectors', folder])
  expect({ code, stderr }).toEqual({ code: 4, stderr: '' })
  expect(stdout).toMatch(/poseidon2 recording +2 +2\n/)
  expect(stdout).toMatch(/poseidon2 invalid +1 +1\n/)
  expect(stdout).toContain('3 of 3 files as expected.')
})

it('lists unexpected outcomes beside the expected ones', async () => {
  const folder = folderOf({
    'a.json': surprising,
    'b.json': sample,
    'c.json': { ...sample, stateRoot: invalid.stateRoot },
  })
  const { code, stdout } = await runHere(['vectors', folder])
  expect(code).toBe(1)
  expect(stdout).toContain('expected NOT_ADJACENT, got STATE_ROOT_MISMATCH at accountProof')
  expect(stdout).toContain('expected to verify, got STATE_ROOT_MISMATCH at accountProof')
  expect(stdout).toContain('1 of 3 files as expected.')
  const { stdout: ndjson } = await runHere(['vectors', folder, '--json'])
  expect(
    ndjson
      .split('\n')
      .slice(0, 3)
      .map(line => JSON.parse(line).asExpected),
  ).toEqual([false, true, false])
})

it.each([
  ['no JSON', '{', 'is not JSON'],
  ['an answer without a question', answer, 'neither a vector nor a recording'],
  ['a recording whose scheme cannot be spelled', { ...sample, scheme: { toString: 1 } }, 'ethereum: an object'],
  ['a recording without a root', { ...sample, stateRoot: null }, '--state-root is needed'],
])('fails on a file that is %s, after running the others', async (_, content, message) => {
  const folder = folderOf({ 'a.json': content, 'b.json': surprising })
  const { code, stdout } = await runHere(['vectors', folder])
  expect(code).toBe(2)
  expect(stdout).toContain(message)
  expect(stdout).toContain('expected NOT_ADJACENT')
  expect(stdout).toContain('0 of 2 files as expected.')
  const { stdout: ndjson } = await runHere(['vectors', folder, '--json'])
  expect(JSON.parse(ndjson.trimEnd().split('\n').at(-1) ?? '').summary).toMatchObject({ cases: 1, unusable: 1 })
})

it('fails on a folder without cases', async () => {
  const { code, stderr } = await runHere(['vectors', folderOf({ 'x.schema.json': {} })])
  expect(code).toBe(2)
  expect(stderr).toContain('there are no vectors in')
  expect((await runHere(['vectors', 'no-such-folder'])).code).toBe(2)
  expect((await runHere(['vectors'])).code).toBe(2)
})

it('searches a folder of 200,000 entries, and none of more', () => {
  const entries = vi.spyOn(fs, 'readdirSync')
  syncBuiltinESMExports()
  onTestFinished(() => {
    entries.mockRestore()
    syncBuiltinESMExports()
  })
  entries.mockReturnValue(new Array(200_000).fill({ name: '.hidden' }))
  expect(listJsonFiles('.')).toEqual([])
  entries.mockReturnValue(new Array(200_001).fill({ name: '.hidden' }))
  expect(() => listJsonFiles('.')).toThrow('more than 200000 files')
})

it('shows progress on a terminal, and clears the line at the end', async () => {
  const folder = folderOf({ 'a.json': sample, 'b.json': sample })
  const { stderr } = await runHere(['vectors', folder], { isTTY: true })
  expect(stderr).toContain('2/2')
  expect(stderr.endsWith('\r\x1b[K')).toBe(true)
})

it('verifies recorded answers of real endpoints', async context => {
  if (!existsSync(RECORDED)) {
    console.log(`skipped: 5 recorded answers, because there is no ${RECORDED}`)
    return context.skip()
  }
  const { stdout } = await runHere(['vectors', RECORDED, '--json'])
  // One of the five was published without a root.
  expect(JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({
    summary: { cases: 4, asExpected: 4, unusable: 1 },
  })
  const rootless = join(RECORDED, 'mimc-contract-one-slot.json')
  const refused = await runHere(['verify', rootless, '--state-root', `0x${'00'.repeat(32)}`])
  const root = /found +(0x\w+)/.exec(refused.stdout)?.[1] ?? ''
  const { code, stdout: report } = await runHere(['verify', rootless, '--state-root', root])
  expect(code).toBe(0)
  expect(report).toMatch(/0x0+ +present +0x0+2\n/)
})
