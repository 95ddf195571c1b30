import { concatBytes, equalBytes } from '../bytes.ts'
import type { Hasher } from './hasher.ts'

const LEVELS = 40

/** The digests of subtrees whose leaves are all missing. Element 0 is a missing leaf, 32 zero bytes; element 40 the whole. */
export function emptySubtreeDigests({ hash }: Pick<Hasher, 'hash'>): Uint8Array[] {
  const digests: Uint8Array[] = [new Uint8Array(32)]
  for (const digest of digests) if (digests.length <= LEVELS) digests.push(hash(concatBytes(digest, digest)))
  return digests
}

/**
 * A hasher that knows the empty subtrees: above the highest leaf index in use, the siblings are the same in every tree. Where
 * such a preimage stands in its place among nodes 1 to 39, it is compared instead of hashed. The digests are those of `hasher`.
 */
export function knowEmptySubtrees(hasher: Hasher): Hasher {
  let known: readonly { readonly preimage: Uint8Array; readonly digest: Uint8Array }[] | undefined
  const digestAt = (place: number, preimage: Uint8Array): Uint8Array | undefined => {
    known ??= emptySubtreesFromTheTop(hasher)
    // `at`, since an index past the end would read a polluted prototype.
    const subtree = known.at(place)
    return subtree !== undefined && equalBytes(subtree.preimage, preimage) ? subtree.digest : undefined
  }
  return {
    ...hasher,
    hashBatch(messages) {
      const digests = messages.map((message, place) => digestAt(place, message))
      const rest = hasher.hashBatch(messages.filter((_, place) => digests[place] === undefined)).values()
      return digests.flatMap(digest => digest ?? rest.next().value ?? [])
    },
  }
}

/** Of the heights 39 to 1. */
function emptySubtreesFromTheTop(hasher: Hasher) {
  const digests = emptySubtreeDigests(hasher).slice(0, LEVELS)
  const subtrees = digests.slice(1).map((digest, height) => {
    const child = digests[height] ?? digest
    return { preimage: concatBytes(child, child), digest }
  })
  return subtrees.reverse()
}
