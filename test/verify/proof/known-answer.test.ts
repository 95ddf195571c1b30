import { expect, it } from 'vitest'
import { unwrapResponse } from '../../../src/verify/proof/known-answer.ts'

it.each<[name: string, answer: unknown, opened: { result: unknown; error: unknown }]>([
  ['an answer', { accountProof: 1 }, { result: { accountProof: 1 }, error: undefined }],
  ['the result of a response', { jsonrpc: '2.0', result: 7 }, { result: 7, error: undefined }],
  ['a result without a version', { result: 7 }, { result: 7, error: undefined }],
  ['a response without a result', { jsonrpc: '2.0', error: null }, { result: undefined, error: undefined }],
  ['an error', { jsonrpc: '2.0', error: { code: 1 } }, { result: undefined, error: { code: 1 } }],
  ['an error beside a result', { result: 7, error: 'no' }, { result: undefined, error: 'no' }],
  ['a response inside the result once', { result: { result: 7 } }, { result: { result: 7 }, error: undefined }],
  ['text', 'x', { result: 'x', error: undefined }],
  ['null', null, { result: null, error: undefined }],
  ['inherited fields', Object.create({ result: 7 }), { result: {}, error: undefined }],
])('opens %s', (_, answer, opened) => expect(unwrapResponse(answer)).toEqual(opened))
