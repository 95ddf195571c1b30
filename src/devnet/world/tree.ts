import { invalid } from '../../base/arguments.ts'
import { bytesToHex, compareBytes, equalBytes } from '../../base/bytes.ts'
import { ArgumentError } from '../../base/errors.ts'
import type { HashScheme } from '../../verify/scheme/scheme.ts'
import type { ExistenceProof, NonExistenceProof, Proof } from '../../verify/tree/answer.ts'
import { encodeOpening, encodeRootNode, FIRST_FREE_NODE } from '../../verify/tree/encode.ts'
import type { TreeKind } from '../../verify/tree/kind.ts'
import { HEAD_INDEX, type Leaf, MAX_LEAVES, TAIL_INDEX, zeroDigest } from '../../verify/tree/leaf.ts'
import { emptySubtreeDigests } from '../../verify/verifier/empty-subtrees.ts'
import { differing, getLeaf, type Hashing, hashSubtree, pathNodes, putLeaf, type Subtree } from './sparse.ts'

/**
 * Key hashes in ascending order, each with the index of its leaf, as an immutable treap.
 *
 * A treap is a search tree by key and a heap by priority. With random priorities, it stays balanced for any insertion
 * order. A key hash serves as both: the whole hash is the key, and its last four bytes are the priority.
 */
export type Order = OrderNode | null

interface OrderNode {
  readonly hKey: Uint8Array
  readonly index: number
  readonly left: Order
  readonly right: Order
}

/** The leaf index of the largest key hash that is not above `hKey`; null if all are above. */
export function findFloor(order: Order, hKey: Uint8Array): number | null {
  let floor: number | null = null
  let node = order
  while (node !== null) {
    if (compareBytes(node.hKey, hKey) <= 0) {
      floor = node.index
      node = node.right
    } else {
      node = node.left
    }
  }
  return floor
}

/** `order` with `hKey` added. It must not contain `hKey` yet. */
export function insertKey(order: Order, hKey: Uint8Array, index: number): OrderNode {
  if (order === null || priority(hKey) > priority(order.hKey)) return { hKey, index, ...split(order, hKey) }
  return compareBytes(hKey, order.hKey) < 0
    ? { ...order, left: insertKey(order.left, hKey, index) }
    : { ...order, right: insertKey(order.right, hKey, index) }
}

/** `order` without `hKey`. */
export function removeKey(order: Order, hKey: Uint8Array): Order {
  if (order === null) return null
  const side = compareBytes(hKey, order.hKey)
  if (side < 0) return { ...order, left: removeKey(order.left, hKey) }
  if (side > 0) return { ...order, right: removeKey(order.right, hKey) }
  return join(order.left, order.right)
}

const priority = (hKey: Uint8Array): number => new DataView(hKey.buffer, hKey.byteOffset).getUint32(hKey.length - 4)

/** Splits `order` into what sorts before `hKey` and what sorts after it. */
function split(order: Order, hKey: Uint8Array): { left: Order; right: Order } {
  if (order === null) return { left: null, right: null }
  if (compareBytes(order.hKey, hKey) < 0) {
    const { left, right } = split(order.right, hKey)
    return { left: { ...order, right: left }, right }
  }
  const { left, right } = split(order.left, hKey)
  return { left, right: { ...order, left: right } }
}

/** The inverse of {@link split}: everything in `left` sorts before everything in `right`. */
function join(left: Order, right: Order): Order {
  if (left === null) return right
  if (right === null) return left
  return priority(left.hKey) > priority(right.hKey)
    ? { ...left, right: join(left.right, right) }
    : { ...right, left: join(left, right.left) }
}

/** What the leaf of a key holds. */
interface Content<Value> {
  /** Before hashing. */
  readonly key: Uint8Array
  readonly value: Value
  /** Computed on first use, and kept when the leaf gets new neighbours. */
  hVal: Uint8Array | null
}

/** A leaf whose value hash is computed on demand. */
interface StoredLeaf<Value> extends Omit<Leaf, 'hVal'> {
  /** null in HEAD and TAIL. */
  readonly content: Content<Value> | null
}

