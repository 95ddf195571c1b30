import { bytesToHex, concatBytes, equalBytes } from '../bytes.ts'
import { type ErrorCode, ProofError } from '../errors.ts'
import type { Hasher } from '../hash/hasher.ts'
import type { Scheme } from '../scheme/scheme.ts'
import {
  DIGEST_LENGTH,
  decodeIndexWord,
  decodeOpening,
  indexWord,
  type Leaf,
  MAX_LEAVES,
  openingLength,
  verifyCanonical,
  zeroDigest,
} from './leaf.ts'

/** Entries of `proofRelatedNodes`: node 0, the 39 inner siblings, the sibling leaf, the leaf. */
export const NODE_COUNT = 42
/** Length in bytes of an inner node's preimage: the digests of its two children. */
export const INNER_LENGTH = 2 * DIGEST_LENGTH
export const SIBLING_LEAF = 40
export const LEAF = 41

/** Stands for a digest that has not been computed. */
export const NOT_HASHED = /* @__PURE__ */ new Uint8Array(0)

/** A node, known by what its digest is the hash of. The same node may stand in many paths, and is hashed once. */
export interface TreeNode {
  /** Canonical. */
  readonly preimage: Uint8Array
  /** H(preimage), filled in when it is first asked for; until then {@link NOT_HASHED}. */
  digest: Uint8Array
}

/** Entry 0: what the root is the hash of. Its digest is the root. */
export interface TopNode extends TreeNode {
  /** At most 2^40. */
  readonly nextFreeNode: number
  /** 32 bytes: the top of the 40 levels, as this entry states it. */
  readonly subRoot: Uint8Array
}

/** Entry 41, and entry 40 when that leaf is not missing. The preimage is the leaf's opening. */
export interface LeafNode extends TreeNode {
  readonly leaf: Leaf
}

/** The 42 entries of `proofRelatedNodes`, read: all canonical, index words in range. */
export interface PathNodes {
  /** Entry 0. */
  readonly top: TopNode
  /** Entries 1 to 39: the siblings from just below the sub-root down. */
  readonly inner: readonly TreeNode[]
  /** Entry 40, or null for a missing leaf. */
  readonly siblingLeaf: LeafNode | null
  /** Entry 41. */
  readonly leafNode: LeafNode
}

/** The entries, for the leaf at `leafIndex`. */
export interface Path extends PathNodes {
  readonly leafIndex: number
}

/** Length in bytes of entry 0: 64 (mimc) or 96 (poseidon2). */
export const topLength = (scheme: Scheme): number => scheme.wordLength + DIGEST_LENGTH

/**
 * Entry 0: `word(nextFreeNode) || subRoot`.
 *
 * @param preimage of {@link topLength} bytes
 * @throws ProofError `NON_CANONICAL`, `INDEX_OUT_OF_RANGE`
 */
export function decodeTop(scheme: Scheme, preimage: Uint8Array): TopNode {
  verifyCanonical(scheme, preimage)
  const nextFreeNode = decodeIndexWord(scheme, preimage.slice(0, scheme.wordLength), MAX_LEAVES + 1)
  return { preimage, digest: NOT_HASHED, nextFreeNode, subRoot: preimage.slice(scheme.wordLength) }
}

/**
 * Entries 1 to 39: the digests of a sibling's two children.
 *
 * @param preimage of 64 bytes
 * @throws ProofError `NON_CANONICAL`
 */
export function decodeInner(scheme: Scheme, preimage: Uint8Array): TreeNode {
  verifyCanonical(scheme, preimage)
  return { preimage, digest: NOT_HASHED }
}

/**
 * Entries 40 and 41.
 *
 * @param preimage of {@link openingLength} bytes
 * @throws ProofError `NON_CANONICAL`, `INDEX_OUT_OF_RANGE`
 */
export function decodeLeaf(scheme: Scheme, preimage: Uint8Array): LeafNode {
  return { preimage, digest: NOT_HASHED, leaf: decodeOpening(scheme, preimage) }
}

/**
 * A leaf index is below nextFreeNode: no leaf was ever put at or past it.
 *
 * @throws ProofError `INDEX_OUT_OF_RANGE`
 */
export function verifyLeafIndex({ leafIndex, top: { nextFreeNode } }: Path): void {
  if (leafIndex >= nextFreeNode) {
    throw new ProofError('INDEX_OUT_OF_RANGE', {
      expected: `below nextFreeNode ${nextFreeNode}`,
      found: `${leafIndex}`,
    })
  }
}

/** H(preimage), computed once. */
export function digestOf(hasher: Hasher, node: TreeNode): Uint8Array {
  if (node.digest === NOT_HASHED) node.digest = hasher.hash(node.preimage)
  return node.digest
}

/** The sub-root that the path from the leaf leads to. Whether it is the one in entry 0 is for {@link verifyPath}. */
export function computeSubRoot({ hasher }: Scheme, { leafIndex, inner, siblingLeaf, leafNode }: Path): Uint8Array {
  const unknown = inner.filter(({ digest }) => digest === NOT_HASHED)
  const digests = hasher.hashEach(unknown.map(({ preimage }) => preimage))
  for (const [index, node] of unknown.entries()) node.digest = digests[index] ?? NOT_HASHED
  // From the leaf up, the last entry comes first.
  const siblings = [siblingLeaf === null ? zeroDigest() : digestOf(hasher, siblingLeaf)]
  for (const { digest } of [...inner].reverse()) siblings.push(digest)
  return hasher.climb(digestOf(hasher, leafNode), siblings, leafIndex)
}

/** The root of the tree whose 40 levels lead to `subRoot`: H(word(nextFreeNode) || subRoot). */
export function computeRoot(scheme: Scheme, nextFreeNode: number, subRoot: Uint8Array): Uint8Array {
  return scheme.hasher.hash(concatBytes(indexWord(scheme, nextFreeNode), subRoot))
}

/**
 * Section 4: the leaf lies in the tree with this root.
 *
 * @throws ProofError `SUB_ROOT_MISMATCH`, or `rootMismatch` when entry 0 does not hash to `root`
 */
export function verifyPath(scheme: Scheme, path: Path, root: Uint8Array, rootMismatch: ErrorCode): void {
  const { top } = path
  const subRoot = computeSubRoot(scheme, path)
  if (!equalBytes(subRoot, top.subRoot)) throw mismatch('SUB_ROOT_MISMATCH', top.subRoot, subRoot)
  const computedRoot = digestOf(scheme.hasher, top)
  if (!equalBytes(computedRoot, root)) throw mismatch(rootMismatch, root, computedRoot)
}

/** An error that carries both the expected and the found bytes. */
export function mismatch(code: ErrorCode, expected: Uint8Array, found: Uint8Array): ProofError {
  return new ProofError(code, { expected: bytesToHex(expected), found: bytesToHex(found) })
}
