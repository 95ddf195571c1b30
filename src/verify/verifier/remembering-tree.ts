import type { Tree } from '../proof/tree.ts'
import { rememberLast } from './remember-last.ts'
import { rememberingHasher } from './shared-nodes.ts'

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
