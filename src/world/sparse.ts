import { concatBytes } from '../bytes.ts'
import type { Hasher } from '../hash/hasher.ts'
import { TREE_DEPTH, zeroDigest } from '../tree/leaf.ts'

/**
 * The 40 levels above the leaves, of which most are missing; null stands for a subtree without leaves.
 *
 * A node is never changed, only replaced, together with all nodes above it. Its digest is filled in when it is first
 * asked for. So a write hashes nothing, asking for a root hashes what was written since, and an old top stays good.
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

/** The leaf at `index` of the whole tree; null when it is missing. */
export function getLeaf<Leaf>(top: Subtree<Leaf>, index: number): Leaf | null {
  let node = top
  for (let level = TREE_DEPTH - 1; level >= 0; level--) {
    const { left, right } = childrenOf(node)
    node = isRight(index, level) ? right : left
  }
  return node !== null && 'leaf' in node ? node.leaf : null
}

/** The tree with `leaf` at `index`; null takes the leaf away. */
export function putLeaf<Leaf>(top: Subtree<Leaf>, index: number, leaf: Leaf | null): Subtree<Leaf> {
  return putBelow(top, TREE_DEPTH, index, leaf)
}

function putBelow<Leaf>(node: Subtree<Leaf>, level: number, index: number, leaf: Leaf | null): Subtree<Leaf> {
  if (level === 0) return leaf && { leaf, digest: null }
  let { left, right } = childrenOf(node)
  if (isRight(index, level - 1)) right = putBelow(right, level - 1, index, leaf)
  else left = putBelow(left, level - 1, index, leaf)
  return left === null && right === null ? null : { left, right, digest: null }
}

/** The top of the 40 levels. */
export function computeSubRoot<Leaf>(hashing: Hashing<Leaf>, top: Subtree<Leaf>): Uint8Array {
  return digestOf(hashing, top, TREE_DEPTH)
}

/**
 * Section 4, entries 1 to 41 for the leaf at `index`, which is not missing: the preimages of the 39 inner siblings from
 * the top down, the sibling leaf, the leaf itself.
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

/** Division, not a shift: indices pass 2^32. */
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

/** What a node's digest is the hash of. A missing leaf has none: it is its own digest, 32 zero bytes. */
function preimageOf<Leaf>(hashing: Hashing<Leaf>, node: Subtree<Leaf>, level: number): Uint8Array {
  if (level === 0) return node !== null && 'leaf' in node ? hashing.encodeLeaf(node.leaf) : zeroDigest()
  const { left, right } = childrenOf(node)
  return concatBytes(digestOf(hashing, left, level - 1), digestOf(hashing, right, level - 1))
}
