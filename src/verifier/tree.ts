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
  const { decodeNode, decodeValue } = plainTree(remembering, kind)
  return { scheme: remembering, kind, decodeNode: rememberLast(decodeNode), decodeValue: rememberLast(decodeValue) }
}

/**
 * Remembers what stood last at each node: most of a path is the same from proof to proof. A text is found by comparing all
 * of it, so what is found is what decoding it again would give.
 */
export function rememberLast<T>(decode: Decode<T>): Decode<T> {
  interface Decoded {
    readonly hex: string
    readonly length: number
    readonly decoded: T
  }
  // Filled: the holes of an array show what stands on a polluted prototype.
  const last = new Array<Decoded | undefined>(NODE_COUNT).fill(undefined)
  return (hex, length, node) => {
    const recent = last[node]
    if (recent?.hex === hex && recent.length === length) return recent.decoded
    const decoded = decode(hex, length, node)
    last[node] = { hex, length, decoded }
    return decoded
  }
}