/** What all trees of one kind in a world share. */
interface StoredKind<Value> {
  readonly scheme: HashScheme
  readonly kind: TreeKind
  /** The value's bytes as served and hashed. */
  encodeValue(value: Value): Uint8Array
  /** The value hash of a leaf. */
  hashContent(content: Content<Value> | null): Uint8Array
  readonly hashing: Hashing<StoredLeaf<Value>>
}

/** A tree of the tree format, "The tree" and "The list". It is immutable except for the cached root, so an old tree stays valid. */
export interface Tree<Value> {
  readonly kind: StoredKind<Value>
  readonly top: Subtree<StoredLeaf<Value>>
  /** The key hashes between HEAD and TAIL. */
  readonly order: Order
  /** The index that the next new key takes. */
  readonly nextFreeNode: number
  /** Computed on first use. */
  root: Uint8Array | null
}

export function createKind<Value>(scheme: HashScheme, kind: TreeKind, encodeValue: (value: Value) => Uint8Array) {
  const hashContent = (content: Content<Value> | null): Uint8Array => {
    if (content === null) return zeroDigest()
    content.hVal ??= scheme.hasher.hash(kind.valuePreimage(scheme, encodeValue(content.value)))
    return content.hVal
  }
  const encodeLeaf = ({ content, ...links }: StoredLeaf<Value>): Uint8Array =>
    encodeOpening(scheme, { ...links, hVal: hashContent(content) })
  const hashing = { hasher: scheme.hasher, encodeLeaf, emptyDigests: emptySubtreeDigests(scheme.hasher) }
  return { scheme, kind, encodeValue, hashContent, hashing }
}

/** HEAD and TAIL of an empty tree. They point at themselves and at each other. */
export function initialSentinels(scheme: HashScheme): readonly [head: Leaf, tail: Leaf] {
  const hVal = zeroDigest()
  return [
    { prev: HEAD_INDEX, next: TAIL_INDEX, hKey: zeroDigest(), hVal },
    { prev: HEAD_INDEX, next: TAIL_INDEX, hKey: scheme.tailKey(), hVal },
  ]
}

/** An empty tree: HEAD and TAIL alone. */
export function createTree<Value>(kind: StoredKind<Value>): Tree<Value> {
  const [{ hVal: _, ...head }, { hVal: __, ...tail }] = initialSentinels(kind.scheme)
  const withHead = putLeaf<StoredLeaf<Value>>(null, HEAD_INDEX, { ...head, content: null })
  const top = putLeaf(withHead, TAIL_INDEX, { ...tail, content: null })
  return { kind, top, order: null, nextFreeNode: FIRST_FREE_NODE, root: null }
}

/** The value of the key with hash `hKey`; null if it has no leaf. */
export const getValue = <Value>(tree: Tree<Value>, hKey: Uint8Array): Value | null =>
  locate(tree, hKey).held?.value ?? null

/** Tree format, "The list": a new key takes the leaf at nextFreeNode; an existing one keeps its leaf and links. @param key before it is hashed */
export function setValue<Value>(tree: Tree<Value>, hKey: Uint8Array, value: Value, key: Uint8Array): Tree<Value> {
  const content = { key, value, hVal: null }
  const { index: leftIndex, leaf: left, held } = locate(tree, hKey)
  if (held !== null) return { ...tree, top: putLeaf(tree.top, leftIndex, { ...left, content }), root: null }

  const index = tree.nextFreeNode
  if (index >= MAX_LEAVES)
    throw new ArgumentError({ expected: 'a free leaf', found: 'a tree whose 2^40 leaves are all used' })
  const right = leafAt(tree, left.next)
  let top = putLeaf(tree.top, leftIndex, { ...left, next: index })
  top = putLeaf(top, left.next, { ...right, prev: index })
  top = putLeaf(top, index, { prev: leftIndex, next: left.next, hKey, content })
  return { ...tree, top, order: insertKey(tree.order, hKey, index), nextFreeNode: index + 1, root: null }
}

