import { describe, expect, it } from 'vitest'
import { bytesToHex, concatBytes, hexToBytes } from '../../../src/base/bytes.ts'
import { createWorld } from '../../../src/devnet/index.ts'
import type { Hex } from '../../../src/entry/index.ts'
import { decodeAnswer, decodeLeafIndex, decodeNodes } from '../../../src/verify/proof/decode.ts'
import { type Decode, plainTree, plainTrees } from '../../../src/verify/proof/tree.ts'
import { mimc } from '../../../src/verify/scheme/mimc.ts'
import { poseidon2 } from '../../../src/verify/scheme/poseidon2.ts'
import type { HashScheme } from '../../../src/verify/scheme/scheme.ts'
import { indexWord } from '../../../src/verify/tree/encode.ts'
import { accountTree } from '../../../src/verify/tree/kind.ts'
import { addressFor } from '../../../vectors/vector.ts'
import { refusal, verdict } from '../../refusal.ts'

const address = addressFor('account 5')

/** The nodes that prove the account at {@link address}, in a state with a few others. */
function provenNodes(scheme: HashScheme): Hex[] {
  const world = createWorld(scheme)
  for (let index = 0; index < 9; index++) world.setAccount(addressFor(`account ${index}`))
  const { accountProof } = world.getProof(address)
  if (!('proof' in accountProof)) throw new Error('the account exists')
  return accountProof.proof.proofRelatedNodes
}

const bytesOf = (hex: Hex) => hexToBytes(hex, hex.length / 2 - 1)

