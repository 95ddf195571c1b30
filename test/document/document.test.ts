import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import type { VerifiedEvidence } from '../../src/anchor.ts'
import { formOf, guessScheme, leafProofAt, resultIn, storageKeysIn } from '../../src/document/answer.ts'
import { completeClaim, statedClaim } from '../../src/document/claim.ts'
import { claimOfVector, linkOf, linksFrom, nameOfRollup, parseNumber } from '../../src/document/evidence.ts'
import {
  type AnswerFile,
  type InputFile,
  isBundleFile,
  isFunctionVector,
  readExpected,
  readInputFile,
} from '../../src/document/input-file.ts'
import { readLevels, readRootNode } from '../../src/document/layout.ts'
import { inspectContent } from '../../src/document/unverified.ts'
import { brief, fieldsOf, parseJson, printable } from '../../src/document/value.ts'
import { ageOf, answerNotes, formatAge, timeRow, toEther, verdictOf } from '../../src/document/wording.ts'
import { safeVerifyProof } from '../../src/index.ts'
import { mimc } from '../../src/mimc.ts'
import { poseidon2 } from '../../src/poseidon2.ts'

const read = (path: string) => JSON.parse(readFileSync(`vectors/${path}.json`, 'utf8'))
const contract = read('poseidon2/valid/contract-slots-mixed')
const evidence = read('evidence/valid/poseidon2-block-hash')
const { answer, scheme, stateRoot, address, storageKeys } = contract
const claim = { scheme, stateRoot, address, storageKeys }

const files: readonly (readonly [name: string, content: unknown, kind: InputFile['kind']])[] = [
  ['a bare answer', answer, 'answer'],
  ['a response', { jsonrpc: '2.0', id: 1, result: answer }, 'JSON-RPC response'],
  ['a response without a version', { result: answer }, 'JSON-RPC response'],
  ['a response that states a scheme', { jsonrpc: '2.0', scheme: 'mimc', result: answer }, 'JSON-RPC response'],
  ['an error', { jsonrpc: '2.0', error: { code: 1 } }, 'JSON-RPC response'],
  ['a recording', { ...claim, result: answer }, 'recording'],
  ['a vector', contract, 'vector'],
  ['a bundle', evidence.bundle, 'evidence bundle'],
  ['an evidence vector', evidence, 'evidence vector'],
  [
    'a header vector',
    { operation: 'encodeHeader', block: {}, expected: { valid: false, code: 'x' } },
    'function vector',
  ],
  ['an eth_getProof answer', { accountProof: [], storageProof: [] }, 'answer'],
  ['something else', { a: 1 }, 'unknown'],
  ['a list', [answer], 'unknown'],
  ['null', null, 'unknown'],
]
it.each(files)('recognizes %s by its fields', (_name, content, kind) => {
  const file = readInputFile(content)
  expect(file.kind).toBe(kind)
  expect(isBundleFile(file)).toBe(kind.startsWith('evidence'))
  expect(isFunctionVector(file)).toBe(kind === 'function vector')
  // The same as a line of NDJSON.
  expect(readInputFile(parseJson(new TextEncoder().encode(JSON.stringify(content)))).kind).toBe(kind)
})

it('refuses a file with a scheme but no answer, and an incomplete expectation', () => {
  expect(() => readInputFile({ scheme: 'mimc' })).toThrow('neither an answer nor a result')
  for (const expected of [undefined, {}, { valid: 'yes' }, { valid: false }]) {
    expect(() => readExpected(expected)).toThrow('it is not a vector')
  }
})

it('unwraps an answer as the verifier does', () => {
  expect(resultIn({ jsonrpc: '2.0', result: null, accountProof: {} })).toEqual({})
  expect(resultIn({ result: null, accountProof: 1 })).toEqual({ result: null, accountProof: 1 })
  expect(resultIn({ result: { accountProof: 1 }, accountProof: 2 })).toEqual({ accountProof: 1 })
})

