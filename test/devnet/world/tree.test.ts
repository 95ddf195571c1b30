import { expect, it } from 'vitest'
import { getLeaf, putLeaf } from '../../../src/devnet/world/sparse.ts'
import { createKind, createTree, deleteKey, getValue, rootOf, setValue } from '../../../src/devnet/world/tree.ts'
import { poseidon2 } from '../../../src/verify/scheme/poseidon2.ts'
import { storageTree } from '../../../src/verify/tree/kind.ts'

const kind = createKind<Uint8Array>(poseidon2, storageTree, value => value)
const bytes = (x: number) => new Uint8Array(32).fill(x)

it('finds exactly the leaves that exist', () => {
  let top = putLeaf<string>(null, 5, 'five')
  top = putLeaf(top, 2 ** 39 + 5, 'far')
  const indices = [5, 2 ** 39 + 5, 4, 2 ** 39, 2 ** 40 - 1]
  expect(indices.map(index => getLeaf(top, index))).toEqual(['five', 'far', null, null, null])
  expect(getLeaf(null, 0)).toBeNull()
})

it('is null again after the last leaf is removed', () => {
  const one = putLeaf<string>(null, 5, 'five')
  expect(putLeaf(putLeaf(one, 6, 'six'), 6, null)).toEqual(one)
  expect(putLeaf(one, 5, null)).toBeNull()
})

it('does not treat a sentinel as a key', () => {
  const empty = createTree(kind)
  const tree = setValue(empty, bytes(1), bytes(9), bytes(2))
  for (const sentinel of [bytes(0), poseidon2.tailKey()]) {
    expect(getValue(tree, sentinel)).toBeNull()
    expect(deleteKey(tree, sentinel)).toBe(tree)
  }
  expect(getValue(tree, bytes(1))).toEqual(bytes(9))
  expect(rootOf(tree)).not.toEqual(rootOf(empty))
})

it('throws if its linked list is broken', () => {
  const tree = setValue(createTree(kind), bytes(1), bytes(9), bytes(2))
  expect(() => getValue({ ...tree, top: null }, bytes(1))).toThrow('the linked list is broken: leaf 2 is missing')
})
