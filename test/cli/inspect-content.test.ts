import { readdirSync } from 'node:fs'
import { expect, it } from 'vitest'
import { inspectContent, type UnverifiedField } from '../../src/cli/commands/inspect.ts'
import { MAX_SHOWN_DEPTH } from '../../src/cli/words/limits.ts'
import { DocumentError } from '../../src/cli/words/value.ts'
import { answer, contract, evidence, read } from './words/files.ts'

it('inspects a vector and an answer without verifying them', () => {
  const { kind, fields } = inspectContent(contract)
  expect(kind).toBe('vector')
  expect(fields).toMatchObject({
    scheme: 'poseidon2',
    expected: 'an object',
    answer: { accountProof: { key: contract.address, claims: 'existence', proof: { scheme: 'poseidon2' } } },
  })
  const recording = inspectContent({ scheme: 'poseidon2', result: answer })
  expect(Object.keys(recording.fields)).toEqual(['scheme', 'result'])
  const response = inspectContent({ jsonrpc: '2.0', id: 7, result: answer })
  expect(response).toMatchObject({ kind: 'JSON-RPC response', fields: { jsonrpc: '2.0', id: '7' } })
  expect(response.fields).toHaveProperty('result.accountProof.proof.value.nonce')
  const absent = inspectContent(read('mimc/valid/absent-account-between').answer)
  expect(absent.fields).toMatchObject({ accountProof: { claims: 'non-existence', leftProof: { scheme: 'mimc' } } })
  const forged = inspectContent(read('poseidon2/invalid/inner-node-altered'))
  expect(forged).toMatchObject({ kind: 'vector', fields: { expected: 'an object' } })
})

it('inspects a bundle, from the header to the slots', () => {
  const { kind, fields } = inspectContent(evidence.bundle)
  expect(kind).toBe('evidence bundle')
  expect(fields).toMatchObject({
    l2BlockNumber: BigInt(evidence.bundle.l2BlockNumber),
    l1: {
      header: { hash: evidence.claim.trusted.l1BlockHash, stateRoot: evidence.expected.l1Block.stateRoot },
      proof: { accountProof: expect.stringMatching(/^an array of \d+$/) },
    },
  })
  expect(inspectContent(evidence)).toMatchObject({
    kind: 'evidence vector',
    fields: { claim: { trusted: evidence.claim.trusted }, bundle: fields },
  })
  const beacon = inspectContent(read('evidence/valid/poseidon2-beacon-block-root')).fields
  const bootstrap = 'bundle.consensus.bootstrap.data'
  expect(beacon).toHaveProperty(`${bootstrap}.header.beacon.root`, expect.stringMatching(/^0x/))
  expect(beacon).toHaveProperty(`${bootstrap}.current_sync_committee.pubkeys`, 'an array of 512')
})

it('inspects logs', () => {
  const { input } = read('logs/valid/transfers-poseidon2')
  expect(inspectContent(input)).toMatchObject({
    kind: 'logs as evidence',
    fields: { fromBlock: 994n, toBlock: 999n, blocks: 'an array of 6' },
  })
  const blocks = [null, 5, { receipts: null }]
  expect(inspectContent({ ...input, filter: { address: 7, topics: 'x' }, blocks }).fields).toMatchObject({
    filter: { address: '7', topics: 'x' },
    blocks: 'an array of 3',
  })
  const [anchored, slotted] = ['anchored', 'slotted'].map(name => read(`logs/valid/ethereum-${name}`).input)
  expect(inspectContent(anchored)).toMatchObject({ fields: expect.not.objectContaining({ answer: {} }) })
  expect(inspectContent(slotted)).toMatchObject({ fields: { answer: expect.anything() } })
})

it('inspects calls and vectors for functions', () => {
  const names = readdirSync('vectors/calls/valid')
  expect(names.length).toBeGreaterThan(0)
  for (const name of names) {
    const { bundle } = read(`calls/valid/${name.replace('.json', '')}`)
    expect(inspectContent(bundle).kind, name).toBe('call as evidence')
  }
  const { bundle } = read('calls/valid/revert')
  const { fields } = inspectContent({ ...bundle, call: { ...bundle.call, value: '0x10' } })
  expect(fields).toMatchObject({ chainId: 1337n, call: { value: 16n, gas: 50_000_000n }, l1: { proof: { nonce: 1n } } })
  expect(inspectContent({ operation: 'verifyCode', code: '0x', expected: 7 })).toEqual({
    kind: 'evidence vector',
    fields: { operation: 'verifyCode', code: '0x', expected: '7' },
  })
})

