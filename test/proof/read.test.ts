import { expect, it } from 'vitest'
import { poseidon2 } from '../../src/poseidon2.ts'
import { decodeAnswer, decodeLeafIndex } from '../../src/proof/decode.ts'
import { knownEmptyNodes } from '../../src/proof/known-nodes.ts'
import { asArray, asString, isArray, knownLength, lengthOf, readFields, readOwn } from '../../src/proof/read.ts'
import { contextsOf } from '../../src/proof/verify.ts'
import { createWorld } from '../../src/world.ts'
import { addressFor } from '../../vectors/vector.ts'
import { refusal } from '../refusal.ts'

const others: [value: unknown, found: string][] = [
  [undefined, 'nothing'],
  [null, 'nothing'],
  [[], 'an array'],
  ['', 'a string'],
  [0, 'a number'],
  [false, 'a boolean'],
  [1n, 'a bigint'],
  [Symbol('x'), 'a symbol'],
  [() => {}, 'a function'],
  [{}, 'a object'],
]

it.each<[string, (value: unknown) => unknown, string]>([
  ['an object', value => readFields(value, ['a']), 'a object'],
  ['an array', asArray, 'an array'],
  ['a string', asString, 'a string'],
  ['a number', decodeLeafIndex, 'a number'],
])('takes %s, and names what stands there instead', (expected, read, own) => {
  let refused = 0
  for (const [value, found] of others) {
    if (found === own) read(value)
    else {
      expect(refusal(() => read(value))).toMatchObject({ code: 'MALFORMED_RESPONSE', path: '', expected, found })
      refused++
    }
  }
  expect(refused).toBe(9)
})

it('says that an object cannot be read, whatever it was asked for', () => {
  const { proxy, revoke } = Proxy.revocable([], {})
  revoke()
  const reads = [
    () => isArray(proxy),
    () => asArray(proxy),
    () => lengthOf(proxy),
    () => readOwn(proxy, 0),
    () => readFields(proxy, []),
    () => asString(proxy),
  ]
  for (const read of reads) {
    expect(refusal(read)).toMatchObject({ code: 'MALFORMED_RESPONSE', found: 'an object that cannot be read' })
  }
})

it('refuses with the code of the document that is read', () => {
  const code = 'EVIDENCE_MALFORMED'
  const { proxy, revoke } = Proxy.revocable([], {})
  revoke()
  const reads = [
    ...[proxy, null, []].map(source => () => readFields(source, [], code)),
    ...[proxy, null].map(source => () => asArray(source, code)),
    ...[proxy, new Proxy([], { get: () => '0' })].map(source => () => lengthOf(source, code)),
    ...[proxy, null].map(source => () => asString(source, code)),
    () => readOwn(proxy, 0, code),
    () => isArray(proxy, code),
  ]
  for (const read of reads) expect(refusal(read).code).toBe(code)
  expect(reads.length).toBe(11)
})

it('reads the fields that it is asked for and no others', () => {
  const source = Object.assign(Object.create({ inherited: 4 }), { a: 1, b: null, c: 3 })
  expect(readFields(source, ['b', 'a', 'd', 'inherited'])).toEqual([null, 1, undefined, undefined])
})

it('takes the lengths that it knows', () => {
  expect([knownLength('0x', [0]), knownLength('0x1234', [1, 2])]).toEqual([0, 2])
  expect(refusal(() => knownLength('0x1234', [1, 3]))).toMatchObject({
    code: 'WRONG_LENGTH',
    expected: '1 or 3 bytes',
    found: '2 bytes',
  })
})

it('takes the indices of leaves, from the first to the last', () => {
  for (const index of [0, 1, 2 ** 32, 2 ** 40 - 1]) expect(decodeLeafIndex(index)).toBe(index)
  for (const index of [-1, 0.5, 2 ** 40, 2 ** 53, Number.NaN]) {
    expect(refusal(() => decodeLeafIndex(index))).toMatchObject({
      code: 'INDEX_OUT_OF_RANGE',
      expected: 'an integer from 0 to 2^40 - 1',
      found: `${index}`,
    })
  }
})

it('has a place for each key that was asked for, when an account has no storage', () => {
  const contexts = contextsOf(poseidon2, knownEmptyNodes(poseidon2))
  const answer = createWorld(poseidon2).getProof(addressFor('nobody'))
  expect(decodeAnswer(contexts, answer, 3).storageProofs).toEqual([null, null, null])
  expect(decodeAnswer(contexts, { ...answer, storageProofs: [null, null] }, 2).storageProofs).toEqual([null, null])
  expect(decodeAnswer(contexts, answer, 0).storageProofs).toEqual([])
})
