import { expect, it } from 'vitest'
import { createWorld } from '../../../src/devnet/index.ts'
import { type Claim, type Hex, safely, verifyProof } from '../../../src/entry/index.ts'
import { mimc } from '../../../src/entry/mimc.ts'
import { poseidon2 } from '../../../src/entry/poseidon2.ts'
import { hashAccountKey } from '../../../src/verify/verifier/leaf-api.ts'
import type { LooseAnswer } from '../../../vectors/forge.ts'
import { addressFor, keyFor, wordFor } from '../../../vectors/vector.ts'

// The details of a refusal beside its code: the path, the expected value and the value found.

const address = addressFor('contract')
const storageKeys = [keyFor(1), keyFor(2)]
const world = createWorld(mimc)
world.setAccount(address, { balance: 5n })
world.setStorage(address, { key: keyFor(1), value: wordFor(1) })
const claim = { scheme: mimc, stateRoot: world.stateRoot(), address, storageKeys } satisfies Claim

/** The message of the refusal of a forged answer: `CODE at path: expected this, found that`. */
function refusal(change: (answer: LooseAnswer) => unknown, asked: Partial<Claim> = {}): string {
  const { address, storageKeys, ...trusted } = { ...claim, ...asked }
  const answer = structuredClone(world.getProof(address, storageKeys)) as unknown as LooseAnswer
  change(answer)
  const outcome = safely(() => verifyProof(answer, { ...trusted, address, storageKeys }))
  return outcome.ok ? 'accepted' : outcome.error.message
}

const absent = { address: addressFor('nobody'), storageKeys: [] }

it('accepts the true answers', () => {
  expect(refusal(() => {})).toBe('accepted')
  expect(refusal(() => {}, absent)).toBe('accepted')
})

it('reports the numbers of storage proofs and nodes', () => {
  expect(refusal(({ storageProofs }) => storageProofs.pop())).toBe(
    'STORAGE_PROOF_MISSING at storageProofs: expected 2 for 2 requested keys, found 1',
  )
  expect(refusal(({ storageProofs }) => storageProofs.push(null as never))).toBe(
    'STORAGE_PROOF_UNEXPECTED at storageProofs: expected 2 for 2 requested keys, found 3',
  )
  expect(refusal(({ accountProof }) => accountProof.proof.proofRelatedNodes.pop())).toBe(
    'WRONG_NODE_COUNT at accountProof.proof.proofRelatedNodes: expected 42 nodes, found 41',
  )
})

it('reports a wrong form of leaf proof', () => {
  const { accountProof } = world.getProof(address)
  const proof = 'proof' in accountProof ? accountProof.proof : undefined
  const forms: [fields: object, said: string][] = [
    [{}, ': found neither form of a leaf proof'],
    [{ proof: null, leftProof: null }, ': found neither form of a leaf proof'],
    [{ leafIndex: 2, leftLeafIndex: 0 }, ': found both forms of a leaf proof'],
    [{ proof, rightProof: proof }, ': found both forms of a leaf proof'],
    [{ leafIndex: 2 }, '.proof: expected an object, found nothing'],
    [{ proof }, '.leafIndex: expected a number, found nothing'],
    [{ rightProof: proof }, '.leftLeafIndex: expected a number, found nothing'],
    [{ leftLeafIndex: 0 }, '.leftProof: expected an object, found nothing'],
  ]
  for (const [fields, said] of forms) {
    expect(refusal(answer => Object.assign(answer, { accountProof: { key: address, ...fields } }))).toBe(
      `MALFORMED_RESPONSE at accountProof${said}`,
    )
  }
})

it('reports a missing sibling leaf that is not zero', () => {
  expect(refusal(({ accountProof }) => Object.assign(accountProof.proof.proofRelatedNodes, { 40: wordFor(1) }))).toBe(
    'WRONG_LENGTH at accountProof.proof.proofRelatedNodes[40]: expected a leaf opening, found 32 bytes not zero',
  )
})

it('reports a leaf index that is not below nextFreeNode', () => {
  for (const leafIndex of [3, 2 ** 40 - 1]) {
    expect(refusal(({ accountProof }) => Object.assign(accountProof, { leafIndex }))).toBe(
      `INDEX_OUT_OF_RANGE at accountProof.leafIndex: expected below nextFreeNode 3, found ${leafIndex}`,
    )
  }
})

