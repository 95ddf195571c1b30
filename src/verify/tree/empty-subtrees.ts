import { concatBytes } from '../../base/bytes.ts'
import type { Hasher } from '../hash/hasher.ts'
import { TREE_DEPTH, zeroDigest } from './leaf.ts'

/** The digests of subtrees whose leaves are all missing. Element 0 is a missing leaf, 32 zero bytes; element 40 an empty tree. */
export function emptySubtreeDigests({ hash }: Pick<Hasher, 'hash'>): Uint8Array[] {
  const digests = [zeroDigest()]
  for (const digest of digests) if (digests.length <= TREE_DEPTH) digests.push(hash(concatBytes(digest, digest)))
  return digests
}
