import { sha256 } from '@noble/hashes/sha2.js'
import { concatBytes } from '../../base/bytes.ts'

/** SSZ hashes chunks of this many bytes, and every root is one chunk. */
const CHUNK_LENGTH = 32

export const hashPair = (left: Uint8Array, right: Uint8Array): Uint8Array => sha256(concatBytes(left, right))

/** One chunk: at most 32 bytes, padded with zeros. */
function chunkOf(bytes: Uint8Array): Uint8Array {
  const chunk = new Uint8Array(CHUNK_LENGTH)
  chunk.set(bytes)
  return chunk
}

/** The root of the chunks, which are padded with zero chunks to `width`, a power of two. */
export function merkleize(chunks: readonly Uint8Array[], width = 2 ** Math.ceil(Math.log2(chunks.length))): Uint8Array {
  if (width === 1) return chunks[0] ?? new Uint8Array(CHUNK_LENGTH)
  const half = width / 2
  return hashPair(merkleize(chunks.slice(0, half), half), merkleize(chunks.slice(half), half))
}

/** The root of a fixed number of bytes: a key, a hash, a bloom filter. */
export function rootOfBytes(bytes: Uint8Array): Uint8Array {
  const start = (index: number): number => index * CHUNK_LENGTH
  const count = Math.ceil(bytes.length / CHUNK_LENGTH)
  return merkleize(Array.from({ length: count }, (_, index) => chunkOf(bytes.subarray(start(index), start(index + 1)))))
}

/** The root of a list of at most 32 bytes: its length is mixed in. */
export const rootOfShortList = (bytes: Uint8Array): Uint8Array =>
  hashPair(chunkOf(bytes), rootOfUint(BigInt(bytes.length)))

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
