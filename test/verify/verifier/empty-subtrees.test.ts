import { describe, expect, it, vi } from 'vitest'
import { bytesToHex, concatBytes } from '../../../src/base/bytes.ts'
import { createWorld } from '../../../src/devnet/index.ts'
import { plainTree, plainTrees } from '../../../src/verify/proof/tree.ts'
import { mimc } from '../../../src/verify/scheme/mimc.ts'
import { poseidon2 } from '../../../src/verify/scheme/poseidon2.ts'
import type { HashScheme } from '../../../src/verify/scheme/scheme.ts'
import { accountTree } from '../../../src/verify/tree/kind.ts'
import {
  emptySubtreeDigests,
  emptySubtrees,
  knowSubtrees,
  quickTrees,
} from '../../../src/verify/verifier/empty-subtrees.ts'
import { safely } from '../../../src/verify/verifier/safe.ts'
import { addressFor } from '../../../vectors/vector.ts'
import { flipBitAt } from '../../answers.ts'
import { verifyWith } from '../../bench/subjects.ts'

describe.each([mimc, poseidon2])('$name', scheme => {
  const subtrees = emptySubtrees(scheme.hasher)
  const digests = emptySubtreeDigests(scheme.hasher)
  const digestAt = (height: number) => digests[height] ?? new Uint8Array()
  // From just below the sub-root down: nodes 1 to 39.
  const preimages = Array.from({ length: 39 }, (_, index) => concatBytes(digestAt(38 - index), digestAt(38 - index)))

  it('knows each empty subtree at its node', () => {
    expect([...subtrees.keys()].sort((a, b) => a - b)).toEqual(preimages.map((_, index) => index + 1))
    for (const [index, preimage] of preimages.entries()) {
      const digest = scheme.hasher.hash(preimage)
      expect(subtrees.get(index + 1)).toEqual({ hex: bytesToHex(preimage), preimage, digest })
    }
  })

  it('decodes like the plain tree, and neither more nor less', () => {
    const plain = plainTree(scheme, accountTree)
    const decodeInner = vi.fn(plain.decodeInner)
    const tree = knowSubtrees({ ...plain, decodeInner }, subtrees)
    for (const [index, preimage] of preimages.entries()) {
      const [node, hex] = [index + 1, bytesToHex(preimage)]
      decodeInner.mockClear()
      expect(tree.decodeInner(hex, node)).toEqual(preimage)
      expect(decodeInner).not.toHaveBeenCalled()
      // In other digits, at another node, one bit off.
      expect(tree.decodeInner(`0x${hex.slice(2).toUpperCase()}`, node)).toEqual(preimage)
      expect(tree.decodeInner(hex, node + 1)).toEqual(preimage)
      const flipped = flipBitAt(hex, 511)
      expect(tree.decodeInner(flipped, node)).toEqual(plain.decodeInner(flipped, node))
      expect(decodeInner).toHaveBeenCalledTimes(hex === hex.toLowerCase() && /[a-f]/.test(hex) ? 3 : 2)
      expect(() => tree.decodeInner(`${hex}00`, node)).toThrow('WRONG_LENGTH')
      expect(() => tree.decodeInner(`0x${'ff'.repeat(64)}`, node)).toThrow('NON_CANONICAL')
    }
  })

  it('hashes like the plain tree, whatever the order, and no empty subtree', () => {
    const hashBatch = vi.fn(scheme.hasher.hashBatch)
    const counting: HashScheme = Object.create(scheme, { hasher: { value: { ...scheme.hasher, hashBatch } } })
    const { hasher } = knowSubtrees(plainTree(counting, accountTree), subtrees).scheme
    const countOf = (messages: Uint8Array[]) => {
      hashBatch.mockClear()
      expect(hasher.hashBatch(messages).map(bytesToHex)).toEqual(
        messages.map(message => bytesToHex(scheme.hasher.hash(message))),
      )
      return hashBatch.mock.calls.map(([rest]) => rest.length)
    }
    const [other, same] = [new Uint8Array(64).fill(1), preimages.map(preimage => preimage.slice())]
    expect(countOf([])).toEqual([])
    for (const known of [preimages, same, same.toReversed(), [...same, ...same]]) expect(countOf(known)).toEqual([])
    expect(countOf(same.with(7, other))).toEqual([1])
    expect(countOf([other, ...same, other])).toEqual([2])
    // One bit off in each byte, so in the bytes that select an empty subtree and in those that do not.
    for (let byte = 0; byte < 64; byte++) {
      const near = same.map(preimage => preimage.with(byte, (preimage[byte] ?? 0) ^ 1))
      expect(countOf([...near, ...same])).toEqual([39])
    }
    expect(countOf([new Uint8Array(64)])).toEqual([])
    expect(countOf([new Uint8Array(32), new Uint8Array(32)])).toEqual([2])
  })

  it('refuses a true proof if it knows a wrong digest', () => {
    const world = createWorld(scheme)
    const address = addressFor('account 1')
    world.setAccount(address, { balance: 3n })
    const [answer, claim] = [world.getProof(address), { scheme, stateRoot: world.stateRoot(), address }]
    const verify = (known: typeof subtrees) => {
      const { account, storage } = plainTrees(scheme)
      return safely(() => verifyWith(() => ({ account: knowSubtrees(account, known), storage }), answer, claim))
    }
    expect(verify(subtrees)).toMatchObject({ ok: true, value: { account: { balance: 3n } } })
    expect(verify(new Map())).toMatchObject({ ok: true, value: { account: { balance: 3n } } })
    let refused = 0
    for (const [node, subtree] of subtrees) {
      // A state with one account has leaves 0 to 2: only its lowest inner sibling is not empty.
      if (node === 39) continue
      const wrong = { ...subtree, digest: subtree.digest.with(31, (subtree.digest[31] ?? 0) ^ 1) }
      const outcome = verify(new Map(subtrees).set(node, wrong))
      expect(outcome, `node ${node}`).toMatchObject({ ok: false, error: { code: 'SUB_ROOT_MISMATCH' } })
      refused++
    }
    expect(refused).toBe(38)
  })

  it('makes its trees once per scheme', () => {
    expect(quickTrees(scheme)).toBe(quickTrees(scheme))
    const hash = vi.fn(scheme.hasher.hash)
    const other: HashScheme = Object.create(scheme, { hasher: { value: { ...scheme.hasher, hash } } })
    expect(quickTrees(other)).not.toBe(quickTrees(scheme))
    expect(hash).toHaveBeenCalledTimes(40)
    quickTrees(other).account.scheme.hasher.hash(new Uint8Array(64))
    expect(hash).toHaveBeenCalledTimes(41)
  })
})