it('reports the length and value of a sentinel that is not 32 zero bytes', () => {
  const withLeft = (value: Hex) =>
    refusal(({ accountProof }) => Object.assign(Object(accountProof).leftProof, { value }), absent)
  const empty = createWorld(mimc)
  const answer = (value: string) => {
    const forged = structuredClone(empty.getProof(address)) as unknown as { accountProof: { leftProof: object } }
    Object.assign(forged.accountProof.leftProof, { value })
    const outcome = safely(() => verifyProof(forged, { ...claim, stateRoot: empty.stateRoot(), storageKeys: [] }))
    return outcome.ok ? 'accepted' : outcome.error.message
  }
  const place = 'accountProof.leftProof.value'
  expect(answer(wordFor(0))).toBe('accepted')
  expect(answer(`0x${'00'.repeat(192)}`)).toBe(`WRONG_LENGTH at ${place}: expected 32 bytes, found 192 bytes`)
  expect(withLeft('0x00')).toBe(`WRONG_LENGTH at ${place}: expected 192 or 32 bytes, found 1 byte`)
  // It is not reduced in the field of mimc, but the place holds no digest. It is refused because it is not zero.
  const ones = `0x${'ff'.repeat(32)}`
  expect(answer(ones)).toBe(`VALUE_MISMATCH at ${place}: expected ${wordFor(0)}, found ${ones}`)
})

it('reports the differing values', () => {
  const other = addressFor('other')
  expect(refusal(({ accountProof }) => Object.assign(accountProof, { key: other }))).toBe(
    `KEY_MISMATCH at accountProof.key: expected ${address}, found ${other}`,
  )
  expect(refusal(({ accountProof }) => Object.assign(accountProof, { leafIndex: 0 }))).toBe(
    'SENTINEL_MISPLACED at accountProof.proof: found the key of neither HEAD nor TAIL at index 0',
  )
})

it('reports the pointer that does not lead to the neighbour', () => {
  // Two leaves that are not neighbours: the left one of one absent key and the right one of another.
  const crowd = createWorld(mimc)
  for (let index = 0; index < 6; index++) crowd.setAccount(addressFor(`account ${index}`))
  const names = Array.from({ length: 40 }, (_, index) => addressFor(`absent ${index}`))
  const proofs = names.map(name => Object(crowd.getProof(name).accountProof))
  const first = proofs[0]
  const elsewhere = proofs.find(proof => proof.rightLeafIndex !== first.rightLeafIndex)
  const { leftLeafIndex: left, rightLeafIndex: right } = first
  const forged = { ...first, rightLeafIndex: elsewhere.rightLeafIndex, rightProof: elsewhere.rightProof }
  const asked = { scheme: mimc, stateRoot: crowd.stateRoot(), address: first.key }
  const outcome = safely(() => verifyProof({ accountProof: forged, storageProofs: [] }, asked))
  expect(outcome.ok ? 'accepted' : outcome.error.message).toBe(
    `NOT_ADJACENT at accountProof: expected left.next = ${elsewhere.rightLeafIndex}, found ${right}`,
  )
  expect(left).not.toBe(right)
})

it('expects no storage if the claim names no keys', () => {
  for (const scheme of [mimc, poseidon2]) {
    const state = createWorld(scheme)
    state.setAccount(address)
    const outcome = safely(() =>
      verifyProof(state.getProof(address), { scheme, stateRoot: state.stateRoot(), address }),
    )
    expect(outcome).toMatchObject({ ok: true, value: { storage: [] } })
  }
})

