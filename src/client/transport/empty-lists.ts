import { decodeQuantity } from '../../base/hex.ts'
import { LISTS_DEPTH } from './limits.ts'

/**
 * Servers write null for a list that is empty, and the parity of a signature in the old way beside the new one. Proofs and hashes
 * decide what is there, so such answers are put right before anything verifies them. The verifiers themselves take none of this.
 */

const LISTS = [
  'accountProof',
  'storageProof',
  'proof',
  'accessList',
  'blobVersionedHashes',
  'authorizationList',
  'logs',
  'topics',
]
/** The lists of objects that can hold such lists. */
const HOLDERS = ['storageProof', 'transactions', 'logs']

/** A copy of an answer with proofs, a block or receipts, with empty lists in place of null. */
export function withEmptyLists(answer: unknown): unknown {
  try {
    return admit(answer, LISTS_DEPTH)
  } catch {
    // A provider of the caller may answer with anything, such as a proxy that throws. The verifier says so.
    return answer
  }
}

function admit(value: unknown, depth: number): unknown {
  if (depth === 0 || typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(item => admit(item, depth - 1))
  const copy: Record<string, unknown> = { ...value }
  for (const name of LISTS) if (copy[name] === null) copy[name] = []
  for (const name of HOLDERS) if (Array.isArray(copy[name])) copy[name] = admit(copy[name], depth - 1)
  const [type, v, yParity] = ['type', 'v', 'yParity'].map(name => decodeQuantity(copy[name], 64))
  if (type && v != null && yParity != null && v === yParity + 27n) copy['v'] = copy['yParity']
  return copy
}
