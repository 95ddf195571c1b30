import { concatBytes } from '../../base/bytes.ts'
import type { Hasher } from '../../verify/hash/hasher.ts'
import { MAX_LEAVES, TREE_DEPTH, zeroDigest } from '../../verify/tree/leaf.ts'

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

/** The leaf at `index`, counted from the first of the `width` leaves below `node`; null if it is missing. */
export function getLeaf<Leaf>(node: Subtree<Leaf>, index: number, width = MAX_LEAVES): Leaf | null {
  if (node === null) return null
  if ('leaf' in node) return node.leaf
  const half = width / 2
  return index < half ? getLeaf(node.left, index, half) : getLeaf(node.right, index - half, half)
}

/** The subtree with `leaf` at `index`; null removes the leaf. */
export function putLeaf<Leaf>(
  node: Subtree<Leaf>,
  index: number,
  leaf: Leaf | null,
  width = MAX_LEAVES,
): Subtree<Leaf> {
  if (width === 1) return leaf && { leaf, digest: null }
  let { left, right } = childrenOf(node)
  const half = width / 2
  if (index < half) left = putLeaf(left, index, leaf, half)
  else right = putLeaf(right, index - half, leaf, half)
  return left === null && right === null ? null : { left, right, digest: null }
}

/** The leaves that differ between two subtrees at the same place, by index. What they share is not walked. */
export function* differing<Leaf>(
  before: Subtree<Leaf>,
  after: Subtree<Leaf>,
): Iterable<readonly [before: Leaf | null, after: Leaf | null]> {
  if (before === after) return
  const leafOf = (node: Subtree<Leaf>) => (node !== null && 'leaf' in node ? node.leaf : null)
  const [old, now] = [leafOf(before), leafOf(after)]
  if (old !== null || now !== null) return yield [old, now]
  const [a, b] = [childrenOf(before), childrenOf(after)]
  yield* differing(a.left, b.left)
  yield* differing(a.right, b.right)
}

/**
 * Tree format, "The proof": entries 1 to 41 for the leaf at `index`, which must exist. They are the preimages of the 39 inner
 * siblings from the top down, the sibling leaf, and the leaf itself.
 */
export function pathNodes<Leaf>(hashing: Hashing<Leaf>, top: Subtree<Leaf>, index: number): Uint8Array[] {
  const { siblings, leaf } = pathTo(top, index)
  return [...siblings.map(([node, level]) => preimageOf(hashing, node, level)), preimageOf(hashing, leaf, 0)]
}

/** The digests of the siblings of the leaf at `index`, which may be missing, from the leaf up. */
export const pathDigests = <Leaf>(hashing: Hashing<Leaf>, top: Subtree<Leaf>, index: number): Uint8Array[] =>
  pathTo(top, index)
    .siblings.map(([node, level]) => hashSubtree(hashing, node, level))
    .toReversed()

/** The siblings on the way to a leaf, each with its level, from the top down. */
function pathTo<Leaf>(top: Subtree<Leaf>, index: number) {
  const siblings: (readonly [node: Subtree<Leaf>, level: number])[] = []
  let node = top
  for (let level = TREE_DEPTH - 1; level >= 0; level--) {
    const { left, right } = childrenOf(node)
    // Divides instead of shifting, because indices can exceed 2^32.
    const isRight = Math.floor(index / 2 ** level) % 2 === 1
    siblings.push([isRight ? left : right, level])
    node = isRight ? right : left
  }
  return { siblings, leaf: node }
}

const NO_CHILDREN = { left: null, right: null } as const

const childrenOf = <Leaf>(node: Subtree<Leaf>): { readonly left: Subtree<Leaf>; readonly right: Subtree<Leaf> } =>
  node !== null && 'left' in node ? node : NO_CHILDREN

/** The digest of a node: by default, of the top. `level` counts from the leaves up. */
export function hashSubtree<Leaf>(hashing: Hashing<Leaf>, node: Subtree<Leaf>, level = TREE_DEPTH): Uint8Array {
  if (node === null) return hashing.emptyDigests[level] ?? zeroDigest()
  node.digest ??= hashing.hasher.hash(preimageOf(hashing, node, level))
  return node.digest
}

/** The preimage of a node's digest. A missing leaf has no preimage, only a digest: 32 zero bytes. */
function preimageOf<Leaf>(hashing: Hashing<Leaf>, node: Subtree<Leaf>, level: number): Uint8Array {
  if (level === 0) return node !== null && 'leaf' in node ? hashing.encodeLeaf(node.leaf) : zeroDigest()
  const { left, right } = childrenOf(node)
  return concatBytes(hashSubtree(hashing, left, level - 1), hashSubtree(hashing, right, level - 1))
}