it('says in its place what cannot be decoded, and goes on', () => {
  const [slot] = answer.storageProofs
  const { proof } = answer.accountProof
  const lifted = `0x${'ff'.repeat(192)}`
  const broken = {
    accountProof: { ...answer.accountProof, proof: { ...proof, value: lifted }, leafIndex: -1 },
    storageProofs: [{ ...slot, leafIndex: '1', proof: { ...slot.proof, value: '0x00' } }, 'x', null],
  }
  expect(inspectContent(broken).fields).toMatchObject({
    accountProof: {
      claims: 'existence',
      leafIndex: expect.stringMatching(/^malformed \(INDEX_OUT_OF_RANGE: expected .*\): -1$/),
      proof: {
        value: expect.stringMatching(/^malformed \(NON_CANONICAL: .*\): 0xf{64}\.\.\. \(386 characters\)$/),
        scheme: 'poseidon2',
        proofRelatedNodes: 'an array of 42',
      },
    },
    storageProofs: {
      '[0]': {
        leafIndex: expect.stringMatching(/^malformed \(MALFORMED_RESPONSE: .*\): 1$/),
        proof: { value: '0x00' },
      },
      '[1]': 'x',
      '[2]': null,
    },
  })
  const { fields } = inspectContent({ ...evidence.bundle, rollup: 7, request: null, l1: { header: '0x00' } })
  expect(fields).toMatchObject({ rollup: '7', l1: { header: expect.stringMatching(/^malformed \(.*\): 0x00$/) } })
  const nodes = proof.proofRelatedNodes.with(41, '0x')
  const ofNoScheme = { ...answer.accountProof, proof: { ...proof, proofRelatedNodes: nodes } }
  expect(inspectContent({ accountProof: ofNoScheme, storageProofs: [] }).fields).not.toHaveProperty(
    'accountProof.proof.scheme',
  )
})

it('counts null as missing in the parts of a bundle', () => {
  const { fields } = inspectContent({
    ...evidence.bundle,
    consensus: null,
    l1: { header: null, proof: null },
  })
  expect(fields).toMatchObject({ l1: {} })
  expect(fields).not.toHaveProperty('consensus')
})

it('lists some items, and counts the others', () => {
  const many = Array.from({ length: 1005 }, () => null)
  const { fields } = inspectContent({ ...answer, storageProofs: many })
  const { storageProofs } = fields
  expect(fields).toMatchObject({ storageProofs: { '[999]': null, more: 5 } })
  expect(Object.keys(storageProofs ?? {})).toHaveLength(1001)
  const keys = inspectContent({ ...contract, storageKeys: many }).fields
  expect(keys).toMatchObject({ storageKeys: { '[999]': null, more: 5 } })
})

it('passes on no part of a file whole', () => {
  let deep: unknown = 1
  for (let depth = 0; depth < 50_000; depth++) deep = [deep]
  const hostile = [
    { jsonrpc: deep, error: { code: deep, message: deep, data: deep } },
    {
      ...evidence.bundle,
      version: deep,
      rollup: { name: deep },
      request: { storageKeys: deep },
      answer: deep,
      l1: deep,
    },
    { ...evidence.bundle, consensus: { bootstrap: deep, updates: [deep, { data: deep }], finality: { data: {} } } },
    {
      scheme: deep,
      answer: { accountProof: { proof: { value: deep, proofRelatedNodes: deep } }, storageProofs: deep },
    },
    {
      format: 'rollup-state-proof/evidence',
      version: 1,
      kind: 'call',
      call: deep,
      answers: [deep, { answer: deep }],
      environment: deep,
      codes: deep,
    },
  ]
  const depthOf = (field: UnverifiedField): number =>
    typeof field === 'object' && field !== null ? 1 + Math.max(0, ...Object.values(field).map(depthOf)) : 0
  for (const content of hostile) expect(depthOf(inspectContent(content).fields)).toBeLessThanOrEqual(MAX_SHOWN_DEPTH)
})

it('names no leaf of a tree of messages', () => {
  const messageProof = { root: '0x1', leafIndex: 0, proof: ['0x2'] }
  const content = { format: 'rollup-state-proof/evidence', version: 1, kind: 'message', messageProof }
  const { fields } = inspectContent(content)
  expect(fields['messageProof']).toEqual({ root: '0x1', leafIndex: '0', proof: { '[0]': '0x2' } })
  expect(inspectContent({ ...content, messageProof: [7] }).fields['messageProof']).toEqual({ '[0]': '7' })
})

it('shows what a message moves as an amount', () => {
  const message = { from: '0x1', fee: '0xa', value: '0x10', number: '0x2' }
  const content = { format: 'rollup-state-proof/evidence', version: 1, kind: 'message', message }
  expect(inspectContent(content).fields['message']).toEqual({ from: '0x1', fee: 10n, value: 16n, number: 2n })
  expect(inspectContent({ ...content, message: '0x10' }).fields['message']).toBe('0x10')
  expect(inspectContent({ ...content, message: { fee: '0xa' } }).fields['message']).toEqual({ fee: 10n })
})

it('refuses what is no object, and an unknown kind of file', () => {
  for (const content of [null, 'x', 7, [answer]])
    expect(() => inspectContent(content)).toThrow('it is not a JSON object')
  expect(() => inspectContent({ a: 1 })).toThrow(DocumentError)
  expect(() => inspectContent({ scheme: 'mimc' })).toThrow('neither an answer nor a result')
})
