import { describe, expect, it } from 'vitest'
import { bytesToHex, type Hex, hexToBytes } from '../../../src/base/bytes.ts'
import { createWorld } from '../../../src/devnet/index.ts'
import { mimc } from '../../../src/verify/scheme/mimc.ts'
import { poseidon2 } from '../../../src/verify/scheme/poseidon2.ts'
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

/** As Consensys/linea-monorepo has it in prover/crypto/state-management/accumulator: testvectors_{mimc,poseidon2}_test.go. */
const PUBLISHED = {
  mimc: {
    root: '0x07977874126658098c066972282d4c85f230520af3847e297fe7524f976873e5',
    subRoot: '0x0951bfcd4ac808d195af8247140b906a4379b3f2d37ec66e34d2f4a5d35fa166',
    head: '0x0891fa77c3d0c9b745840d71d41dcb58b638d4734bb4f0bba4a3d1a2d847b672',
    tail: '0x10ba2286f648a549b50ea5f1b6e1155d22c31eb4727c241e76c420200cd5dbe0',
  },
  poseidon2: {
    root: '0x2fa0344a2fab2b310d2af3155c330261263f887379aef18b4941e3ea1cc59df7',
    subRoot: '0x3a00a8e34a16f8a1225fee734816edb326f783bd6678d793345a28f046586ba6',
    head: '0x2f5de7ad279a134761de0d89702e52743b2f04f41b86cc5400dfae1d4b981340',
    tail: '0x5c73480b5e85fc2c3ab61fc155cf475b74590d005d8916b85fdd5c32773b1255',
  },
} as const

it.each([mimc, poseidon2])('agrees with the published answers of an empty tree: $name', scheme => {
  const { root, subRoot, head: headDigest, tail: tailDigest } = PUBLISHED[scheme.name]
  const world = createWorld(scheme)
  expect(world.stateRoot()).toBe(root)
  const { accountProof } = world.getProof(ALICE)
  const [head, tail] = proofsIn(accountProof).map(({ proof }) => proof.proofRelatedNodes)
  expect(`0x${head?.[0]?.slice(-64)}`).toBe(subRoot)
  const digest = (opening = '0x') => bytesToHex(scheme.hasher.hash(hexToBytes(opening, opening.length / 2 - 1)))
  expect([digest(head?.[41]), digest(tail?.[41])]).toEqual([headDigest, tailDigest])
  expect([head?.[40], tail?.[40]]).toEqual([tail?.[41], head?.[41]])
})
