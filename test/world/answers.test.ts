import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { bytesToHex, type Hex, hexToBytes } from '../../src/bytes.ts'
import { mimc } from '../../src/scheme/mimc.ts'
import { poseidon2 } from '../../src/scheme/poseidon2.ts'
import { createWorld } from '../../src/world.ts'
import { ALICE, BOB, proofsIn, schemes, word, worldWithAlice, ZERO } from './worlds.ts'

describe.each(schemes)('$name', scheme => {
  it('serves no storage proofs for an account without storage, else one per key', () => {
    const world = worldWithAlice(scheme)
    expect(world.getProof(ALICE, [word(1), word(2)]).storageProofs).toEqual([])
    expect(world.getProof(BOB, [word(1)]).storageProofs).toEqual([])
    world.setStorage(ALICE, { key: word(1), value: word(1) })
    const { storageProofs } = world.getProof(ALICE, [word(2), word(1), word(2)])
    expect(storageProofs.map(proof => proof?.key)).toEqual([word(2), word(1), word(2)])
    expect(storageProofs.map(proof => proof !== null && 'proof' in proof)).toEqual([false, true, false])
  })

  it('accepts hexadecimal of either case and answers in lower case', () => {
    const world = worldWithAlice(scheme)
    const upper = (x: Hex): Hex => `0x${x.slice(2).toUpperCase()}`
    world.setStorage(upper(ALICE), { key: upper(word(0xabc)), value: upper(word(0xdef)) })
    expect(world.getStorage(ALICE, word(0xabc))).toBe(word(0xdef))
    const { accountProof, storageProofs } = world.getProof(upper(ALICE), [upper(word(0xabc))])
    expect([accountProof.key, storageProofs[0]?.key]).toEqual([ALICE, word(0xabc)])
  })

  it('serves nodes of the lengths in the tree format, and zeros for a missing sibling leaf', () => {
    const [wordLength, opening] = scheme.name === 'mimc' ? [32, 128] : [64, 192]
    const { accountProof } = worldWithAlice(scheme).getProof(ALICE)
    const nodes = proofsIn(accountProof)[0]?.proof.proofRelatedNodes ?? []
    const lengths = nodes.map(node => node.length / 2 - 1)
    // Leaf 2 has no sibling leaf. HEAD and TAIL lie under the next sibling. All siblings further up are empty.
    expect(lengths).toEqual([wordLength + 32, ...new Array(39).fill(64), 32, opening])
    expect(nodes[40]).toBe(ZERO)
    const missingPair = `${ZERO}${ZERO.slice(2)}`
    const emptyPair = bytesToHex(scheme.hasher.hash(hexToBytes(missingPair, 64))).slice(2)
    expect(nodes[38]).toBe(`0x${emptyPair}${emptyPair}`)
  })
})

it('agrees with the known answers of the trees', () => {
  const file = new URL('../../../shared/vectors/known-answers.json', import.meta.url)
  if (!existsSync(file)) {
    console.warn('skipped 2 known answers: ../shared/vectors is not there')
    return
  }
  const { mimcTree, poseidon2Tree } = JSON.parse(readFileSync(file, 'utf8'))
  expect(createWorld(mimc).stateRoot()).toBe(mimcTree.empty_root)
  const world = createWorld(poseidon2)
  expect(world.stateRoot()).toBe(poseidon2Tree.empty_root)
  const { accountProof } = world.getProof(ALICE)
  const [head, tail] = proofsIn(accountProof).map(({ proof }) => proof.proofRelatedNodes)
  expect(`0x${head?.[0]?.slice(-64)}`).toBe(poseidon2Tree.empty_sub_root)
  const digest = (opening: string | undefined) => bytesToHex(poseidon2.hasher.hash(hexToBytes(opening ?? '', 192)))
  expect(digest(head?.[41])).toBe(poseidon2Tree.head_after_init)
  expect(digest(tail?.[41])).toBe(poseidon2Tree.tail_after_init)
  expect([head?.[40], tail?.[40]]).toEqual([tail?.[41], head?.[41]])
})
