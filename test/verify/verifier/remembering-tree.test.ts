import { describe, expect, it, vi } from 'vitest'
import { createWorld } from '../../../src/devnet/index.ts'
import { createVerifier, type Hex, safely, verifyProof } from '../../../src/entry/index.ts'
import { mimc } from '../../../src/verify/scheme/mimc.ts'
import { poseidon2 } from '../../../src/verify/scheme/poseidon2.ts'
import { createScheme } from '../../../src/verify/scheme/scheme.ts'
import { rememberLast } from '../../../src/verify/verifier/shared-nodes.ts'
import { addressFor } from '../../../vectors/vector.ts'

it('remembers the whole last text of each node', () => {
  const decode = vi.fn((hex: string, node: number) => [hex, node])
  const remembering = rememberLast(decode)
  const countOf = (hex: string, node: number) => {
    decode.mockClear()
    expect(remembering(hex, node)).toEqual([hex, node])
    return decode.mock.calls.length
  }
  expect(countOf('0xaa', 1)).toBe(1)
  expect([countOf('0xaa', 1), countOf('0xab', 1), countOf('0xab', 2)]).toEqual([0, 1, 1])
  expect([countOf('0xab', 1), countOf('0xabcd', 1), countOf('0xab', 1)]).toEqual([0, 1, 1])
  expect(countOf('0xab', 2)).toBe(0)
  expect(remembering('0xaa', 41)).toBe(remembering('0xaa', 41))
})

it('remembers nothing that was refused', () => {
  const decode = vi.fn((): never => {
    throw new Error('refused')
  })
  const remembering = rememberLast(decode)
  for (const _ of [1, 2]) expect(() => remembering('0xaa', 0)).toThrow('refused')
  expect(decode).toHaveBeenCalledTimes(2)
})

describe.each([mimc, poseidon2])('$name', scheme => {
  const address = addressFor('account 5')
  const world = createWorld(scheme)
  for (let index = 0; index < 9; index++) world.setAccount(addressFor(`account ${index}`), { balance: 3n })
  const claim = { stateRoot: world.stateRoot(), address }
  const answer = world.getProof(address)
  if (!('proof' in answer.accountProof)) throw new Error('the account exists')
  const { accountProof } = answer
  const nodes = accountProof.proof.proofRelatedNodes

  it('does not accept a remembered node in another place', () => {
    const verifier = createVerifier(scheme)
    const outcomeOf = (proofRelatedNodes: Hex[]) => {
      const proof = { ...accountProof.proof, proofRelatedNodes }
      const forged = { accountProof: { ...accountProof, proof }, storageProofs: [] }
      const outcomes = [
        safely(() => verifier.verifyProof(forged, claim)),
        safely(() => verifyProof(forged, { ...claim, scheme })),
      ]
      const [found, expected] = outcomes.map(outcome => (outcome.ok ? 'accepted' : outcome.error.message))
      expect(found).toBe(expected)
      return found
    }
    expect(outcomeOf(nodes)).toBe('accepted')
    for (const inner of [nodes[5], nodes[39]]) {
      for (const node of [0, 40, 41]) expect(outcomeOf(nodes.with(node, inner ?? '0x'))).not.toBe('accepted')
    }
    expect(outcomeOf(nodes)).toBe('accepted')
  })

  it('does not decode or hash the same answer again', () => {
    const { hasher } = scheme
    const [hash, hashBatch, foldPath] = [vi.fn(hasher.hash), vi.fn(hasher.hashBatch), vi.fn(hasher.foldPath)]
    const isCanonical = vi.fn(scheme.isCanonical)
    const counting = createScheme({ ...scheme, hasher: { hash, hashBatch, foldPath }, isCanonical })
    const verifier = createVerifier(counting)
    const truth = verifyProof(answer, { ...claim, scheme })
    expect(verifier.verifyProof(structuredClone(answer), claim)).toEqual(truth)
    expect(isCanonical).toHaveBeenCalled()
    for (const spy of [hash, hashBatch, isCanonical]) spy.mockClear()
    expect(verifier.verifyProof(structuredClone(answer), claim)).toEqual(truth)
    expect(isCanonical).not.toHaveBeenCalled()
    // Only keys are hashed again. The preimage of an account is longer than a place, but found by identity.
    expect(hash.mock.calls.map(([message]) => message.length).filter(length => length > 40)).toEqual([])
    expect(hashBatch).not.toHaveBeenCalled()
    expect(foldPath).not.toHaveBeenCalled()
  })

  it('refuses a proof if the hasher returns too few digests', () => {
    const lazy = createScheme({ ...scheme, hasher: { ...scheme.hasher, hashBatch: () => [] } })
    const outcome = safely(() => verifyProof(answer, { ...claim, scheme: lazy }))
    expect(outcome).toMatchObject({ ok: false, error: { code: 'SUB_ROOT_MISMATCH' } })
  })
})
