import { bytesToHex, concatBytes, equalBytes, isZero } from '../bytes.ts'
import { type ErrorCode, ProofError, within } from '../errors.ts'
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
export const INNER_COUNT = TREE_DEPTH - 1
const SIBLING_LEAF = 40
const LEAF = 41

/** The 42 decoded, canonical entries of `proofRelatedNodes`, for the leaf at `leafIndex`. Nothing is hashed yet. */
export interface Path {
  readonly leafIndex: number
  /** The first half of entry 0, at most 2^40. */
  readonly nextFreeNode: number
  /** 32 bytes: the top of the 40 levels, as entry 0 states it. */
  readonly subRoot: Uint8Array
  /** Entries 1 to 39 joined, 64 bytes each, from just below the sub-root down. */
  readonly innerSiblings: Uint8Array
  /** Entry 40: a leaf opening, or null for a missing leaf. */
  readonly siblingLeaf: Uint8Array | null
  /** Entry 41. */
  readonly opening: Uint8Array
  /** What entry 41 says. */
  readonly leaf: Leaf
}

/** Lengths in bytes that entry `index` of `proofRelatedNodes` may have. */
export function nodeLengths(scheme: Scheme, index: number): readonly number[] {
  if (index === 0) return [scheme.wordLength + DIGEST_LENGTH]
  if (index < SIBLING_LEAF) return [INNER_LENGTH]
  return index === SIBLING_LEAF ? [openingLength(scheme), DIGEST_LENGTH] : [openingLength(scheme)]
}

/**
 * Reads the 42 nodes strictly: every field element canonical, every index word clean and in range.
 *
 * @param nodes the 42 entries joined, of the lengths that {@link nodeLengths} allows
 * @throws ProofError `NON_CANONICAL`, `WRONG_LENGTH`, `INDEX_OUT_OF_RANGE`; the path names the entry
 */
export function decodePath(scheme: Scheme, leafIndex: number, nodes: Uint8Array): Path {
  const innerStart = scheme.wordLength + DIGEST_LENGTH
  const innerEnd = innerStart + INNER_COUNT * INNER_LENGTH
  const leafStart = nodes.length - openingLength(scheme)

  const top = nodes.subarray(0, innerStart)
  const subRoot = top.subarray(scheme.wordLength)
  const innerSiblings = nodes.subarray(innerStart, innerEnd)
  const siblingNode = nodes.subarray(innerEnd, leafStart)
  const opening = nodes.subarray(leafStart)

  const nextFreeNode = within(entry(0), () => {
    verifyCanonical(scheme, top)
    return decodeIndexWord(scheme, top.subarray(0, scheme.wordLength), MAX_LEAVES + 1)
  })
  verifyInnerSiblings(scheme, innerSiblings)
  const siblingLeaf = within(entry(SIBLING_LEAF), () => decodeSiblingLeaf(scheme, siblingNode))
  const leaf = within(entry(LEAF), () => decodeOpening(scheme, opening))
  return { leafIndex, nextFreeNode, subRoot, innerSiblings, siblingLeaf, opening, leaf }
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

/** All entries at once, for speed; one by one to name the one that is refused. */
function verifyInnerSiblings(scheme: Scheme, innerSiblings: Uint8Array): void {
  if (scheme.isCanonical(innerSiblings)) return
  for (let index = 0; index < INNER_COUNT; index++) {
    const node = innerSiblings.subarray(index * INNER_LENGTH, (index + 1) * INNER_LENGTH)
    within(entry(index + 1), () => verifyCanonical(scheme, node))
  }
}

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
  const leafDigest = hasher.hash(path.opening)
  const siblingDigest = path.siblingLeaf === null ? zeroDigest() : hasher.hash(path.siblingLeaf)
  const inner = hasher.hashEach(path.innerSiblings, INNER_LENGTH)
  return hasher.climb(leafDigest, concatBytes(siblingDigest, reverseDigests(inner)), path.leafIndex)
}

/** The root of the tree whose 40 levels lead to `subRoot`: H(word(nextFreeNode) || subRoot). */
export function computeRoot(scheme: Scheme, nextFreeNode: number, subRoot: Uint8Array): Uint8Array {
  return scheme.hasher.hash(concatBytes(indexWord(scheme, nextFreeNode), subRoot))
}

/** From root-first to leaf-first. */
function reverseDigests(digests: Uint8Array): Uint8Array {
  const reversed = new Uint8Array(digests.length)
  for (let offset = 0; offset < digests.length; offset += DIGEST_LENGTH) {
    reversed.set(digests.subarray(offset, offset + DIGEST_LENGTH), digests.length - DIGEST_LENGTH - offset)
  }
  return reversed
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