describe.each([mimc, poseidon2])('$name', scheme => {
  const nodes = provenNodes(scheme)
  const tree = plainTree(scheme, accountTree)
  const decode = (nodes: readonly unknown[]) => decodeNodes(tree, 5, nodes)
  const other = scheme === mimc ? poseidon2 : mimc

  it('ignores an unknown field, also one of the name that a bundle has', () => {
    const answer = createWorld(scheme).getProof(address)
    expect(decodeAnswer(plainTrees(scheme), { ...answer, answer }, 0).accountProof.claims).toBe('non-existence')
  })

  it('decodes each node in its place', () => {
    const { rootNode, inner, siblingLeaf, leafNode } = decode(nodes)
    const preimages = [rootNode.rootPreimage, ...inner, siblingLeaf?.opening, leafNode.opening]
    expect(preimages).toEqual(nodes.map(bytesOf))
    expect(inner.length).toBe(39)
    expect(rootNode).toMatchObject({ nextFreeNode: 11, subRoot: bytesOf(nodes[0] ?? '0x').slice(-32) })
    expect(leafNode.hKey).toEqual(accountTree.hashKey(scheme, hexToBytes(address, 20)))
  })

  it('decodes each node once, with its place', () => {
    const asked: [string, number][] = []
    const spying =
      <T>(decode: Decode<T>): Decode<T> =>
      (...one) => {
        asked.push(one)
        return decode(...one)
      }
    const { decodeRootNode, decodeInner, decodeSiblingLeaf, decodeLeafNode } = tree
    decodeNodes(
      {
        ...tree,
        decodeRootNode: spying(decodeRootNode),
        decodeInner: spying(decodeInner),
        decodeSiblingLeaf: spying(decodeSiblingLeaf),
        decodeLeafNode: spying(decodeLeafNode),
      },
      5,
      nodes,
    )
    expect(asked).toEqual([...nodes.entries()].map(([node, hex]) => [hex, node]))
  })

  it('reports which node it refuses', () => {
    const refused = (node: number, hex: unknown) => verdict(() => decode(nodes.with(node, hex as Hex)))
    for (const node of nodes.keys()) {
      const { length } = nodes[node] ?? ''
      expect(refused(node, `0x${'0g'.repeat(length / 2 - 1)}`)).toBe(`BAD_HEX at [${node}]`)
      expect(refused(node, '0x00')).toBe(`WRONG_LENGTH at [${node}]`)
      expect(refused(node, '00')).toBe(`BAD_HEX at [${node}]`)
      expect(refused(node, null)).toBe(`MALFORMED_RESPONSE at [${node}]`)
      expect(refused(node, `0x${'ff'.repeat(length / 2 - 1)}`)).toBe(`NON_CANONICAL at [${node}]`)
      if (node < 1 || node > 39) continue
      for (const half of [0, 1]) {
        const lifted = ['00', '00'].with(half, 'ff').map(byte => byte.repeat(32))
        expect(refused(node, `0x${lifted.join('')}`)).toBe(`NON_CANONICAL at [${node}]`)
      }
    }
  })

  it('accepts a nextFreeNode up to 2^40, that of a full tree', () => {
    const decodeFree = (nextFreeNode: number) => {
      const rootPreimage = concatBytes(indexWord(scheme, nextFreeNode), new Uint8Array(32))
      return decode(nodes.with(0, bytesToHex(rootPreimage))).rootNode.nextFreeNode
    }
    expect(decodeFree(2 ** 40)).toBe(2 ** 40)
    expect(() => decodeFree(2 ** 40 + 1)).toThrow('INDEX_OUT_OF_RANGE at [0]')
  })

  it('accepts only 32 zero bytes for a missing leaf', () => {
    const withSibling = (bytes: Uint8Array) => decode(nodes.with(40, bytesToHex(bytes)))
    const missing = new Uint8Array(32)
    expect(withSibling(missing).siblingLeaf).toBeNull()
    for (const index of missing.keys())
      expect(() => withSibling(missing.with(index, 1))).toThrow('WRONG_LENGTH at [40]')
    const opening = new Uint8Array(2 * scheme.wordLength + 64)
    expect(refusal(() => withSibling(opening))).toMatchObject({
      ...{ code: 'ZERO_OPENING', path: '[40]' },
      ...{ expected: '32 zero bytes', found: `${opening.length}` },
    })
    expect(withSibling(opening.with(opening.length - 1, 1)).siblingLeaf?.opening.at(-1)).toBe(1)
    expect(verdict(() => decode(nodes.with(41, bytesToHex(opening))))).toBe('accepted')
    for (const length of [0, 1, 31, 33, 64]) {
      expect(() => withSibling(new Uint8Array(length))).toThrow('WRONG_LENGTH at [40]')
    }
  })

  it('recognises nodes of the other scheme by the lengths of node 0 and the leaf', () => {
    const foreign = provenNodes(other)
    expect(refusal(() => decode(foreign))).toMatchObject({
      ...{ code: 'SCHEME_MISMATCH', path: '' },
      ...{ expected: `a proof of ${scheme.name}`, found: `one of ${other.name}` },
    })
    const mismatch = (nodes: readonly unknown[]) => verdict(() => decode(nodes))
    expect(mismatch(foreign.with(40, `0x${'00'.repeat(32)}`))).toBe('SCHEME_MISMATCH')
    expect(mismatch(foreign.map(hex => 'z'.repeat(hex.length)))).toBe('SCHEME_MISMATCH')
    // If one of the two has another length or is no string, the proof is of neither scheme.
    for (const hex of [`${foreign[41]}00`, foreign[41]?.slice(2), null]) {
      expect(mismatch((foreign as unknown[]).with(41, hex))).toBe('WRONG_LENGTH at [0]')
    }
    for (const hex of [`${foreign[0]}00`, foreign[0]?.slice(2), null]) {
      expect(mismatch((foreign as unknown[]).with(0, hex))).toMatch(/at \[0\]$/)
    }
    expect(mismatch(foreign.with(0, nodes[0] ?? '0x'))).not.toBe('SCHEME_MISMATCH')
    expect(mismatch(foreign.with(41, nodes[41] ?? '0x'))).toBe('WRONG_LENGTH at [0]')
  })
})

it('accepts leaf indices from the first to the last', () => {
  for (const index of [0, 1, 2 ** 32, 2 ** 40 - 1]) expect(decodeLeafIndex(index)).toBe(index)
  for (const index of [-1, 0.5, 2 ** 40, 2 ** 53, Number.NaN]) {
    expect(refusal(() => decodeLeafIndex(index))).toMatchObject({
      code: 'INDEX_OUT_OF_RANGE',
      expected: 'an integer from 0 to 2^40 - 1',
      found: `${index}`,
    })
  }
})

it('accepts no storage proofs or one per requested key', () => {
  const answer = createWorld(poseidon2).getProof(addressFor('nobody'))
  const decode = (storageProofs: unknown, keyCount: number) =>
    decodeAnswer(plainTrees(poseidon2), { ...answer, storageProofs }, keyCount).storageProofs
  expect(decode([], 3)).toEqual([])
  expect(decode([null, null], 2)).toEqual([null, null])
  expect(decode([], 0)).toEqual([])
  expect(verdict(() => decode([null], 2))).toBe('STORAGE_PROOF_MISSING at storageProofs')
  expect(verdict(() => decode([null], 0))).toBe('STORAGE_PROOF_UNEXPECTED at storageProofs')
})
