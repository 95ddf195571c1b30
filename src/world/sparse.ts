import { concatBytes } from '../bytes.ts'
import type { Hasher } from '../hash/hasher.ts'
import { MAX_LEAVES, TREE_DEPTH, zeroDigest } from '../tree/leaf.ts'

/**
 * The 40 levels above the leaves, stored sparsely: null is a subtree without leaves.
 *
 * Nodes are immutable, except that a digest is computed on first use. A write replaces a node and all nodes above it. So
 * a write hashes nothing, computing a root hashes only what was written since, and an old top stays valid.
 */
export type Subtree<Leaf> = LeafNode<Leaf> | InnerNode<Leaf> | null

interface LeafNode<Leaf> {
  readonly leaf: Leaf
  digest: Uint8Array | null
}

interface InnerNode<Leaf> {
  readonly left: Subtree<Leaf>
  readonly right: Subtree<Leaf>
  digest: Uint8Array | null
}

/** How to hash a tree. */
export interface Hashing<Leaf> {
  readonly hasher: Hasher
  /** The preimage of a leaf's digest. */
  encodeLeaf(leaf: Leaf): Uint8Array
  /** Entry i: the digest of a subtree of 2^i missing leaves. */
  readonly emptyDigests: readonly Uint8Array[]
}

/** The leaf at `index` of the whole tree; null if it is missing. */
export function getLeaf<Leaf>(top: Subtree<Leaf>, index: number): Leaf | null {
  return getBelow(top, MAX_LEAVES, index)
}

/** The tree with `leaf` at `index`; null removes the leaf. */
export function putLeaf<Leaf>(top: Subtree<Leaf>, index: number, leaf: Leaf | null): Subtree<Leaf> {
  return putBelow(top, MAX_LEAVES, index, leaf)
}

/** `index` is relative to the first of the `width` leaves below `node`. */
function getBelow<Leaf>(node: Subtree<Leaf>, width: number, index: number): Leaf | null {
  if (node === null) return null
  if ('leaf' in node) return node.leaf
  const half = width / 2
  return index < half ? getBelow(node.left, half, index) : getBelow(node.right, half, index - half)
}

function putBelow<Leaf>(node: Subtree<Leaf>, width: number, index: number, leaf: Leaf | null): Subtree<Leaf> {
  if (width === 1) return leaf && { leaf, digest: null }
  let { left, right } = childrenOf(node)
  const half = width / 2
  if (index < half) left = putBelow(left, half, index, leaf)
  else right = putBelow(right, half, index - half, leaf)
  return left === null && right === null ? null : { left, right, digest: null }
}

/** The digest at the top of the 40 levels. */
export function computeSubRoot<Leaf>(hashing: Hashing<Leaf>, top: Subtree<Leaf>): Uint8Array {
  return digestOf(hashing, top, TREE_DEPTH)
}

/**
 * Tree format, "The proof": entries 1 to 41 for the leaf at `index`, which must exist. They are the preimages of the 39 inner
 * siblings from the top down, the sibling leaf, and the leaf itself.
 */
export function pathNodes<Leaf>(hashing: Hashing<Leaf>, top: Subtree<Leaf>, index: number): Uint8Array[] {
  const nodes: Uint8Array[] = []
  let node = top
  for (let level = TREE_DEPTH - 1; level >= 0; level--) {
    const { left, right } = childrenOf(node)
    const [child, sibling] = isRight(index, level) ? [right, left] : [left, right]
    nodes.push(preimageOf(hashing, sibling, level))
    node = child
  }
  nodes.push(preimageOf(hashing, node, 0))
  return nodes
}

/** Divides instead of shifting, because indices can exceed 2^32. */
const isRight = (index: number, level: number): boolean => Math.floor(index / 2 ** level) % 2 === 1

const NO_CHILDREN = { left: null, right: null } as const

function childrenOf<Leaf>(node: Subtree<Leaf>): { readonly left: Subtree<Leaf>; readonly right: Subtree<Leaf> } {
  return node !== null && 'left' in node ? node : NO_CHILDREN
}

/** `level` counts from the leaves up. */
function digestOf<Leaf>(hashing: Hashing<Leaf>, node: Subtree<Leaf>, level: number): Uint8Array {
  if (node === null) return hashing.emptyDigests[level] ?? zeroDigest()
  node.digest ??= hashing.hasher.hash(preimageOf(hashing, node, level))
  return node.digest
}

/** The preimage of a node's digest. A missing leaf has no preimage, only a digest: 32 zero bytes. */
function preimageOf<Leaf>(hashing: Hashing<Leaf>, node: Subtree<Leaf>, level: number): Uint8Array {
  if (level === 0) return node !== null && 'leaf' in node ? hashing.encodeLeaf(node.leaf) : zeroDigest()
  const { left, right } = childrenOf(node)
  return concatBytes(digestOf(hashing, left, level - 1), digestOf(hashing, right, level - 1))
}
