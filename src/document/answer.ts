import { mimc } from '../scheme/mimc.ts'
import { poseidon2 } from '../scheme/poseidon2.ts'
import type { HashScheme } from '../scheme/scheme.ts'
import { isHexOf, LEAF_NODE, leafLength } from './layout.ts'
import { type Fields, fieldsOf, isGiven, isObject, itemsOf } from './value.ts'

/** What an answer itself says was asked. The user stated none of it. */

const schemes: readonly HashScheme[] = [mimc, poseidon2]

export const schemeNamed = (name: unknown): HashScheme | undefined => schemes.find(scheme => scheme.name === name)

/** The result inside a JSON-RPC response, or the bare answer itself, as the verifier reads it. */
export function resultIn(answer: unknown): Fields {
  const fields = fieldsOf(answer)
  const { jsonrpc, result } = fields
  return isGiven(jsonrpc) || isGiven(result) ? fieldsOf(result) : fields
}

export const storageProofsIn = (answer: unknown): readonly unknown[] => {
  const { storageProofs } = resultIn(answer)
  return itemsOf(storageProofs)
}

/** The leaf proof of the account at index 0, and of the slots from index 1. */
export function leafProofAt(answer: unknown, index: number): unknown {
  const { accountProof } = resultIn(answer)
  return index === 0 ? accountProof : storageProofsIn(answer)[index - 1]
}

/** The paths that a leaf proof can hold, each with the field of its leaf index. */
export const leafPaths = [
  { proof: 'proof', index: 'leafIndex' },
  { proof: 'leftProof', index: 'leftLeafIndex' },
  { proof: 'rightProof', index: 'rightLeafIndex' },
] as const
export type LeafPath = (typeof leafPaths)[number]

/** The claim that a leaf proof makes by its shape. */
export type LeafForm = 'existence' | 'non-existence' | 'neither' | 'both'

export function formOf(leafProof: unknown): LeafForm {
  const fields = fieldsOf(leafProof)
  const [exists = false, ...neighbours] = leafPaths.map(
    ({ proof, index }) => isGiven(fields[index]) || isGiven(fields[proof]),
  )
  const isAbsent = neighbours.some(given => given)
  if (exists === isAbsent) return exists ? 'both' : 'neither'
  return exists ? 'existence' : 'non-existence'
}

/** The scheme by the length of the leaf; undefined if no scheme has leaves of that length. */
export function guessScheme(leafProof: unknown): HashScheme | undefined {
  const { proof, leftProof } = fieldsOf(leafProof)
  return guessSchemeOfPath(isGiven(proof) ? proof : leftProof)
}

/** {@link guessScheme}, for one `proof`, `leftProof` or `rightProof`. */
export function guessSchemeOfPath(proof: unknown): HashScheme | undefined {
  const { proofRelatedNodes } = fieldsOf(proof)
  const leaf = itemsOf(proofRelatedNodes)[LEAF_NODE]
  return schemes.find(scheme => typeof leaf === 'string' && leaf.length === 2 + 2 * leafLength(scheme))
}

/** The address that the answer says it is for; undefined if it names none. */
export function addressIn(answer: unknown): string | undefined {
  const { key } = fieldsOf(leafProofAt(answer, 0))
  return isHexOf(20, key) ? key : undefined
}

/** The storage keys that the answer says it is for, or the index of the first storage proof that names none. */
export function storageKeysIn(answer: unknown): readonly string[] | number {
  const keys: string[] = []
  for (const [index, proof] of storageProofsIn(answer).entries()) {
    const { key } = isObject(proof) ? fieldsOf(proof) : {}
    if (!isHexOf(32, key)) return index
    keys.push(key)
  }
  return keys
}
