import { type Decode, plainTree, type Tree } from '../proof/decode.ts'
import type { Scheme } from '../scheme/scheme.ts'
import type { TreeKind } from '../tree/kind.ts'
import { NODE_COUNT } from '../tree/path.ts'
import { rememberingHasher } from './hasher.ts'

/**
 * A tree that decodes and hashes as the plain one does, and remembers.
 *
 * @param digests how many digests it remembers, a power of two
 */
export function rememberingTree(scheme: Scheme, kind: TreeKind, digests: number): Tree {
  const hasher = rememberingHasher(scheme.hasher, digests)
  // Not a copy: a scheme may be one that inherits.
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
 * Remembers what stood last at each node: most of a path is the same from proof to proof. A text is found by comparing all
 * of it, so what is found is what decoding it again would give.
 */
export function rememberLast<T>(decode: Decode<T>): Decode<T> {
  interface Decoded {
    readonly hex: string
    readonly decoded: T
  }
  // Filled: the holes of an array show what stands on a polluted prototype.
  const last = new Array<Decoded | undefined>(NODE_COUNT).fill(undefined)
  return (hex, node) => {
    const recent = last[node]
    if (recent?.hex === hex) return recent.decoded
    const decoded = decode(hex, node)
    last[node] = { hex, decoded }
    return decoded
  }
}
