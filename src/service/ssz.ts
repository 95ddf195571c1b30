import { hashPair } from '../beacon/ssz.ts'
import { bytesToHex, type Hex } from '../bytes.ts'

/** A container with only a few parts filled in, by generalized index. The rest is zero. */
export type SparseTree = ReadonlyMap<number, Uint8Array>

export function sparseRoot(tree: SparseTree, index = 1): Uint8Array {
  const leaf = tree.get(index)
  if (leaf !== undefined) return leaf
  const isAbove = [...tree.keys()].some(below => {
    const distance = Math.floor(Math.log2(below)) - Math.floor(Math.log2(index))
    return distance > 0 && Math.floor(below / 2 ** distance) === index
  })
  return isAbove ? hashPair(sparseRoot(tree, 2 * index), sparseRoot(tree, 2 * index + 1)) : new Uint8Array(32)
}

/** The sibling hashes from `index` up to the root, lowest first. */
export function sparseBranch(tree: SparseTree, index: number): Hex[] {
  return index === 1 ? [] : [bytesToHex(sparseRoot(tree, index ^ 1)), ...sparseBranch(tree, index >> 1)]
}