it('names the neighbour beyond which a key hash lies, and the side', () => {
  const crowd = createWorld(mimc)
  for (let index = 0; index < 6; index++) crowd.setAccount(addressFor(`account ${index}`))
  const stateRoot = crowd.stateRoot()
  const names = Array.from({ length: 40 }, (_, index) => addressFor(`absent ${index}`))
  const [first, ...others] = names.map(name => Object(crowd.getProof(name).accountProof))
  // Of the opening, 32 bytes after the two pointers.
  const keyHashIn = (proof: { proofRelatedNodes: string[] }) => `0x${proof.proofRelatedNodes.at(-1)?.slice(130, 194)}`
  const [above, below] = [keyHashIn(first.leftProof), keyHashIn(first.rightProof)]
  const sides = { above: 0, below: 0 }
  for (const { key } of others.filter(({ leftLeafIndex }) => leftLeafIndex !== first.leftLeafIndex)) {
    const found = hashAccountKey(mimc, key)
    const side = found > below ? 'below' : 'above'
    const outcome = safely(() =>
      verifyProof({ accountProof: { ...first, key }, storageProofs: [] }, { scheme: mimc, stateRoot, address: key }),
    )
    const expected = side === 'below' ? below : above
    expect(outcome.ok ? 'accepted' : outcome.error.message).toBe(
      `KEY_NOT_BETWEEN at accountProof: expected ${side} ${expected}, found ${found}`,
    )
    sides[side]++
  }
  expect(Math.min(...Object.values(sides))).toBeGreaterThan(2)
})

it('says of what kind a wrong argument is, and how long, never what it holds', () => {
  const cases: [unknown, string][] = [
    ['0x', '0 bytes'],
    [`0x${'aB'.repeat(31)}`, '31 bytes'],
    [`0x${'ab'.repeat(33)}`, '33 bytes'],
    ['0xabc', 'a string of 5 characters'],
    [`0x${'ab'.repeat(31)}zz`, 'a string of 66 characters'],
    [`x0x${'ab'.repeat(31)}a`, 'a string of 66 characters'],
    ['z0xab', 'a string of 5 characters'],
    ['secret', 'a string of 6 characters'],
    [`0x${'ab'.repeat(2 ** 24)}`, `${2 ** 24} bytes`],
    [`0x${'ab'.repeat(2 ** 24)}z`, `a string of ${2 ** 25 + 3} characters`],
    [7, 'the number 7'],
    [null, 'nothing'],
    [undefined, 'nothing'],
    [[], 'an array'],
    [{}, 'an object'],
  ]
  for (const [stateRoot, found] of cases) {
    const outcome = safely(() => verifyProof({}, { ...claim, stateRoot: stateRoot as Hex }))
    expect(outcome.ok ? 'accepted' : outcome.error.message).toBe(
      `ARGUMENT_INVALID at stateRoot: expected 0x-prefixed hexadecimal of 32 bytes, found ${found}`,
    )
  }
})

it('says what stands where there should be another proof, or none', () => {
  const storage = (proofs: unknown[]) => (forged: LooseAnswer) => Object.assign(forged, { storageProofs: proofs })
  expect(refusal(storage([null, null]))).toBe('STORAGE_PROOF_MISSING at storageProofs[0]: found nothing')
  const [slot] = world.getProof(address, storageKeys).storageProofs
  expect(refusal(storage([slot]), { ...absent, storageKeys: [keyFor(1)] })).toBe(
    'STORAGE_PROOF_UNEXPECTED at storageProofs[0]: found a proof',
  )
  const ethProof = { accountProof: ['0x'], storageProof: [] }
  const outcome = safely(() => verifyProof(ethProof, claim))
  expect(outcome.ok ? 'accepted' : outcome.error.message).toBe(
    'FOREIGN_PROOF: expected linea_getProof, found eth_getProof',
  )
  const bundled = safely(() => verifyProof({ version: 1, answer: world.getProof(address, storageKeys) }, claim))
  expect(bundled.ok ? 'accepted' : bundled.error.message).toBe(
    'MALFORMED_RESPONSE: expected an answer, found a bundle: use verifyEvidence',
  )
})

it('reads an answer in an envelope, and not beside one', () => {
  const answer = world.getProof(address, storageKeys)
  for (const whole of [answer, { result: answer }, { jsonrpc: '2.0', id: 1, result: answer }]) {
    expect(safely(() => verifyProof(whole, claim)).ok).toBe(true)
  }
  for (const whole of [
    { jsonrpc: '2.0', ...answer },
    { jsonrpc: '2.0', result: null, ...answer },
  ]) {
    const outcome = safely(() => verifyProof(whole, claim))
    expect(outcome.ok ? 'accepted' : outcome.error.code).toBe('MALFORMED_RESPONSE')
  }
})
