import { sha256 } from '@noble/hashes/sha2.js'
import { concatBytes } from '../bytes.ts'

/** SSZ hashes chunks of this many bytes, and every root is one chunk. */
const CHUNK_LENGTH = 32

export const hashPair = (left: Uint8Array, right: Uint8Array): Uint8Array => sha256(concatBytes(left, right))

/** The root of the chunks, which are padded with zero chunks to a power of two. There is at least one. */
export function merkleize(chunks: readonly Uint8Array[]): Uint8Array {
  const width = 2 ** Math.ceil(Math.log2(chunks.length))
  let level = Array.from({ length: width }, (_, index) => chunks[index] ?? new Uint8Array(CHUNK_LENGTH))
  while (level.length > 1) {
    const below = level
    level = Array.from({ length: below.length / 2 }, (_, index) => hashChildren(below, index))
  }
  return level[0] ?? new Uint8Array(CHUNK_LENGTH)
}

function hashChildren(level: readonly Uint8Array[], parent: number): Uint8Array {
  return sha256(concatBytes(...level.slice(2 * parent, 2 * parent + 2)))
}

/** The root of a fixed number of bytes: a key, a hash, a bloom filter. */
export function rootOfBytes(bytes: Uint8Array): Uint8Array {
  const count = Math.ceil(bytes.length / CHUNK_LENGTH)
  const padded = new Uint8Array(count * CHUNK_LENGTH)
  padded.set(bytes)
  return merkleize(
    Array.from({ length: count }, (_, index) => padded.subarray(index * CHUNK_LENGTH, (index + 1) * CHUNK_LENGTH)),
  )
}

/** The root of a list of at most 32 bytes: its length is mixed in. */
export function rootOfShortList(bytes: Uint8Array): Uint8Array {
  const padded = new Uint8Array(CHUNK_LENGTH)
  padded.set(bytes)
  return hashPair(padded, rootOfUint(BigInt(bytes.length)))
}

/** The root of an unsigned integer of at most 256 bits: its little-endian bytes, padded with zeros. */
export function rootOfUint(value: bigint): Uint8Array {
  const chunk = new Uint8Array(CHUNK_LENGTH)
  for (let index = 0, rest = value; rest > 0n; index++, rest >>= 8n) chunk[index] = Number(rest & 0xffn)
  return chunk
}

/** The number of hashes in a branch that leads from the node with this generalized index to the root. */
export const branchLength = (generalizedIndex: number): number => 31 - Math.clz32(generalizedIndex)

/** The root that `branch` leads to from `leaf`. Each bit of the index, from the lowest, says on which side the node is. */
export function rootOfBranch(leaf: Uint8Array, branch: readonly Uint8Array[], generalizedIndex: number): Uint8Array {
  return branch.reduce((node, sibling, height) => {
    const isRight = ((generalizedIndex >> height) & 1) === 1
    return isRight ? hashPair(sibling, node) : hashPair(node, sibling)
  }, leaf)
}
