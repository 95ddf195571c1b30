import { decodeQuantity } from '../../base/hex.ts'
import { readOwn } from '../../base/json/known-fields.ts'
import { LISTS_DEPTH } from './limits.ts'

/**
 * Servers write null for a list that is empty, and the parity of a signature in the old way beside the new one. Proofs and hashes
 * decide what is there, so such answers are put right before anything verifies them. The verifiers themselves take none of this.
 */

const LISTS = [
  ...['accountProof', 'storageProof', 'proof'],
  ...['accessList', 'blobVersionedHashes', 'authorizationList', 'logs', 'topics'],
]
/** The lists of objects that can hold such lists. */
const HOLDERS = ['storageProof', 'transactions', 'logs']

/** An answer with proofs, a block or receipts, with empty lists in place of null. Itself if it has none. */
export function withEmptyLists<T>(answer: T): T {
  try {
    // It stays what it was: only null becomes a list.
    return admit(answer, LISTS_DEPTH) as T
  } catch {
    // A provider of the caller may answer with anything, such as a proxy that throws. The verifier says so.
    return answer
  }
}

function admit(value: unknown, depth: number): unknown {
  if (depth === 0) return value
  if (Array.isArray(value)) {
    const items = value.map(item => admit(item, depth - 1))
    return items.every((item, index) => item === value[index]) ? value : items
  }
  if (typeof value !== 'object' || value === null) return value
  const changes = new Map<string, unknown>()
  for (const name of LISTS) if (readOwn(value, name) === null) changes.set(name, [])
  for (const name of HOLDERS) {
    const held = readOwn(value, name)
    const items = Array.isArray(held) ? admit(held, depth - 1) : held
    if (items !== held) changes.set(name, items)
  }
  const [type, v, yParity] = ['type', 'v', 'yParity'].map(name => decodeQuantity(readOwn(value, name), 64))
  if (type && v != null && yParity != null && v === yParity + 27n) changes.set('v', readOwn(value, 'yParity'))
  return changes.size === 0 ? value : { ...value, ...Object.fromEntries(changes) }
}
