import type { Decode, Tree } from '../proof/tree.ts'
import { NODE_COUNT } from '../tree/path.ts'
import { rememberingHasher } from './remembering-hasher.ts'

/**
 * A tree that decodes and hashes like `tree`, with a memory.
 *
 * @param digests how many digests it remembers, a power of two
 */
export function rememberingTree(tree: Tree, digests: number): Tree {
  const hasher = rememberingHasher(tree.scheme.hasher, digests)
  return {
    // Inherits from the scheme, because a copy would lose members that the scheme itself inherits.
    scheme: Object.create(tree.scheme, { hasher: { value: hasher } }),
    kind: tree.kind,
    decodeRootNode: rememberLast(tree.decodeRootNode),
    decodeInner: rememberLast(tree.decodeInner),
    decodeSiblingLeaf: rememberLast(tree.decodeSiblingLeaf),
    decodeLeafNode: rememberLast(tree.decodeLeafNode),
    decodeValue: rememberLast(tree.decodeValue),
  }
}

/**
 * Remembers the last result at each node, because consecutive proofs share most of their path. It compares the whole text,
 * so a remembered result is what decoding the text again would give.
 */
export function rememberLast<T>(decode: Decode<T>): Decode<T> {
  interface Decoded {
    readonly hex: string
    readonly decoded: T
  }
  // Filled, because reading a hole consults Array.prototype, which may be polluted.
  const last = new Array<Decoded | undefined>(NODE_COUNT).fill(undefined)
  return (hex, node) => {
    const recent = last[node]
    if (recent?.hex === hex) return recent.decoded
    const decoded = decode(hex, node)
    last[node] = { hex, decoded }
    return decoded
  }
}