it('reads own properties only', () => {
  const names = ['jsonrpc', 'result', 'scheme', 'answer', 'stateRoot', 'operation', 'storageProofs', 'leafIndex']
  try {
    for (const name of names) Object.defineProperty(Object.prototype, name, { value: 'x', configurable: true })
    expect(readInputFile(answer)).toMatchObject({ kind: 'answer', answer })
    expect(Object.keys(fieldsOf({}))).toEqual([])
    expect(Reflect.get(fieldsOf({}), 'scheme')).toBeUndefined()
    expect(formOf({})).toBe('neither')
    expect(Reflect.get(resultIn(answer), 'jsonrpc')).toBeUndefined()
  } finally {
    for (const name of names) Reflect.deleteProperty(Object.prototype, name)
  }
})

it('tells the schemes and the forms of leaf proofs apart', () => {
  expect(guessScheme(leafProofAt(answer, 0))).toBe(poseidon2)
  expect(guessScheme(leafProofAt(read('mimc/valid/absent-account-between').answer, 0))).toBe(mimc)
  expect(guessScheme({ proof: { proofRelatedNodes: [] } })).toBeUndefined()
  expect(formOf({ leafIndex: 0 })).toBe('existence')
  expect(formOf({ rightProof: {} })).toBe('non-existence')
  expect(formOf({ leafIndex: 0, leftProof: {} })).toBe('both')
  expect(formOf({ leafIndex: null })).toBe('neither')
})

it('completes a claim from the user first, then the file, then the answer', () => {
  const recording = readInputFile({ ...claim, result: answer })
  const bare = readInputFile(answer)
  const isAnswer = (file: InputFile): file is AnswerFile => 'answer' in file
  if (!isAnswer(recording) || !isAnswer(bare)) throw new Error('kind')
  expect(completeClaim({}, bare)).toEqual({ missing: 'scheme' })
  expect(completeClaim({ scheme: 'poseidon2' }, bare)).toEqual({ missing: 'stateRoot' })
  expect(completeClaim({ scheme: 'keccak' }, bare)).toEqual({ unknownScheme: 'keccak' })
  const fromFile = completeClaim({}, recording)
  expect(fromFile).toMatchObject({
    sources: { scheme: 'file', stateRoot: 'file', address: 'file', storageKeys: 'file' },
  })
  const stated = { scheme: 'poseidon2', stateRoot: claim.stateRoot }
  const mixed = completeClaim(stated, bare)
  if (!('claim' in mixed)) throw new Error('a problem')
  expect(mixed.sources).toEqual({ scheme: 'user', stateRoot: 'user', address: 'answer', storageKeys: 'answer' })
  expect(mixed.claim.storageKeys).toEqual(claim.storageKeys)
  expect(statedClaim(mixed)).toEqual(stated)
  const unnamed = { ...bare, answer: { ...answer, storageProofs: [answer.storageProofs[0], null] } }
  expect(storageKeysIn(unnamed.answer)).toBe(1)
  expect(completeClaim(stated, unnamed)).toEqual({ unnamedSlot: 1 })
})

it('starts a verdict with what it rests on', () => {
  const state = safeVerifyProof(answer, { ...claim, scheme: poseidon2 })
  if (!state.ok) throw state.error
  const sources = { scheme: 'user', stateRoot: 'user', address: 'user', storageKeys: 'user' } as const
  const own = verdictOf(state, 'l2StateRoot', sources)
  expect(own.isStated).toBe(true)
  expect(own.headline).toMatch(
    /^Verified against the L2 state root that you stated: this account exists, \d of its 5 slots/,
  )
  const mixed = verdictOf(state, 'l2StateRoot', { ...sources, address: 'answer' })
  expect(mixed.isStated).toBe(false)
  expect(mixed.headline).toMatch(/^Verified against the L2 state root that you stated, with other inputs from the file/)
  const files = verdictOf(state, 'l2StateRoot', { ...sources, stateRoot: 'file' })
  expect(files.isStated).toBe(false)
  expect(files.headline).toMatch(/^Consistent with the L2 state root that the file states: /)
  expect(answerNotes({ ...sources, address: 'answer', scheme: 'answer' }, 5)).toEqual([
    'the address and scheme came from the answer: check that this is what you asked for.',
  ])
})

