import { byteAt, bytesToHex, concatBytes, equalBytes } from '../../base/bytes.ts'
import type { Hasher } from '../hash/hasher.ts'
import { plainTrees, type Tree, type Trees } from '../proof/tree.ts'
import type { HashScheme } from '../scheme/scheme.ts'
import { TREE_DEPTH, zeroDigest } from '../tree/leaf.ts'
import { INNER_LENGTH } from '../tree/path.ts'
import { hashUnknown, withHasher } from './shared-nodes.ts'

/** The digests of subtrees whose leaves are all missing. Element 0 is a missing leaf, 32 zero bytes; element 40 an empty tree. */
export function emptySubtreeDigests({ hash }: Pick<Hasher, 'hash'>): Uint8Array[] {
  const digests = [zeroDigest()]
  for (const digest of digests) if (digests.length <= TREE_DEPTH) digests.push(hash(concatBytes(digest, digest)))
  return digests
}

const treesOfSchemes = /* @__PURE__ */ new WeakMap<HashScheme, Trees>()

/** The plain trees, which also know the empty subtrees. They are made once per scheme. */
export function quickTrees(scheme: HashScheme): Trees {
  const made = treesOfSchemes.get(scheme)
  if (made !== undefined) return made
  const { account, storage } = plainTrees(scheme)
  const subtrees = emptySubtrees(scheme.hasher)
  const trees = { account: knowSubtrees(account, subtrees), storage: knowSubtrees(storage, subtrees) }
  treesOfSchemes.set(scheme, trees)
  return trees
}

/**
 * The subtrees whose leaves are all missing, by their nodes in `proofRelatedNodes`: node 1 is of height 39, node 39 of height 1. Each as
 * served, the message that its node spells, and the hash of this message.
 */
export function emptySubtrees(hasher: Hasher) {
  const digests = emptySubtreeDigests(hasher)
  const subtrees = digests.slice(0, TREE_DEPTH - 1).map((child, height) => {
    const preimage = concatBytes(child, child)
    // The list is longer than the part of it that is mapped.
    const digest = digests[height + 1] as Uint8Array
    return [TREE_DEPTH - 1 - height, { hex: bytesToHex(preimage), preimage, digest }] as const
  })
  return new Map(subtrees)
}

/**
 * A tree that decodes and hashes like `tree`, but neither decodes nor hashes `subtrees`. Above the highest leaf index in use,
 * all siblings on a path are empty, and the same in every tree. A node is known by its whole text, a message by all its bytes.
 */
export function knowSubtrees(tree: Tree, subtrees: ReturnType<typeof emptySubtrees>): Tree {
  const { hasher } = tree.scheme
  const byEnd = new Map([...subtrees.values()].map(subtree => [endOf(subtree.preimage), subtree]))
  const recall = (message: Uint8Array): Uint8Array | undefined => {
    const subtree = byEnd.get(endOf(message))
    if (subtree === undefined) return undefined
    // The bytes decide. The first comparison only saves time, because `decodeInner` returns this very array.
    return subtree.preimage === message || equalBytes(subtree.preimage, message) ? subtree.digest : undefined
  }
  const knowing: Hasher = { ...hasher, hashBatch: messages => hashUnknown(messages, recall, hasher.hashBatch) }
  return {
    ...tree,
    scheme: withHasher(tree.scheme, knowing),
    decodeInner(hex, node) {
      const subtree = subtrees.get(node)
      return subtree?.hex === hex ? subtree.preimage : tree.decodeInner(hex, node)
    },
  }
}

/** Enough to tell the empty subtrees apart: two that share it cost only time. */
const endOf = (message: Uint8Array): number =>
  byteAt(message, INNER_LENGTH - 2) * 256 + byteAt(message, INNER_LENGTH - 1)
