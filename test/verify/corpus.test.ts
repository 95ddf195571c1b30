import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { poseidon2 } from '../../src/entry/poseidon2.ts'
import { type FileResult, runVector } from '../../vectors/run/run-vector.ts'
import { fileOf, runHere, sampleOf } from '../cli/io.ts'
import { sizesOf } from './sizes.ts'

/** What `npm run vectors` runs: each vector, against what it expects, field by field. */

const RECORDED = '../shared/vectors/recorded'

async function runAll(folder: string): Promise<FileResult[]> {
  const results: FileResult[] = []
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.json'))
  for (const name of names) results.push(await runVector(join(folder, name)))
  return results
}

it.each([
  ['mimc', ['mimc']],
  ['poseidon2', ['poseidon2']],
  [
    'evidence',
    ['poseidon2 evidence', 'mimc evidence', 'ethereum evidence', 'L1 contract', 'L1 header', 'contract code'],
  ],
  ['calls', ['call']],
  ['logs', ['logs']],
  ['transitions', ['transition']],
  ['blocks', ['block', 'block hash', 'block header', 'receipts', 'transactions']],
  ['messages', ['message from L2', 'message to L2', 'arrival of a message', 'message evidence']],
])('runs the %s vectors with every outcome as expected', async (folder, groups) => {
  const counts = { valid: 0, invalid: 0 }
  const found = new Set<string>()
  for (const result of await runAll(join('vectors', folder))) {
    if (!('group' in result)) throw new Error(`${result.file}: ${result.unusable}`)
    expect(result.mismatches, result.file).toEqual([])
    const [, group = '', kind] = /^(.*) (valid|invalid)$/.exec(result.group) ?? []
    counts[kind === 'valid' ? 'valid' : 'invalid']++
    found.add(group)
  }
  expect(counts).toEqual(sizesOf(folder))
  expect([...found].sort()).toEqual(groups.toSorted())
})

it('tells vectors with other outcomes, and those that cannot be run', async () => {
  const read = (path: string) => JSON.parse(readFileSync(`vectors/${path}.json`, 'utf8'))
  const valid = read('evidence/valid/poseidon2-block-hash')
  const noRoot = read('evidence/invalid/no-root')
  const codeAltered = read('evidence/invalid/code-altered')
  const answer = read('poseidon2/valid/contract-slots-mixed')
  const { expected } = answer
  const mismatches: [object, string][] = [
    [
      { ...valid, expected: { ...valid.expected, trustedInput: 'l2StateRoot' } },
      'trustedInput: expected l2StateRoot, got l1BlockHash',
    ],
    [{ ...valid, expected: { ...valid.expected, l1Block: null } }, 'l1Block: expected null, got an object'],
    [{ ...valid, expected: { ...valid.expected, l2BlockNumber: '0x0' } }, 'l2BlockNumber: expected 0x0, got 0x'],
    [
      { ...valid, expected: { ...valid.expected, account: { nonce: '0x4', balance: '0x5' } } },
      'account.nonce: expected 0x4',
    ],
    [{ ...valid, expected: noRoot.expected }, 'expected ANCHOR_NO_ROOT, but it verified'],
    [{ ...noRoot, expected: valid.expected }, 'expected to verify, got ANCHOR_NO_ROOT at l1.proof.storageProof[0]'],
    [{ ...noRoot, expected: codeAltered.expected }, 'expected CODE_HASH_MISMATCH, got ANCHOR_NO_ROOT'],
    [{ ...codeAltered, code: '0x', expected: noRoot.expected }, 'expected ANCHOR_NO_ROOT, got CODE_HASH_MISMATCH'],
    [{ ...codeAltered, expected: { valid: true } }, 'expected to verify, got CODE_HASH_MISMATCH'],
    [
      { ...answer, expected: { ...expected, account: { ...expected.account, nonce: '99' } } },
      'account.nonce: expected',
    ],
    [{ ...answer, expected: { ...expected, storage: expected.storage.slice(1) } }, 'expected nothing, got an object'],
    [{ ...sampleOf(poseidon2), stateRoot: `0x${'00'.repeat(32)}` }, 'expected to verify, got STATE_ROOT_MISMATCH'],
  ]
  for (const [content, message] of mismatches) {
    const result = await runVector(fileOf(content))
    expect(result).toMatchObject({ mismatches: expect.arrayContaining([expect.stringContaining(message)]) })
  }
  const unusable: [object, string][] = [
    [{ ...valid, operation: 'verifyTime' }, 'unknown operation verifyTime'],
    [{ ...valid, operation: 'constructor' }, 'unknown operation constructor'],
    [{ ...valid, expected: undefined }, 'expected.valid is neither true nor false'],
    [{ ...valid, expected: { valid: false } }, 'expected.code is missing'],
    [{ ...valid, scheme: 'sha3' }, 'neither mimc nor poseidon2 nor ethereum: sha3'],
    [{ ...valid, kind: 'statement' }, 'evidence of an unknown kind: statement'],
    [valid.bundle, 'it is neither a vector nor a recording'],
    [answer.answer, 'it is neither a vector nor a recording'],
    [{ ...sampleOf(poseidon2), stateRoot: null }, 'nobody states its stateRoot'],
  ]
  for (const [content, message] of unusable) {
    expect(await runVector(fileOf(content))).toMatchObject({ unusable: expect.stringContaining(message) })
  }
  expect(mismatches.length + unusable.length).toBe(21)
})

it('verifies recorded answers of real endpoints', async context => {
  if (!existsSync(RECORDED)) {
    console.log(`skipped: 5 recorded answers, because there is no ${RECORDED}`)
    return context.skip()
  }
  const results = await runAll(RECORDED)
  // One of the five was published without a root.
  expect(results.map(result => ('group' in result ? result.mismatches.length : 'unusable')).sort()).toEqual([
    ...[0, 0, 0, 0, 'unusable'],
  ])
  const rootless = join(RECORDED, 'mimc-contract-one-slot.json')
  const refused = await runHere(['verify', rootless, '--state-root', `0x${'00'.repeat(32)}`])
  const root = /found +(0x\w+)/.exec(refused.stdout)?.[1] ?? ''
  const { code, stdout: report } = await runHere(['verify', rootless, '--state-root', root])
  expect(code).toBe(0)
  expect(report).toMatch(/0x0+ +present +0x0+2\n/)
})
