import { expect, it } from 'vitest'
import { type InputFile, readInputFile } from '../../../src/cli/words/input-file.ts'
import { parseJson } from '../../../src/cli/words/value.ts'
import { answer, claim, contract, evidence, withInherited } from './files.ts'

const ENVELOPE = { format: 'rollup-state-proof/evidence', version: 1 }
const headerVector = { operation: 'encodeHeader', block: {}, expected: { valid: false, code: 'x' } }

const files: readonly (readonly [name: string, content: unknown, kind: InputFile['kind']])[] = [
  ['a bare answer', answer, 'answer'],
  ['a response', { jsonrpc: '2.0', id: 1, result: answer }, 'JSON-RPC response'],
  ['a response without a version', { result: answer }, 'JSON-RPC response'],
  ['a response that states a scheme', { jsonrpc: '2.0', scheme: 'mimc', result: answer }, 'JSON-RPC response'],
  ['an error', { jsonrpc: '2.0', error: { code: 1 } }, 'JSON-RPC response'],
  ['an error without a version', { error: { code: 1 } }, 'JSON-RPC response'],
  ['a recording', { ...claim, result: answer }, 'recording'],
  ['a recording that says its version', { version: 1, ...claim, result: answer }, 'recording'],
  ['a vector', contract, 'vector'],
  ['a vector that also has a result', { ...contract, result: answer }, 'vector'],
  ['a bundle', evidence.bundle, 'evidence'],
  ['an evidence vector', evidence, 'evidence vector'],
  ['a call as evidence', { ...ENVELOPE, kind: 'call' }, 'evidence'],
  [
    'logs as evidence, damaged',
    { ...ENVELOPE, kind: 'logs', accountProof: {}, result: {}, scheme: 'mimc' },
    'evidence',
  ],
  ['what has fields of evidence, but does not say that it is some', { rollup: {}, request: {}, l1: {} }, 'unknown'],
  ['a header vector', headerVector, 'function vector'],
  ['a vector for an operation that is no name', { operation: null }, 'function vector'],
  ['an eth_getProof answer', { accountProof: [], storageProof: [] }, 'answer'],
  ['a bundle without a request', { ...evidence.bundle, request: undefined }, 'evidence'],
  ['something else', { a: 1 }, 'unknown'],
  ['nothing', {}, 'unknown'],
  ['a list', [answer], 'unknown'],
  ['a text', 'accountProof', 'unknown'],
  ['null', null, 'unknown'],
]
it.each(files)('recognizes %s by its fields', (_name, content, kind) => {
  const file = readInputFile(content)
  expect(file.kind).toBe(kind)
  expect('evidence' in file).toBe(kind.startsWith('evidence'))
})

it('refuses a recording of another version', () => {
  for (const version of [2, '1', null]) {
    const read = () => readInputFile({ version, ...claim, result: answer })
    expect(read).toThrow('it is not version 1')
  }
})

it('recognizes the same in a line of NDJSON', () => {
  const lines = files.filter(([name]) => !name.includes('without a request'))
  expect(lines.length).toBeGreaterThan(20)
  for (const [name, content, kind] of lines) {
    expect(readInputFile(parseJson(new TextEncoder().encode(JSON.stringify(content)))).kind, name).toBe(kind)
  }
})

it('takes what each kind states, and nothing from what an endpoint sent', () => {
  expect(readInputFile(contract)).toMatchObject({ stated: claim, answer, expected: contract.expected })
  expect(readInputFile({ ...claim, result: answer, expected: 7 })).toMatchObject({
    ...{ stated: claim, answer, expected: { valid: true } },
  })
  const response = { jsonrpc: '2.0', ...claim, description: 'x', result: answer, expected: { valid: true } }
  expect(readInputFile(response)).toEqual({
    ...{ kind: 'JSON-RPC response', stated: {}, answer: response, expected: undefined },
  })
  expect(readInputFile({ ...claim, scheme: 7, result: 8 })).toMatchObject({ stated: { scheme: 7 }, answer: 8 })
  expect(readInputFile(evidence)).toMatchObject({
    ...{ bundle: evidence.bundle, scheme: evidence.scheme, claim: evidence.claim },
  })
  expect(readInputFile(evidence.bundle)).toMatchObject({ bundle: evidence.bundle, evidence: 'state' })
  for (const kind of ['logs', 'message', 'call']) {
    expect(readInputFile({ ...evidence.bundle, kind })).toMatchObject({ kind: 'evidence', evidence: kind })
  }
  for (const kind of ['toString', 'x\u001b[2J', 7, undefined]) {
    expect(() => readInputFile({ ...evidence.bundle, kind })).toThrow(/^it is evidence of an unknown kind: [ -~]+$/)
  }
  expect(readInputFile(headerVector)).toMatchObject({ operation: 'encodeHeader', expected: headerVector.expected })
})

it('reads own properties only', () => {
  const names = ['jsonrpc', 'result', 'scheme', 'answer', 'stateRoot', 'operation', 'version', 'rollup', 'request']
  withInherited(names, () => {
    expect(readInputFile(answer)).toMatchObject({ kind: 'answer', answer, stated: {} })
    expect(readInputFile({})).toMatchObject({ kind: 'unknown' })
  })
})

it('refuses a file with a scheme but no answer', () => {
  expect(() => readInputFile({ scheme: 'mimc' })).toThrow('neither an answer nor a result')
})
