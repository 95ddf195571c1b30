import { bytesToHex, concatBytes, type Hex } from '../bytes.ts'
import type { Hasher } from './hasher.ts'

const LEVELS = 40

/** The digests of subtrees whose leaves are all missing. Element 0 is a missing leaf, 32 zero bytes; element 40 an empty tree. */
export function emptySubtreeDigests({ hash }: Pick<Hasher, 'hash'>): Uint8Array[] {
  const digests: Uint8Array[] = [new Uint8Array(32)]
  for (const digest of digests) if (digests.length <= LEVELS) digests.push(hash(concatBytes(digest, digest)))
  return digests
}

interface EmptySubtree {
  readonly hex: Hex
  readonly preimage: Uint8Array
  readonly digest: Uint8Array
}

/**
 * A hasher that knows the digests of empty subtrees, because above the highest leaf index in use, all siblings are empty. It
 * recognizes the preimage of an empty subtree by its text and its place among nodes 1 to 39, and does not hash it again.
 */
export function knowEmptySubtrees(hasher: Hasher): Hasher {
  let known: readonly EmptySubtree[] | undefined
  const subtreeAt = (node: number): EmptySubtree | undefined => {
    known ??= emptySubtreesFromTheTop(hasher)
    // `at`, because an index past the end would read a polluted prototype.
    return node > 0 ? known.at(node - 1) : undefined
  }
  return {
    ...hasher,
    knownPreimage(node, hex) {
      const subtree = subtreeAt(node)
      return subtree?.hex === hex ? subtree.preimage : undefined
    },
    hashBatch(messages) {
      const isKnown = (message: Uint8Array, index: number) => subtreeAt(index + 1)?.preimage === message
      const digests = hasher.hashBatch(messages.filter((message, index) => !isKnown(message, index)))
      // Insert each known digest in its place among the others.
      for (const [index, message] of messages.entries()) {
        const subtree = subtreeAt(index + 1)
        if (subtree?.preimage === message) digests.splice(index, 0, subtree.digest)
      }
      return digests
    },
  }
}

/** The empty subtrees of heights 39 down to 1. */
function emptySubtreesFromTheTop(hasher: Hasher): EmptySubtree[] {
  const digests = emptySubtreeDigests(hasher).slice(0, LEVELS)
  const subtrees = digests.slice(1).map((digest, height) => {
    const child = digests[height] ?? digest
    const preimage = concatBytes(child, child)
    return { hex: bytesToHex(preimage), preimage, digest }
  })
  return subtrees.reverse()
}
