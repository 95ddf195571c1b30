import { bytesToHex, equalBytes, isZero } from '../../base/bytes.ts'
import type { ProofErrorCode } from '../../base/error-meanings.ts'
import { type ProofError, refusal } from '../../base/errors.ts'
import type { HashScheme } from '../scheme/scheme.ts'
import { DIGEST_LENGTH, decodeIndexWord, decodeOpening, type LeafNode, MAX_LEAVES, zeroDigest } from './leaf.ts'

// Each check of this file is a rule of test/soundness/Rules.v.

/** The number of nodes in `proofRelatedNodes`: node 0, the 39 inner siblings, the sibling leaf, the leaf. */
export const NODE_COUNT = 42
/** Length in bytes of an inner node's preimage: the digests of its two children. */
export const INNER_LENGTH = 2 * DIGEST_LENGTH
/** Indices in `proofRelatedNodes`. */
export const SIBLING_LEAF_NODE = 40
export const LEAF_NODE = 41

/** Node 0: the preimage of the root. */
export interface RootNode {
  readonly rootPreimage: Uint8Array
  /** At most 2^40. */
  readonly nextFreeNode: number
  /** 32 bytes: the top of the 40 levels, as the answer states it. */
  readonly subRoot: Uint8Array
}

/** The 42 nodes of `proofRelatedNodes`, from the root to the leaf at `leafIndex`: all canonical, index words in range. */
export interface Path {
  readonly leafIndex: number
  readonly rootNode: RootNode
  /** Nodes 1 to 39: the preimages of the inner siblings, from just below the sub-root downwards. */
  readonly inner: readonly Uint8Array[]
  /** Node 40, or null for a missing leaf. */
  readonly siblingLeaf: LeafNode | null
  readonly leafNode: LeafNode
}

/** Length in bytes of node 0: 64 (mimc) or 96 (poseidon2). */
export const rootLength = ({ wordLength }: Pick<HashScheme, 'wordLength'>): number => wordLength + DIGEST_LENGTH

/** Node 0: `word(nextFreeNode) || subRoot`. Its parts are copies: a view of a short array makes the engine move the array. */
export function decodeRootNode(scheme: HashScheme, rootPreimage: Uint8Array): RootNode {
  const nextFreeNode = decodeIndexWord(scheme, rootPreimage.slice(0, scheme.wordLength), MAX_LEAVES + 1)
  return { rootPreimage, nextFreeNode, subRoot: rootPreimage.slice(scheme.wordLength) }
}

/** Node 40: a leaf's opening, or 32 zero bytes for a missing leaf. These are its digest, not a preimage. */
export function decodeSiblingLeaf(scheme: HashScheme, bytes: Uint8Array): LeafNode | null {
  const [isDigest, isEmpty] = [bytes.length === DIGEST_LENGTH, isZero(bytes)]
  if (isDigest && !isEmpty) throw refusal('WRONG_LENGTH', 'a leaf opening', '32 bytes not zero')
  // No honest leaf has an opening of zeros: even in HEAD, `next` is at least 1.
  if (isEmpty && !isDigest) throw refusal('ZERO_OPENING', '32 zero bytes', bytes.length)
  return isEmpty ? null : decodeOpening(scheme, bytes)
}

/** Checks that the leaf index is below nextFreeNode: no leaf was ever created at or above it. */
export function verifyLeafIndex({ leafIndex, rootNode: { nextFreeNode } }: Path): void {
  if (leafIndex >= nextFreeNode) throw refusal('INDEX_OUT_OF_RANGE', `below nextFreeNode ${nextFreeNode}`, leafIndex)
}

/** The sub-root that the path from the leaf leads to. {@link verifyPath} compares it with the one in node 0. */
function computeSubRoot({ hasher }: HashScheme, { leafIndex, inner, siblingLeaf, leafNode }: Path): Uint8Array {
  const lowest = siblingLeaf === null ? zeroDigest() : hasher.hash(siblingLeaf.opening)
  // foldPath takes the siblings from the leaf up; the nodes run from the root down.
  const siblings = [...hasher.hashBatch(inner), lowest].reverse()
  return hasher.foldPath(hasher.hash(leafNode.opening), siblings, leafIndex)
}

/** Tree format, "The proof": checks that the leaf is in the tree with this root, at its index. */
export function verifyPath(scheme: HashScheme, path: Path, root: Uint8Array, rootMismatch: ProofErrorCode): void {
  const { subRoot, rootPreimage } = path.rootNode
  const computedSubRoot = computeSubRoot(scheme, path)
  if (!equalBytes(computedSubRoot, subRoot)) throw mismatch('SUB_ROOT_MISMATCH', subRoot, computedSubRoot)
  const computedRoot = scheme.hasher.hash(rootPreimage)
  if (!equalBytes(computedRoot, root)) throw mismatch(rootMismatch, root, computedRoot)
}

export const mismatch = (code: ProofErrorCode, expected: Uint8Array, found: Uint8Array): ProofError =>
  refusal(code, bytesToHex(expected), bytesToHex(found))
