import { bytesToHex, concatBytes, type Hex } from '../bytes.ts'
import type { Hasher } from '../hash/hasher.ts'

const LEVELS = 40

/** A sibling in a path whose subtree holds no leaf. */
export interface EmptySubtree {
  /** The preimage, as an answer spells it. */
  readonly hex: Hex
  /** The digests of the two children, 64 bytes. */
  readonly preimage: Uint8Array
  /** 32 bytes. */
  readonly digest: Uint8Array
}

/** The digests of subtrees whose leaves are all missing. Element 0 is a missing leaf, 32 zero bytes; element 40 the whole. */
export function emptySubtreeDigests({ hash }: Hasher): Uint8Array[] {
  const digests: Uint8Array[] = [new Uint8Array(32)]
  for (const digest of digests) if (digests.length <= LEVELS) digests.push(hash(concatBytes(digest, digest)))
  return digests
}

/** Nodes 1 to 39 of a path where all these subtrees are empty: the same in every tree, and most of most paths. */
export function emptySubtreesOf(hasher: Hasher): EmptySubtree[] {
  const [, ...digests] = emptySubtreeDigests(hasher).slice(0, LEVELS)
  let child: Uint8Array = new Uint8Array(32)
  const subtrees = digests.map(digest => {
    const preimage = concatBytes(child, child)
    child = digest
    return { hex: bytesToHex(preimage), preimage, digest }
  })
  return subtrees.reverse()
}

/** The empty subtrees, and a hasher that need not hash them: it knows the preimages where they stand in their places. */
export function hashingOf(hasher: Hasher): { hasher: Hasher; emptySubtrees: readonly EmptySubtree[] } {
  const emptySubtrees = emptySubtreesOf(hasher)
  const hashBatch = (messages: readonly Uint8Array[]): Uint8Array[] => {
    const known = messages.map((message, index) => {
      const subtree = emptySubtrees.at(index)
      return subtree?.preimage === message ? subtree.digest : undefined
    })
    const rest = hasher.hashBatch(messages.filter((_, index) => known[index] === undefined)).values()
    return known.flatMap(digest => digest ?? rest.next().value ?? [])
  }
  return { hasher: { ...hasher, hashBatch }, emptySubtrees }
}
