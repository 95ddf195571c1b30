import { mimc } from '../../verify/scheme/mimc.ts'
import { poseidon2 } from '../../verify/scheme/poseidon2.ts'
import type { HashScheme } from '../../verify/scheme/scheme.ts'
import { ETHEREUM, type StateClaim, type StateKind, stateKind } from '../../verify/state/kind.ts'
import type { AnswerFile, StatedClaim } from './input-file.ts'
import { isHexOf, LEAF_NODE, leafLength } from './layout.ts'
import { type Fields, fieldIn, fieldsOf, isGiven, isObject, itemsOf } from './value.ts'

/** What an answer itself says was asked. The user stated none of it. */

const schemes: readonly HashScheme[] = [mimc, poseidon2]
const kinds: readonly StateKind[] = [...schemes.map(stateKind), stateKind(ETHEREUM)]

export const schemeNamed = (name: unknown): HashScheme | undefined => schemes.find(scheme => scheme.name === name)

export const kindNamed = (name: unknown): StateKind | undefined => kinds.find(kind => kind.name === name)
export const kindNames: readonly string[] = kinds.map(({ name }) => name)

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

/** Whether it is an `eth_getProof` answer: its account proof is a list of nodes. */
export const isEthAnswer = (answer: unknown): boolean => Array.isArray(leafProofAt(answer, 0))

/** The leaf proof of the account at index 0, and of the slots from index 1. */
export function leafProofAt(answer: unknown, index: number): unknown {
  const { accountProof } = resultIn(answer)
  return index === 0 ? accountProof : storageProofsIn(answer)[index - 1]
}

export const leafPaths = [
  { proof: 'proof', index: 'leafIndex' },
  { proof: 'leftProof', index: 'leftLeafIndex' },
  { proof: 'rightProof', index: 'rightLeafIndex' },
] as const
export type LeafPath = (typeof leafPaths)[number]

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

/** The kind of the state by the form of the answer; undefined if it has none of the forms. */
export const guessKind = (answer: unknown): StateKind | undefined =>
  isEthAnswer(answer) ? kindNamed(ETHEREUM) : kindNamed(guessScheme(leafProofAt(answer, 0))?.name)

/** The address that the answer says it is for; undefined if it names none. */
export function addressIn(answer: unknown): string | undefined {
  const { key } = isEthAnswer(answer) ? { key: fieldIn(resultIn(answer), 'address') } : fieldsOf(leafProofAt(answer, 0))
  return isHexOf(20, key) ? key : undefined
}

/** The storage keys that the answer says it is for, or the index of the first storage proof that names none. */
export function storageKeysIn(answer: unknown): readonly string[] | number {
  const keys: string[] = []
  const isEth = isEthAnswer(answer)
  const proofs = isEth ? itemsOf(fieldIn(resultIn(answer), 'storageProof')) : storageProofsIn(answer)
  for (const [index, proof] of proofs.entries()) {
    const { key } = isObject(proof) ? fieldsOf(proof) : {}
    const word = isEth ? wordOf(key) : key
    if (!isHexOf(32, word)) return index
    keys.push(word)
  }
  return keys
}

/** Endpoints send the keys of `eth_getProof` as quantities, too. */
const wordOf = (key: unknown): unknown =>
  typeof key === 'string' && /^0x[0-9a-f]{1,64}$/i.test(key) ? `0x${key.slice(2).padStart(64, '0')}` : key

export type ClaimField = keyof StateClaim

/**
 * Who stated it: the user, who typed it or compared it with a source of their own; the vector or recording; the verified answer
 * or bundle itself; or an endpoint. A scheme that nobody states is found by the form of the answer: the lengths of its nodes.
 */
export type Source = 'user' | 'default' | 'confirmed' | 'file' | 'answer' | 'bundle' | 'endpoint' | 'lengths'

export interface ClaimWithSources {
  readonly claim: StateClaim
  readonly sources: Readonly<Record<ClaimField, Source>>
}

export interface ClaimProblem {
  readonly problem: ClaimField
  /** The unknown scheme, or the index of a storage proof that names no key. Undefined if nobody states anything. */
  readonly found?: unknown
}

export const isProblem = (claim: ClaimWithSources | ClaimProblem): claim is ClaimProblem => 'problem' in claim

/** Completes the claim: what the user states overrides the file, and the answer itself is the last resort. */
export function completeClaim(stated: StatedClaim, file: AnswerFile): ClaimWithSources | ClaimProblem {
  const pick = (name: ClaimField): { value: unknown; source: Source } => {
    if (stated[name] !== undefined) return { value: stated[name], source: 'user' }
    return { value: file.stated[name] ?? undefined, source: file.stated[name] == null ? 'answer' : 'file' }
  }
  const [stateRoot, address] = [pick('stateRoot'), pick('address')]
  const storageKeys = pick('storageKeys')
  const named = pick('scheme')
  const guess = named.value === undefined ? guessKind(file.answer) : undefined
  const scheme = guess === undefined ? named : { value: guess.name, source: 'lengths' as const }
  const known = kindNamed(scheme.value)
  if (known === undefined) return { problem: 'scheme', found: scheme.value }
  if (stateRoot.value === undefined) return { problem: 'stateRoot' }
  const servedKeys = storageKeys.value ?? storageKeysIn(file.answer)
  if (typeof servedKeys === 'number' && storageKeys.value === undefined)
    return { problem: 'storageKeys', found: servedKeys }
  return {
    claim: {
      scheme: known.scheme,
      stateRoot: stateRoot.value,
      // If the answer has no readable key, any address will do: decoding refuses it before the keys are compared.
      address: address.value ?? addressIn(file.answer) ?? `0x${'00'.repeat(20)}`,
      storageKeys: servedKeys,
      // Despite the type, this is unchecked: verifyProof refuses a malformed claim with an ArgumentError.
    } as unknown as StateClaim,
    sources: {
      scheme: scheme.source,
      stateRoot: stateRoot.source,
      address: address.source,
      storageKeys: storageKeys.source,
    },
  }
}
