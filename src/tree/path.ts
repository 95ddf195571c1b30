import { bytesToHex, concatBytes, equalBytes, isZero } from '../bytes.ts'
import { type ErrorCode, ProofError, within } from '../errors.ts'
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
  TREE_DEPTH,
  verifyCanonical,
  zeroDigest,
} from './leaf.ts'

/** Entries of `proofRelatedNodes`: node 0, the 39 inner siblings, the sibling leaf, the leaf. */
export const NODE_COUNT = 42
/** Length in bytes of an inner node's preimage: the digests of its two children. */
export const INNER_LENGTH = 2 * DIGEST_LENGTH
const INNER_COUNT = TREE_DEPTH - 1
export const SIBLING_LEAF = 40
export const LEAF = 41

/** Stands for a digest that has not been computed. */
export const NOT_HASHED = /* @__PURE__ */ new Uint8Array(0)

/** An inner node off the path, known by its preimage. The same node may stand in many paths, and is hashed once. */
export interface InnerNode {
  /** The digests of its two children, 64 bytes, canonical. */
  readonly preimage: Uint8Array
  /** H(preimage), filled in when it is first asked for; until then {@link NOT_HASHED}. */
  digest: Uint8Array
}

/** The 42 entries of `proofRelatedNodes` as bytes, of the lengths that {@link nodeLengths} allows. */
export interface PathNodes {
  /** Entry 0. */
  readonly top: Uint8Array
  /** Entries 1 to 39, canonical. */
  readonly inner: readonly InnerNode[]
  /** Entry 40. */
  readonly siblingLeaf: Uint8Array
  /** Entry 41. */
  readonly opening: Uint8Array
}

/** The entries, read: all canonical, for the leaf at `leafIndex`. */
export interface Path {
  readonly leafIndex: number
  /** The first half of entry 0, at most 2^40. */
  readonly nextFreeNode: number
  /** 32 bytes: the top of the 40 levels, as entry 0 states it. */
  readonly subRoot: Uint8Array
  /** Entries 1 to 39: the siblings from just below the sub-root down. */
  readonly inner: readonly InnerNode[]
  /** Entry 40: a leaf opening, or null for a missing leaf. */
  readonly siblingLeaf: Uint8Array | null
  /** Entry 41. */
  readonly opening: Uint8Array
  /** What entry 41 says. */
  readonly leaf: Leaf
}

/** Length in bytes of entry 0: 64 (mimc) or 96 (poseidon2). */
export const topLength = (scheme: Scheme): number => scheme.wordLength + DIGEST_LENGTH

/** Lengths in bytes that entry `index` of `proofRelatedNodes` may have. */
export function nodeLengths(scheme: Scheme, index: number): readonly number[] {
  if (index === 0) return [topLength(scheme)]
  if (index < SIBLING_LEAF) return [INNER_LENGTH]
  return index === SIBLING_LEAF ? [openingLength(scheme), DIGEST_LENGTH] : [openingLength(scheme)]
}

/**
 * Reads the nodes strictly: every field element canonical, every index word clean and in range.
 *
 * @throws ProofError `NON_CANONICAL`, `WRONG_LENGTH`, `INDEX_OUT_OF_RANGE`; the path names the entry
 */
export function decodePath(scheme: Scheme, leafIndex: number, nodes: PathNodes): Path {
  const { top, inner, opening } = nodes
  const nextFreeNode = within(entry(0), () => {
    verifyCanonical(scheme, top)
    return decodeIndexWord(scheme, top.subarray(0, scheme.wordLength), MAX_LEAVES + 1)
  })
  const subRoot = top.subarray(scheme.wordLength)
  const siblingLeaf = within(entry(SIBLING_LEAF), () => decodeSiblingLeaf(scheme, nodes.siblingLeaf))
  const leaf = within(entry(LEAF), () => decodeOpening(scheme, opening))
  return { leafIndex, nextFreeNode, subRoot, inner, siblingLeaf, opening, leaf }
}

/** Entry 40 is an opening like entry 41, or 32 zero bytes for a missing leaf. */
function decodeSiblingLeaf(scheme: Scheme, node: Uint8Array): Uint8Array | null {
  if (node.length === DIGEST_LENGTH) {
    if (!isZero(node)) throw new ProofError('WRONG_LENGTH', { expected: 'a leaf opening', found: '32 bytes not zero' })
    return null
  }
  decodeOpening(scheme, node)
  return node
}

const entry = (index: number): string => `proofRelatedNodes[${index}]`

/**
 * A leaf index is below nextFreeNode: no leaf was ever put at or past it.
 *
 * @throws ProofError `INDEX_OUT_OF_RANGE`
 */
export function verifyLeafIndex({ leafIndex, nextFreeNode }: Path): void {
  if (leafIndex >= nextFreeNode) {
    throw new ProofError('INDEX_OUT_OF_RANGE', {
      expected: `below nextFreeNode ${nextFreeNode}`,
      found: `${leafIndex}`,
    })
  }
}

/** The sub-root that the path from the leaf leads to. Whether it is the one in entry 0 is for {@link verifyPath}. */
export function computeSubRoot({ hasher }: Scheme, path: Path): Uint8Array {
  const siblings = new Uint8Array(TREE_DEPTH * DIGEST_LENGTH)
  siblings.set(path.siblingLeaf === null ? zeroDigest() : hasher.hash(path.siblingLeaf))
  // From the leaf up, the last entry comes first.
  hashInnerNodes(hasher, path.inner)
  for (const [index, { digest }] of path.inner.entries()) {
    siblings.set(digest, (INNER_COUNT - index) * DIGEST_LENGTH)
  }
  return hasher.climb(hasher.hash(path.opening), siblings, path.leafIndex)
}

/** Fills in the digests that are not known yet, all in one call. */
function hashInnerNodes(hasher: Hasher, nodes: readonly InnerNode[]): void {
  const unknown = nodes.filter(({ digest }) => digest === NOT_HASHED)
  const digests = hasher.hashEach(concatBytes(...unknown.map(({ preimage }) => preimage)), INNER_LENGTH)
  for (const [index, node] of unknown.entries()) {
    node.digest = digests.slice(index * DIGEST_LENGTH, (index + 1) * DIGEST_LENGTH)
  }
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
  const subRoot = computeSubRoot(scheme, path)
  if (!equalBytes(subRoot, path.subRoot)) throw mismatch('SUB_ROOT_MISMATCH', path.subRoot, subRoot)
  const computedRoot = computeRoot(scheme, path.nextFreeNode, subRoot)
  if (!equalBytes(computedRoot, root)) throw mismatch(rootMismatch, root, computedRoot)
}

/** An error that carries both the expected and the found bytes. */
export function mismatch(code: ErrorCode, expected: Uint8Array, found: Uint8Array): ProofError {
  return new ProofError(code, { expected: bytesToHex(expected), found: bytesToHex(found) })
}
