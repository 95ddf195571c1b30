import { sha256 } from '@noble/hashes/sha2.js'
import { bigintToBytes, concatBytes } from '../bytes.ts'

/** The part of SSZ's hashing that the simulated consensus layer needs. All roots are 32 bytes. */
export const hashPair = (left: Uint8Array, right: Uint8Array): Uint8Array => sha256(concatBytes(left, right))

export const ZERO_CHUNK = new Uint8Array(32)

/** @param value below 2^256 */
export const integerChunk = (value: bigint): Uint8Array => bigintToBytes(value, 32).reverse()

/** Splits a vector of bytes into chunks. */
export function chunksOf(bytes: Uint8Array): Uint8Array[] {
  return Array.from({ length: Math.ceil(bytes.length / 32) }, (_, index) => {
    const chunk = new Uint8Array(32)
    chunk.set(bytes.subarray(32 * index, 32 * index + 32))
    return chunk
  })
}

/** The Merkle root of the chunks, padded with zeros to a power of two. */
export function merkleize(chunks: readonly Uint8Array[]): Uint8Array {
  const width = 2 ** Math.ceil(Math.log2(Math.max(chunks.length, 1)))
  let level = Array.from({ length: width }, (_, index) => chunks[index] ?? ZERO_CHUNK)
  while (level.length > 1) {
    level = Array.from({ length: level.length / 2 }, (_, index) =>
      hashPair(level[2 * index] ?? ZERO_CHUNK, level[2 * index + 1] ?? ZERO_CHUNK),
    )
  }
  return level[0] ?? ZERO_CHUNK
}

/** The root of a vector of bytes, of any fixed length. */
export const bytesRoot = (bytes: Uint8Array): Uint8Array => merkleize(chunksOf(bytes))

/** A container with only a few parts filled in, by generalized index. The rest is zero. */
export type SparseTree = ReadonlyMap<number, Uint8Array>

export function sparseRoot(tree: SparseTree, index = 1): Uint8Array {
  const leaf = tree.get(index)
  if (leaf !== undefined) return leaf
  const isAbove = [...tree.keys()].some(below => {
    const distance = Math.floor(Math.log2(below)) - Math.floor(Math.log2(index))
    return distance > 0 && Math.floor(below / 2 ** distance) === index
  })
  return isAbove ? hashPair(sparseRoot(tree, 2 * index), sparseRoot(tree, 2 * index + 1)) : ZERO_CHUNK
}

/** The sibling hashes from `index` up to the root, lowest first. */
export function sparseBranch(tree: SparseTree, index: number): Uint8Array[] {
  return index === 1 ? [] : [sparseRoot(tree, index ^ 1), ...sparseBranch(tree, index >> 1)]
}
