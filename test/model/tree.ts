// The tree and its proofs: a plain list of leaves, scanned and hashed again for every question.
import { type Scheme, ZERO } from './hash.ts'

/** `value` is what the proof serves with the leaf. All byte strings are hex without 0x. */
export type Leaf = { hKey: string; hVal: string; value: string; prev: number; next: number }
export type Tree = { scheme: Scheme; leaves: Map<number, Leaf>; nextFreeNode: number }

export type Proof = { value: string; proofRelatedNodes: string[] }
export type LeafProof =
  | { key: string; leafIndex: number; proof: Proof }
  | { key: string; leftLeafIndex: number; leftProof: Proof; rightLeafIndex: number; rightProof: Proof }

export function emptyTree(scheme: Scheme): Tree {
  const HEAD = { hKey: ZERO, hVal: ZERO, value: ZERO, prev: 0, next: 1 }
  const TAIL = { hKey: scheme.TAIL, hVal: ZERO, value: ZERO, prev: 0, next: 1 }
  const leaves = new Map([HEAD, TAIL].map((leaf, index) => [index, leaf]))
  return { scheme, leaves, nextFreeNode: 2 }
}

export function put(tree: Tree, hKey: string, hVal: string, value: string): void {
  const present = find(tree, hKey)
  if (present) {
    Object.assign(present[1], { hVal, value })
    return
  }
  const [[prev, left], [next, right]] = neighbours(tree, hKey)
  const index = tree.nextFreeNode++
  tree.leaves.set(index, { hKey, hVal, value, prev, next })
  left.next = index
  right.prev = index
}

export function remove(tree: Tree, hKey: string): void {
  const present = find(tree, hKey)
  if (!present) return
  const [[prev, left], [next, right]] = neighbours(tree, hKey)
  tree.leaves.delete(present[0])
  left.next = next
  right.prev = prev
}

export const root = (tree: Tree): string => tree.scheme.H(firstNode(tree))

/** Proves a key's existence or non-existence, in the shape of an answer. */
export function prove(tree: Tree, key: string, hKey: string): LeafProof {
  const present = find(tree, hKey)
  if (present) return { key: `0x${key}`, leafIndex: present[0], proof: openPath(tree, ...present) }
  const [left, right] = neighbours(tree, hKey)
  return {
    key: `0x${key}`,
    leftLeafIndex: left[0],
    leftProof: openPath(tree, ...left),
    rightLeafIndex: right[0],
    rightProof: openPath(tree, ...right),
  }
}

function find(tree: Tree, hKey: string): [number, Leaf] | undefined {
  return [...tree.leaves].find(([, leaf]) => leaf.hKey === hKey)
}

// The greatest leaf below the key and the least above it, regardless of prev and next.
function neighbours(tree: Tree, hKey: string): [[number, Leaf], [number, Leaf]] {
  const sorted = [...tree.leaves].sort(([, a], [, b]) => (a.hKey < b.hKey ? -1 : 1))
  const left = sorted.filter(([, leaf]) => leaf.hKey < hKey).at(-1)
  const right = sorted.find(([, leaf]) => leaf.hKey > hKey)
  if (!left || !right) throw new Error('a key outside HEAD and TAIL')
  return [left, right]
}

function openPath(tree: Tree, index: number, leaf: Leaf): Proof {
  const siblings = Array.from({ length: 40 }, (_, i) => {
    const level = 40 - (i + 1)
    const position = Math.floor(index / 2 ** level)
    return preimage(tree, level, position % 2 === 0 ? position + 1 : position - 1)
  })
  const nodes = [firstNode(tree), ...siblings, opening(tree.scheme, leaf)]
  return { value: `0x${leaf.value}`, proofRelatedNodes: nodes.map(node => `0x${node}`) }
}

const firstNode = (tree: Tree): string => tree.scheme.word(BigInt(tree.nextFreeNode)) + digest(tree, 40, 0)

const opening = ({ word }: Scheme, leaf: Leaf): string =>
  word(BigInt(leaf.prev)) + word(BigInt(leaf.next)) + leaf.hKey + leaf.hVal

// Level 0 holds the leaves, level 40 the sub-root. `among` holds every leaf index that may lie below the node.
function preimage(tree: Tree, level: number, position: number, among = [...tree.leaves.keys()]): string {
  if (level > 0) {
    return digest(tree, level - 1, 2 * position, among) + digest(tree, level - 1, 2 * position + 1, among)
  }
  const leaf = tree.leaves.get(position)
  return leaf ? opening(tree.scheme, leaf) : ZERO
}

function digest(tree: Tree, level: number, position: number, among = [...tree.leaves.keys()]): string {
  const below = among.filter(index => Math.floor(index / 2 ** level) === position)
  if (below.length === 0) return emptyDigest(tree.scheme, level)
  return tree.scheme.H(preimage(tree, level, position, below))
}

const emptyDigests = new Map<Scheme, string[]>()

/** The digest of a subtree with 2^level missing leaves. */
export function emptyDigest(scheme: Scheme, level: number): string {
  const known = emptyDigests.get(scheme) ?? [ZERO]
  emptyDigests.set(scheme, known)
  const digest = known[level] ?? scheme.H(emptyDigest(scheme, level - 1).repeat(2))
  known[level] = digest
  return digest
}
