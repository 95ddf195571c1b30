import type { Hasher } from '../hash/hasher.ts'
import { zeroDigest } from '../tree/leaf.ts'

/** The digests of `messages`: those that `recall` returns, and those that `hashBatch` computes where it returns undefined. */
export function hashUnknown(
  messages: readonly Uint8Array[],
  recall: (message: Uint8Array, index: number) => Uint8Array | undefined,
  hashBatch: Hasher['hashBatch'],
): Uint8Array[] {
  const digests: Uint8Array[] = []
  const unknown: Uint8Array[] = []
  const places: number[] = []
  const pending = zeroDigest()
  for (const [index, message] of messages.entries()) {
    const digest = recall(message, index)
    digests.push(digest ?? pending)
    if (digest !== undefined) continue
    unknown.push(message)
    places.push(index)
  }
  if (unknown.length === 0) return digests
  const hashed = hashBatch(unknown)
  // There are as many digests as messages.
  for (const [index, place] of places.entries()) digests[place] = hashed[index] as Uint8Array
  return digests
}