/** Tree format, "The list": removes the leaf and links its neighbours. Does nothing if the key has no leaf. */
export function deleteKey<Value>(tree: Tree<Value>, hKey: Uint8Array): Tree<Value> {
  const { index, leaf, held } = locate(tree, hKey)
  if (held === null) return tree
  let top = putLeaf(tree.top, index, null)
  top = putLeaf(top, leaf.prev, { ...leafAt(tree, leaf.prev), next: leaf.next })
  top = putLeaf(top, leaf.next, { ...leafAt(tree, leaf.next), prev: leaf.prev })
  return { ...tree, top, order: removeKey(tree.order, hKey), root: null }
}

/** The tree as if all leaves below `nextFreeNode` had been taken and deleted again. @throws ArgumentError */
export function skipLeaves<Value>(tree: Tree<Value>, nextFreeNode: number): Tree<Value> {
  if (!Number.isSafeInteger(nextFreeNode) || nextFreeNode < tree.nextFreeNode || nextFreeNode > MAX_LEAVES) {
    throw invalid('nextFreeNode', `an integer from ${tree.nextFreeNode} to 2^40`, nextFreeNode)
  }
  return { ...tree, nextFreeNode, root: null }
}

/** A key whose value differs between two trees; null where it has no leaf. */
interface Change<Value> {
  readonly key: Uint8Array
  readonly before: Value | null
  readonly after: Value | null
}

/** What differs between two trees, oldest leaf first. What they share is not walked. @param before one that `after` was made from, or null */
export function* changesBetween<Value>(before: Tree<Value> | null, after: Tree<Value>): Iterable<Change<Value>> {
  for (const [old, now] of differing(before?.top ?? null, after.top)) {
    const [held, holds] = [old?.content ?? null, now?.content ?? null]
    // A leaf with new neighbours keeps its content.
    const changed = held === holds ? null : (holds ?? held)
    if (changed) yield { key: changed.key, before: held?.value ?? null, after: holds?.value ?? null }
  }
}

/** 32 bytes: H(word(nextFreeNode) || subRoot). */
export function rootOf<Value>(tree: Tree<Value>): Uint8Array {
  tree.root ??= tree.kind.scheme.hasher.hash(rootPreimage(tree))
  return tree.root
}

/** Sections 4 and 5: proves that `key` is in the tree, or that it is not. */
export function proveKey<Value>(tree: Tree<Value>, key: Uint8Array): ExistenceProof | NonExistenceProof {
  const { scheme, kind } = tree.kind
  const { index, leaf, held } = locate(tree, kind.hashKey(scheme, key))
  if (held !== null) return { key: bytesToHex(key), leafIndex: index, proof: proveLeaf(tree, index, leaf) }
  return {
    key: bytesToHex(key),
    leftLeafIndex: index,
    leftProof: proveLeaf(tree, index, leaf),
    rightLeafIndex: leaf.next,
    rightProof: proveLeaf(tree, leaf.next, leafAt(tree, leaf.next)),
  }
}

function proveLeaf<Value>(tree: Tree<Value>, index: number, { content }: StoredLeaf<Value>): Proof {
  const { encodeValue, hashing } = tree.kind
  const nodes = [rootPreimage(tree), ...pathNodes(hashing, tree.top, index)]
  return {
    // Tree format, "The proof": HEAD and TAIL are served with 32 zero bytes.
    value: bytesToHex(content === null ? zeroDigest() : encodeValue(content.value)),
    proofRelatedNodes: nodes.map(bytesToHex),
  }
}

/** Node 0 of a proof. */
const rootPreimage = <Value>({ kind, top, nextFreeNode }: Tree<Value>): Uint8Array =>
  encodeRootNode(kind.scheme, nextFreeNode, hashSubtree(kind.hashing, top))

/** The leaf of the key with hash `hKey`. If there is none, `held` is null and the leaf is the left neighbour it would have. */
export function locate<Value>(tree: Tree<Value>, hKey: Uint8Array) {
  const index = findFloor(tree.order, hKey) ?? HEAD_INDEX
  const leaf = leafAt(tree, index)
  return { index, leaf, held: equalBytes(leaf.hKey, hKey) ? leaf.content : null }
}

export function leafAt<Value>(tree: Tree<Value>, index: number): StoredLeaf<Value> {
  const leaf = getLeaf(tree.top, index)
  if (leaf === null) throw new Error(`the linked list is broken: leaf ${index} is missing`)
  return leaf
}
