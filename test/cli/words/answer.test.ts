import { expect, it } from 'vitest'
import {
  addressIn,
  formOf,
  guessKind,
  guessScheme,
  isEthAnswer,
  kindNamed,
  leafProofAt,
  resultIn,
  schemeNamed,
  storageKeysIn,
  storageProofsIn,
} from '../../../src/cli/words/answer.ts'
import { mimc } from '../../../src/entry/mimc.ts'
import { poseidon2 } from '../../../src/entry/poseidon2.ts'
import { answer, claim, read, withInherited } from './files.ts'

it('unwraps an answer as the verifier does', () => {
  expect(resultIn({ jsonrpc: '2.0', result: null, accountProof: {} })).toEqual({})
  expect(resultIn({ result: null, accountProof: 1 })).toEqual({ result: null, accountProof: 1 })
  expect(resultIn({ result: { accountProof: 1 }, accountProof: 2 })).toEqual({ accountProof: 1 })
  for (const shape of [null, 'x', 7, [answer], undefined]) expect(resultIn(shape)).toEqual({})
})

it('reads own properties only', () => {
  withInherited(['jsonrpc', 'result', 'leafIndex', 'storageProofs', 'accountProof', 'key'], () => {
    expect(formOf({})).toBe('neither')
    expect(Reflect.get(resultIn(answer), 'jsonrpc')).toBeUndefined()
    expect(leafProofAt({}, 0)).toBeUndefined()
    expect(addressIn({ accountProof: {} })).toBeUndefined()
  })
})

it('finds leaf proofs by their index, and nothing where there is none', () => {
  expect(leafProofAt(answer, 0)).toBe(answer.accountProof)
  expect(leafProofAt({ jsonrpc: '2.0', result: answer }, 2)).toBe(answer.storageProofs[1])
  expect(leafProofAt(answer, 6)).toBeUndefined()
  expect(storageProofsIn({ storageProofs: { length: 3 } })).toEqual([])
})

it('names the schemes', () => {
  expect([schemeNamed('mimc'), schemeNamed('poseidon2')]).toEqual([mimc, poseidon2])
  for (const name of ['Mimc', '', undefined, null, { name: 'mimc' }]) expect(schemeNamed(name)).toBeUndefined()
})

it('tells the schemes and the forms of leaf proofs apart', () => {
  expect(guessScheme(leafProofAt(answer, 0))).toBe(poseidon2)
  expect(guessScheme(leafProofAt(read('mimc/valid/absent-account-between').answer, 0))).toBe(mimc)
  expect(guessScheme({ proof: { proofRelatedNodes: [] } })).toBeUndefined()
  const leafOf = (characters: number) => ({ proof: { proofRelatedNodes: { ...[], 41: 'x'.repeat(characters) } } })
  expect(guessScheme(leafOf(258))).toBeUndefined()
  const nodes = Array.from({ length: 42 }, () => 'x'.repeat(258))
  expect(guessScheme({ proof: null, leftProof: { proofRelatedNodes: nodes } })).toBe(mimc)
  expect(guessScheme({ proof: { proofRelatedNodes: nodes.with(41, 'x'.repeat(257)) } })).toBeUndefined()
})

it('reads what an eth_getProof answer names, in quantities or 32 bytes', () => {
  const [address, key] = [`0x${'aa'.repeat(20)}`, `0x${'00'.repeat(31)}07`]
  const slots = (...keys: unknown[]) => ({ address, accountProof: [], storageProof: keys.map(key => ({ key })) })
  for (const named of [slots('0x7', key), { jsonrpc: '2.0', result: slots('0x7', key) }]) {
    expect(isEthAnswer(named)).toBe(true)
    expect(guessKind(named)?.name).toBe('ethereum')
    expect(addressIn(named)).toBe(address)
    expect(storageKeysIn(named)).toEqual([key, key])
  }
  for (const wrong of [7, null, '7', '0x', `0x${'0'.repeat(65)}`]) expect(storageKeysIn(slots('0x7', wrong))).toBe(1)
  expect(storageKeysIn({ accountProof: [], storageProof: [null] })).toBe(0)
  expect(addressIn({ accountProof: [], address: 7 })).toBeUndefined()
  expect([isEthAnswer(answer), guessKind(answer)?.scheme, guessKind({})]).toEqual([false, poseidon2, undefined])
  expect([kindNamed('ethereum'), kindNamed('mimc'), kindNamed('keccak')].map(kind => kind?.scheme)).toEqual([
    'ethereum',
    mimc,
    undefined,
  ])
})

it.each([
  [{ leafIndex: 0 }, 'existence'],
  [{ proof: {} }, 'existence'],
  [{ rightProof: {} }, 'non-existence'],
  [{ leftLeafIndex: 0 }, 'non-existence'],
  [{ rightLeafIndex: false }, 'non-existence'],
  [{ leafIndex: 0, leftProof: {} }, 'both'],
  [{ leafIndex: null, leftProof: null }, 'neither'],
  [null, 'neither'],
  [[{ leafIndex: 0 }], 'neither'],
])('%j claims %s', (leafProof, form) => {
  expect(formOf(leafProof)).toBe(form)
})

it('takes the address and the storage keys that an answer names, if they are hexadecimal of their length', () => {
  expect(addressIn(answer)).toBe(claim.address)
  expect(storageKeysIn(answer)).toEqual(claim.storageKeys)
  const withAddress = (key: unknown) => ({ ...answer, accountProof: { ...answer.accountProof, key } })
  for (const key of [`${claim.address}00`, claim.address.slice(2), 7, null, [claim.address]]) {
    expect(addressIn(withAddress(key))).toBeUndefined()
  }
  const [first] = answer.storageProofs
  for (const other of [null, [], { ...first, key: claim.address }, { ...first, key: 'x' }]) {
    expect(storageKeysIn({ ...answer, storageProofs: [first, first, other, null] })).toBe(2)
  }
  expect(storageKeysIn({ ...answer, storageProofs: [] })).toEqual([])
})
