import { type Decode, plainTree, type Tree } from '../proof/decode.ts'
import type { Scheme } from '../scheme/scheme.ts'
import type { TreeKind } from '../tree/kind.ts'
import { NODE_COUNT } from '../tree/path.ts'
import { rememberingHasher } from './hasher.ts'

/**
 * A tree that decodes and hashes like the plain one, with a cache.
 *
 * @param digests how many digests it remembers, a power of two
 */
export function rememberingTree(scheme: Scheme, kind: TreeKind, digests: number): Tree {
  const hasher = rememberingHasher(scheme.hasher, digests)
  // Inherits from the scheme, because a copy would lose members that the scheme itself inherits.
  const remembering: Scheme = Object.create(scheme, { hasher: { value: hasher } })
  const plain = plainTree(remembering, kind)
  return {
    scheme: remembering,
    kind,
    decodeRootNode: rememberLast(plain.decodeRootNode),
    decodeInner: rememberLast(plain.decodeInner),
    decodeSiblingLeaf: rememberLast(plain.decodeSiblingLeaf),
    decodeLeafNode: rememberLast(plain.decodeLeafNode),
    decodeValue: rememberLast(plain.decodeValue),
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
