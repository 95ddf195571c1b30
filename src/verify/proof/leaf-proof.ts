import { bytesToHex, compareBytes, equalBytes, isZero } from '../../base/bytes.ts'
import { atPath, ProofError, plural, refusal } from '../../base/errors.ts'
import type { HashScheme } from '../scheme/scheme.ts'
import { DIGEST_LENGTH, HEAD_INDEX, TAIL_INDEX, zeroDigest } from '../tree/leaf.ts'
import { mismatch, type Path, verifyPath } from '../tree/path.ts'
import type { DecodedLeafProof, DecodedProof } from './decode.ts'
import type { Tree } from './tree.ts'

// Each check of this file is a rule of test/soundness/Rules.v.

/** What a leaf proof is checked against: the trusted root and the requested key. */
export interface LeafClaim {
  readonly root: Uint8Array
  readonly key: Uint8Array
}

export interface ProvenLeaf {
  readonly leafIndex: number
  readonly value: Uint8Array
}

/** Tree format, "The proof" and "The list". @returns the leaf, or null if non-existence of the key is proven */
export function verifyLeafProof(tree: Tree, claim: LeafClaim, leafProof: DecodedLeafProof): ProvenLeaf | null {
  atPath('key', () => {
    if (!equalBytes(leafProof.key, claim.key)) throw mismatch('KEY_MISMATCH', claim.key, leafProof.key)
  })
  if (leafProof.claims === 'existence') return atPath('proof', () => verifyExisting(tree, claim, leafProof.proof))
  verifyNonExisting(tree, claim, leafProof.left, leafProof.right)
  return null
}

/** Existence: the path leads to the root, hKey is the hash of the key, and hVal is the hash of the value. */
function verifyExisting({ scheme, kind }: Tree, { root, key }: LeafClaim, proof: DecodedProof): ProvenLeaf {
  const { path, value, preimage } = proof
  verifySentinelPlace(scheme, path)
  verifyPath(scheme, path, root, kind.rootMismatch)
  const { hKey } = path.leafNode
  const keyHash = kind.hashKey(scheme, key)
  if (!equalBytes(hKey, keyHash)) throw mismatch('LEAF_KEY_MISMATCH', keyHash, hKey)
  atPath('value', () => {
    verifyValueHash(path, scheme.hasher.hash(preimage))
    kind.verifyStorable(value)
  })
  return { leafIndex: path.leafIndex, value }
}

/** Non-existence: both paths lead to the same root, the leaves are neighbours, and the key hash lies between theirs. */
function verifyNonExisting(tree: Tree, { root, key }: LeafClaim, left: DecodedProof, right: DecodedProof): void {
  atPath('leftProof', () => verifyNeighbour(tree, root, left))
  atPath('rightProof', () => verifyNeighbour(tree, root, right))
  verifyAdjacent(left.path, right.path)
  const keyHash = tree.kind.hashKey(tree.scheme, key)
  const [{ hKey: leftKey }, { hKey: rightKey }] = [left.path.leafNode, right.path.leafNode]
  const notBetween = (expected: string) => refusal('KEY_NOT_BETWEEN', expected, bytesToHex(keyHash))
  if (compareBytes(leftKey, keyHash) >= 0) throw notBetween(`above ${bytesToHex(leftKey)}`)
  if (compareBytes(keyHash, rightKey) >= 0) throw notBetween(`below ${bytesToHex(rightKey)}`)
}

function verifyNeighbour({ scheme, kind }: Tree, root: Uint8Array, { path, value, preimage }: DecodedProof): void {
  verifySentinelPlace(scheme, path)
  verifyPath(scheme, path, root, kind.rootMismatch)
  atPath('value', () => {
    const isSentinel = path.leafIndex === HEAD_INDEX || path.leafIndex === TAIL_INDEX
    const length = isSentinel ? DIGEST_LENGTH : kind.valueLength
    if (value.length !== length) throw refusal('WRONG_LENGTH', `${length} bytes`, plural(value.length, 'byte'))
    if (isSentinel && !isZero(value)) throw mismatch('VALUE_MISMATCH', zeroDigest(), value)
    verifyValueHash(path, isSentinel ? zeroDigest() : scheme.hasher.hash(preimage))
  })
}

function verifyValueHash({ leafNode: { hVal } }: Path, valueHash: Uint8Array): void {
  if (!equalBytes(hVal, valueHash)) throw mismatch('VALUE_MISMATCH', hVal, valueHash)
}

/** The key of HEAD is at index 0 and nowhere else, the key of TAIL at index 1 and nowhere else. */
function verifySentinelPlace(scheme: HashScheme, { leafIndex, leafNode: { hKey } }: Path): void {
  const isHead = isZero(hKey)
  const isTail = equalBytes(hKey, scheme.tailKey())
  if (isHead !== (leafIndex === HEAD_INDEX) || isTail !== (leafIndex === TAIL_INDEX)) {
    const found = isHead ? 'the key of HEAD' : isTail ? 'the key of TAIL' : 'the key of neither HEAD nor TAIL'
    throw new ProofError('SENTINEL_MISPLACED', { found: `${found} at index ${leafIndex}` })
  }
}

function verifyAdjacent(left: Path, right: Path): void {
  const [{ next }, { prev }] = [left.leafNode, right.leafNode]
  if (next !== right.leafIndex) throw refusal('NOT_ADJACENT', `left.next = ${right.leafIndex}`, next)
  if (prev !== left.leafIndex) throw refusal('NOT_ADJACENT', `right.prev = ${left.leafIndex}`, prev)
}