it('reads numbers, rollups and links', () => {
  expect(parseNumber('18446744073709551615', 64)).toBe(2n ** 64n - 1n)
  for (const text of ['18446744073709551616', '-1', '0x', '1.5', '', ' 1', 7, null])
    expect(parseNumber(text, 64)).toBeNull()
  expect(nameOfRollup('0xD19D4B5D358258f05D7B411E21A1460D11B0876F')).toBe('mainnet')
  expect(nameOfRollup(evidence.bundle.rollup.address)).toBeUndefined()
  const file = readInputFile(evidence)
  if (!isBundleFile(file)) throw new Error('not a bundle')
  const { trusted, rollup } = claimOfVector(file)
  expect(rollup.address).toBe(evidence.claim.rollup.address)
  expect(linksFrom(trusted)).toEqual(['bundle', 'l1Header', 'rollupContract', 'answer'])
  const forged = safeVerifyProof({}, { ...claim, scheme: poseidon2 })
  expect(forged.ok || linkOf(forged.error)).toBe('bundle')
})

it('reads the levels of a path as far as they are readable', () => {
  const { leafIndex, proof } = answer.accountProof
  const levels = readLevels(poseidon2, leafIndex, proof.proofRelatedNodes)
  expect(levels.map(({ level }) => level)).toEqual(Array.from({ length: 40 }, (_, index) => 39 - index))
  expect(levels.every(({ running, problem }) => running !== null && problem === null)).toBe(true)
  const broken = proof.proofRelatedNodes.with(35, '0x00')
  const [top, ...rest] = readLevels(poseidon2, leafIndex, broken)
  expect(top?.running).toBeNull()
  expect(rest.filter(({ problem }) => problem !== null).map(({ entry }) => entry)).toEqual([35])
  expect(readLevels(poseidon2, leafIndex, broken.slice(1))).toEqual([])
  expect(readRootNode(poseidon2, '0x00')).toBeNull()
  expect(readRootNode(poseidon2, proof.proofRelatedNodes[0])?.nextFreeNode).toBeGreaterThan(2n)
})

it('inspects a file without verifying it', () => {
  const { kind, fields, problems } = inspectContent(contract)
  expect({ kind, problems }).toEqual({ kind: 'vector', problems: [] })
  expect(fields).toMatchObject({ scheme: 'poseidon2', answer: { accountProof: { claims: 'existence' } } })
})

it('prints no characters that move, recolour or reverse text', () => {
  expect(printable('a\u001b[31m\u202e\u0085\u2028\ud800b')).toBe('a?[31m????b')
  expect(brief('x'.repeat(500))).toMatch(/^x{400}… \(500 characters\)$/)
  expect([10n ** 20n, 15n * 10n ** 17n, 10n ** 9n].map(toEther)).toEqual(['100', '1.5', '0.000000001'])
  for (const [bytes, message] of [
    [[0x7b, 0xff], 'not UTF-8'],
    [[0x20], 'empty'],
    [[0x7b], 'not JSON'],
  ] as const) {
    expect(() => parseJson(Uint8Array.from(bytes))).toThrow(message)
  }
})

it('reports the age of a state, and what it is based on', () => {
  const times = (finalizedTimestamp: bigint | null, l1Time: bigint | null) =>
    ({ finalizedTimestamp, l1Block: l1Time === null ? null : { timestamp: l1Time } }) as unknown as VerifiedEvidence
  const proven = times(1_000n, 5_000n)
  expect(ageOf(proven, 8_200n)).toEqual({ seconds: 7_200n, since: 'l2Block' })
  expect(timeRow(proven, 8_200n)).toEqual([
    ...['L2 block time', '1970-01-01T00:16:40Z', '2 hours ago, proven by the rollup contract'],
  ])
  const reference = times(null, 5_000n)
  expect(ageOf(reference, 8_200n)).toEqual({ seconds: 3_200n, since: 'l1Block' })
  expect(timeRow(reference, 8_200n)).toEqual([
    ...['L2 block time', 'age not provable', 'older than the L1 block, which was made 53 minutes ago'],
  ])
  expect(ageOf(times(null, null), 8_200n)).toBe(null)
  expect(timeRow(times(null, null), 8_200n)).toEqual(['L2 block time', 'age not provable'])
  // The local clock is behind.
  expect(ageOf(proven, 900n)).toEqual({ seconds: 0n, since: 'l2Block' })
  expect([0n, 1n, 119n, 120n, 7_199n, 7_200n, 172_799n, 172_800n].map(formatAge)).toEqual([
    ...['0 seconds', '1 second', '119 seconds', '2 minutes', '119 minutes', '2 hours', '47 hours', '2 days'],
  ])
})
