import { expect, it } from 'vitest'
import { safeVerifyEvidence } from '../../src/anchor.ts'
import { DocumentError } from '../../src/document/error.ts'
import { claimOfVector } from '../../src/document/evidence.ts'
import {
  compareEvidence,
  compareFields,
  compareRefusal,
  compareState,
  compareVerdict,
  runFunction,
} from '../../src/document/expected.ts'
import { isBundleFile, isFunctionVector, readExpected, readInputFile } from '../../src/document/input-file.ts'
import { ProofError, safeVerifyProof } from '../../src/index.ts'
import { poseidon2 } from '../../src/poseidon2.ts'
import { answer, claim, contract, evidence } from './files.ts'

const state = safeVerifyProof(answer, { ...claim, scheme: poseidon2 })
const refusal = { ok: false, error: new ProofError('BAD_HEX', { path: 'accountProof.key' }) } as const
const { expected } = contract

it('finds nothing to say of what is as expected', () => {
  expect(state.ok).toBe(true)
  expect(compareState(readExpected(expected), state)).toEqual([])
  expect(compareVerdict({ valid: true, account: 'whatever' }, state)).toEqual([])
  const path = 'accountProof.key'
  for (const wanted of [{ code: 'BAD_HEX' }, { code: 'BAD_HEX', path }]) {
    expect(compareState({ valid: false, ...wanted }, refusal)).toEqual([])
    expect(compareVerdict({ valid: false, ...wanted }, refusal)).toEqual([])
  }
})

it('says how a verdict differs', () => {
  expect(compareState({ valid: false, code: 'BAD_HEX' }, state)).toEqual(['expected BAD_HEX, but it verified'])
  expect(compareVerdict({ valid: true }, refusal)).toEqual(['expected to verify, got BAD_HEX at accountProof.key'])
  expect(compareRefusal({ valid: false, code: 'KEY_MISMATCH' }, refusal.error)).toEqual([
    'expected KEY_MISMATCH, got BAD_HEX at accountProof.key',
  ])
  expect(compareRefusal({ valid: false, code: 'BAD_HEX', path: '' }, refusal.error)).toEqual([
    'expected BAD_HEX, got BAD_HEX at accountProof.key',
  ])
})

it('says of each field how it differs', () => {
  const { account, storage } = expected
  const changed = { ...expected, account: { ...account, nonce: '12345' }, storage: storage.slice(1) }
  const mismatches = compareState(readExpected(changed), state)
  expect(mismatches[0]).toBe(`account.nonce: expected 12345, got ${account.nonce}`)
  expect(
    mismatches.some(text => text.startsWith(`storage.${storage.length - 1}: expected nothing, got an object`)),
  ).toBe(true)
  expect(compareState(readExpected({ ...expected, account: null }), state)).toEqual([
    'account: expected null, got an object',
  ])
  expect(compareFields({ valid: true, account: { x: 1, y: 2 } }, { account: { x: 1 } })).toEqual([
    'account.y: expected 2, got nothing',
  ])
  // Vectors write these as decimal strings, because a JSON number cannot hold every one.
  expect(compareFields({ valid: true, account: 10 }, { account: 10n })).toEqual(['account: expected 10, got 10'])
  expect(compareFields({ valid: true, account: 1 }, {})).toEqual([])
})

it('looks no deeper into a file than the outcome goes', () => {
  let deep: unknown = 1
  for (let depth = 0; depth < 100_000; depth++) deep = { deep }
  expect(compareFields({ valid: true, account: deep }, { account: { nonce: 1n } })).toEqual([
    ...['account.deep: expected an object, got nothing', 'account.nonce: expected nothing, got 1'],
  ])
})

it('compares evidence as vectors write it: numbers as quantities', () => {
  const file = readInputFile(evidence)
  if (!isBundleFile(file)) throw new Error(file.kind)
  const outcome = safeVerifyEvidence(file.bundle, claimOfVector(file))
  expect(compareEvidence(readExpected(evidence.expected), outcome)).toEqual([])
  expect(evidence.expected.l1Block.number).toMatch(/^0x[1-9a-f]/)
  const wrong = { ...evidence.expected, l2BlockNumber: '0x0', finalizedTimestamp: '0x1' }
  expect(compareEvidence(readExpected(wrong), outcome)).toEqual([
    expect.stringContaining('l2BlockNumber: expected 0x0, got 0x'),
    expect.stringContaining('finalizedTimestamp: expected 0x1, got '),
  ])
  expect(compareEvidence({ valid: true }, refusal)).toEqual(['expected to verify, got BAD_HEX at accountProof.key'])
})

it('calls the function that a vector is for', () => {
  const run = (vector: object) => {
    const file = readInputFile(vector)
    if (!isFunctionVector(file)) throw new Error(file.kind)
    return runFunction(file, { valid: false, code: 'CODE_HASH_MISMATCH' })
  }
  const codeHash = '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'
  expect(run({ operation: 'verifyCode', code: '0x00', codeHash })).toMatchObject({
    ...{ error: { code: 'CODE_HASH_MISMATCH' }, mismatches: [] },
  })
  expect(run({ operation: 'verifyCode', code: '0x', codeHash })).toEqual({
    ...{ error: null, mismatches: ['expected CODE_HASH_MISMATCH, but it verified'] },
  })
  expect(run({ operation: 'encodeHeader', block: {} }).error?.code).toBe('HEADER_MALFORMED')
  for (const operation of ['verifyCheckpoint', 'verifyFinality']) {
    expect(run({ operation, input: null }).error).toBeInstanceOf(ProofError)
  }
  for (const operation of ['verifyProof', 'constructor', null]) {
    expect(() => run({ operation }), String(operation)).toThrow(DocumentError)
  }
})
