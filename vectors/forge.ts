import { bytesToHex, concatBytes, hexToBytes } from '../src/base/bytes.ts'
import { hashSubtree, pathNodes, putLeaf, type Subtree } from '../src/devnet/world/sparse.ts'
import { initialSentinels } from '../src/devnet/world/tree.ts'
import type { Hex, Scheme } from '../src/entry/index.ts'
import { hashSchemeOf } from '../src/verify/scheme/scheme.ts'
import { encodeOpening, indexWord } from '../src/verify/tree/encode.ts'
import { HEAD_INDEX, type Leaf, TAIL_INDEX } from '../src/verify/tree/leaf.ts'
import { emptySubtreeDigests } from '../src/verify/verifier/empty-subtrees.ts'

/** An answer as a forger sees it: every field can be changed, whatever its form. */
export interface LooseAnswer {
  accountProof: LooseLeafProof
  storageProofs: LooseLeafProof[]
}

export interface LooseLeafProof {
  key: string
  leafIndex: number
  proof: LooseProof
  leftLeafIndex: number
  leftProof: LooseProof
  rightLeafIndex: number
  rightProof: LooseProof
}

export interface LooseProof {
  value: string
  proofRelatedNodes: string[]
}

/** Lengths in bytes that differ between the schemes, and the size of an element. */
export function layoutOf(scheme: Scheme) {
  const isMimc = scheme.name === 'mimc'
  const word = isMimc ? 32 : 64
  return {
    word,
    opening: 2 * word + 64,
    otherOpening: isMimc ? 192 : 128,
    /** Offsets inside a leaf opening. */
    prev: 0,
    next: word,
    hKey: 2 * word,
    hVal: 2 * word + 32,
    /** The bytes of a field element, the elements of a digest, and the modulus. */
    element: isMimc ? 32 : 4,
    elements: isMimc ? 1 : 8,
    modulus: isMimc ? 0x12ab655e9a2ca55660b44d1e5c37b00159aa76fed00000010a11800000000001n : 0x7f000001n,
  }
}

/** `hex` with the big-endian integer in the `length` bytes at `offset` replaced by the result of `change`. */
export function changeInteger(hex: string, offset: number, length: number, change: (x: bigint) => bigint): Hex {
  const [start, end] = [2 + 2 * offset, 2 + 2 * (offset + length)]
  const changed = change(BigInt(`0x${hex.slice(start, end)}`))
  return `0x${hex.slice(2, start)}${changed.toString(16).padStart(2 * length, '0')}${hex.slice(end)}`
}

/** `hex` with the field element at `offset` in its other encoding: increased by the modulus, with the same length. */
export function lift(scheme: Scheme, hex: string, offset: number): Hex {
  const { element, modulus } = layoutOf(scheme)
  return changeInteger(hex, offset, element, x => x + modulus)
}

export const flipBit = (hex: string, offset: number): Hex => changeInteger(hex, offset, 1, x => x ^ 1n)

/** `length` bytes of `hex` from `offset`. */
export const slice = (hex: string, offset: number, length: number): Hex =>
  `0x${hex.slice(2 + 2 * offset, 2 + 2 * (offset + length))}`

export const zeros = (length: number): Hex => `0x${'00'.repeat(length)}`

export const digestOf = (scheme: Scheme, preimage: string): Hex =>
  bytesToHex(hashSchemeOf(scheme).hasher.hash(hexToBytes(preimage, preimage.length / 2 - 1)))

/** A leaf at an index of the forger's choice. */
export interface PlantedLeaf {
  index: number
  prev: number
  next: number
  /** 32 bytes. */
  hKey: string
  /** 32 bytes. */
  hVal: string
  value: string
}

/**
 * A tree with exactly these leaves, whether or not they form a sorted list, and its true root and paths. No honest service
 * has such a tree. It isolates a single check, because everything else about it is in order.
 */
export function plantTree(genuine: Scheme, planted: readonly PlantedLeaf[], nextFreeNode: number) {
  const scheme = hashSchemeOf(genuine)
  const toLeaf = ({ prev, next, hKey, hVal }: PlantedLeaf): Leaf => ({
    prev,
    next,
    hKey: hexToBytes(hKey, 32),
    hVal: hexToBytes(hVal, 32),
  })
  const hashing = {
    hasher: scheme.hasher,
    encodeLeaf: (leaf: Leaf) => encodeOpening(scheme, leaf),
    emptyDigests: emptySubtreeDigests(scheme.hasher),
  }
  const top = planted.reduce<Subtree<Leaf>>((tree, leaf) => putLeaf(tree, leaf.index, toLeaf(leaf)), null)
  const node0 = concatBytes(indexWord(scheme, nextFreeNode), hashSubtree(hashing, top))
  return {
    root: bytesToHex(scheme.hasher.hash(node0)),
    prove: (index: number): LooseProof => ({
      value: planted.find(leaf => leaf.index === index)?.value ?? '0x',
      proofRelatedNodes: [node0, ...pathNodes(hashing, top, index)].map(bytesToHex),
    }),
  }
}

/** HEAD and TAIL with neighbours of the forger's choice. */
export function plantSentinels(scheme: Scheme, afterHead: number, beforeTail: number): [PlantedLeaf, PlantedLeaf] {
  const [head, tail] = initialSentinels(hashSchemeOf(scheme))
  const bare = { hVal: zeros(32), value: zeros(32) }
  return [
    { index: HEAD_INDEX, prev: HEAD_INDEX, next: afterHead, hKey: bytesToHex(head.hKey), ...bare },
    { index: TAIL_INDEX, prev: beforeTail, next: TAIL_INDEX, hKey: bytesToHex(tail.hKey), ...bare },
  ]
}
