import { concatBytes } from '../bytes.ts'
import type { Scheme } from '../scheme/scheme.ts'
import { encodeOpening, HEAD_INDEX, indexWord, type Leaf, TAIL_INDEX, TREE_DEPTH, zeroDigest } from './leaf.ts'
import type { TreeNode } from './path.ts'

/** The first index a new key takes. */
export const FIRST_FREE_NODE = 2

/** HEAD and TAIL of a tree without keys: they point at themselves and at each other. */
export function initialSentinels(scheme: Scheme): readonly [head: Leaf, tail: Leaf] {
  const hVal = zeroDigest()
  return [
    { prev: HEAD_INDEX, next: TAIL_INDEX, hKey: zeroDigest(), hVal },
    { prev: HEAD_INDEX, next: TAIL_INDEX, hKey: scheme.largestKey(), hVal },
  ]
}

/** The digests of subtrees whose leaves are all missing: entry 0 is a missing leaf, entry 40 the whole tree's top. */
export function emptySubtreeDigests({ hasher }: Scheme): Uint8Array[] {
  const digests = [zeroDigest()]
  let digest = zeroDigest()
  for (let level = 0; level < TREE_DEPTH; level++) {
    digest = hasher.hash(concatBytes(digest, digest))
    digests.push(digest)
  }
  return digests
}

/** The siblings in a path whose subtrees hold no leaf, as entries 1 to 39; index 0 is entry 1. */
export function emptyInnerNodes(scheme: Scheme): TreeNode[] {
  const digests = emptySubtreeDigests(scheme)
  const [, ...parents] = digests.slice(0, TREE_DEPTH)
  const nodes = parents.map((digest, index) => {
    const child = digests.slice(index, index + 1)
    return { preimage: concatBytes(...child, ...child), digest }
  })
  return nodes.reverse()
}

const emptyRoots = /* @__PURE__ */ new WeakMap<Scheme, Uint8Array>()

/** The root of a tree that holds HEAD and TAIL alone: the storage root of an account without storage. 32 bytes. */
export function emptyTreeRoot(scheme: Scheme): Uint8Array {
  const known = emptyRoots.get(scheme)
  if (known !== undefined) return known
  const { hasher } = scheme
  const [head, tail] = initialSentinels(scheme)
  const digestOf = (leaf: Leaf) => hasher.hash(encodeOpening(scheme, leaf))
  const [, ...upperSiblings] = emptySubtreeDigests(scheme).slice(0, TREE_DEPTH)
  const subRoot = hasher.climb(digestOf(head), [digestOf(tail), ...upperSiblings], HEAD_INDEX)
  const root = hasher.hash(concatBytes(indexWord(scheme, FIRST_FREE_NODE), subRoot))
  emptyRoots.set(scheme, root)
  return root
}
