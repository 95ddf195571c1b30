import { expect, it } from 'vitest'
import { DocumentError } from '../../../src/cli/words/error.ts'
import { compare, runFunction, spellState } from '../../../src/cli/words/expected.ts'
import { type Expected, readExpected, readInputFile } from '../../../src/cli/words/input-file.ts'
import { evidenceKinds } from '../../../src/cli/words/kinds.ts'
import { fieldsOf } from '../../../src/cli/words/value.ts'
import { claimOfVector } from '../../../src/cli/words/vector-claim.ts'
import { verifyEvidence } from '../../../src/entry/anchor.ts'
import { ArgumentError, ProofError, safely, type VerifiedState, verifyProof } from '../../../src/entry/index.ts'
import { poseidon2 } from '../../../src/entry/poseidon2.ts'
import { answer, claim, contract, evidence } from './files.ts'

const spell = (verified: object) => evidenceKinds.state.spell(fieldsOf(verified))

const state = safely(() => verifyProof(answer, { ...claim, scheme: poseidon2 }))
const refusal = { ok: false, error: new ProofError('BAD_HEX', { path: 'accountProof.key' }) } as const
const { expected } = contract
const compareFields = (wanted: Expected, found: object) => compare(wanted, { ok: true, value: {} }, () => found)

it('finds nothing to say of what is as expected', () => {
  expect(state.ok).toBe(true)
  expect(compare(readExpected(expected), state, spellState)).toEqual([])
  expect(compare<VerifiedState>({ valid: true, account: 'whatever' }, state)).toEqual([])
  const path = 'accountProof.key'
  for (const wanted of [{ code: 'BAD_HEX' }, { code: 'BAD_HEX', path }]) {
    expect(compare({ valid: false, ...wanted }, refusal, spellState)).toEqual([])
    expect(compare({ valid: false, ...wanted }, refusal)).toEqual([])
  }
})

it('says how a verdict differs', () => {
  expect(compare({ valid: false, code: 'BAD_HEX' }, state, spellState)).toEqual(['expected BAD_HEX, but it verified'])
  expect(compare({ valid: true }, refusal)).toEqual(['expected to verify, got BAD_HEX at accountProof.key'])
  expect(compare({ valid: false, code: 'KEY_MISMATCH' }, refusal)).toEqual([
    'expected KEY_MISMATCH, got BAD_HEX at accountProof.key',
  ])
  expect(compare({ valid: false, code: 'BAD_HEX', path: '' }, refusal)).toEqual([
    'expected BAD_HEX, got BAD_HEX at accountProof.key',
  ])
})

it('says of each field how it differs', () => {
  const { account, storage } = expected
  const changed = { ...expected, account: { ...account, nonce: '12345' }, storage: storage.slice(1) }
  const mismatches = compare(readExpected(changed), state, spellState)
  expect(mismatches[0]).toBe(`account.nonce: expected 12345, got ${account.nonce}`)
  expect(
    mismatches.some(text => text.startsWith(`storage.${storage.length - 1}: expected nothing, got an object`)),
  ).toBe(true)
  expect(compare(readExpected({ ...expected, account: null }), state, spellState)).toEqual([
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
  if (file.kind !== 'evidence vector') throw new Error(file.kind)
  const outcome = safely(() => verifyEvidence(file.bundle, claimOfVector(file)))
  expect(compare(readExpected(evidence.expected), outcome, spell)).toEqual([])
  expect(evidence.expected.l1Block.number).toMatch(/^0x[1-9a-f]/)
  const wrong = { ...evidence.expected, l2BlockNumber: '0x0', finalizedTimestamp: '0x1' }
  expect(compare(readExpected(wrong), outcome, spell)).toEqual([
    expect.stringContaining('l2BlockNumber: expected 0x0, got 0x'),
    expect.stringContaining('finalizedTimestamp: expected 0x1, got '),
  ])
  expect(compare({ valid: true }, refusal, spell)).toEqual(['expected to verify, got BAD_HEX at accountProof.key'])
})

it('calls the function that a vector is for', () => {
  const run = (vector: object) => {
    const file = readInputFile(vector)
    if (file.kind !== 'function vector') throw new Error(file.kind)
    return runFunction(file)
  }
  const codeHash = '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'
  expect(() => run({ operation: 'verifyCode', code: '0x00', codeHash })).toThrow('CODE_HASH_MISMATCH')
  expect(run({ operation: 'verifyCode', code: '0x', codeHash })).toEqual({})
  expect(() => run({ operation: 'encodeHeader', block: {} })).toThrow('HEADER_MALFORMED')
  for (const operation of ['verifyConsensus', 'verifyFinality']) {
    expect(() => run({ operation, input: null })).toThrow(ArgumentError)
  }
  for (const operation of ['verifyProof', 'constructor', null]) {
    expect(() => run({ operation }), String(operation)).toThrow(DocumentError)
  }
})
