import type { Hasher } from '../hash/hasher.ts'
import { zeroDigest } from '../tree/leaf.ts'

/** The digests of `messages`: those that `recall` returns, and those that `hashBatch` computes where it returns undefined. */
export function hashUnknown(
  messages: readonly Uint8Array[],
  recall: (message: Uint8Array, index: number) => Uint8Array | undefined,
  hashBatch: Hasher['hashBatch'],
): Uint8Array[] {
  const unknown: Uint8Array[] = []
  const pending = zeroDigest()
  const digests = messages.map((message, index) => {
    const digest = recall(message, index)
    if (digest === undefined) unknown.push(message)
    return digest ?? pending
  })
  if (unknown.length === 0) return digests
  const hashed = hashBatch(unknown)
  let next = 0
  for (let index = 0; index < digests.length; index++) {
    // There are as many digests as messages: otherwise, nothing is verified.
    if (digests[index] === pending) digests[index] = hashed[next++] ?? pending
  }
  return digests
}
