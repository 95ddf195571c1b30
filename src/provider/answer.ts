import { readerOf } from '../json/reader.ts'
import { RpcError } from '../rpc/error.ts'
import type { GetProofResult } from '../tree/answer.ts'

const reader = readerOf('MALFORMED_RESPONSE')

const LEAF_FIELDS = ['key', 'leafIndex', 'proof', 'leftLeafIndex', 'leftProof', 'rightLeafIndex', 'rightProof'] as const
const PROOF_FIELDS = ['value', 'proofRelatedNodes'] as const

/**
 * Copies only the fields of an answer that verification reads. Verify the copy before you return it to the client. Then no
 * field reaches the client that looks proven but is not.
 *
 * @throws RpcError `ANSWER_MALFORMED`; a copy that is returned may still be malformed
 */
export function copyAnswer(answer: unknown): GetProofResult {
  try {
    // Read the answer only once, because what is verified must be what the client gets.
    const json: unknown = JSON.parse(JSON.stringify(answer))
    const { result } = reader.fields(json, ['result'])
    const { accountProof, storageProofs } = reader.fields(result ?? json, ['accountProof', 'storageProofs'])
    const copied: unknown = {
      accountProof: copyLeaf(accountProof),
      storageProofs: Array.isArray(storageProofs) ? storageProofs.map(copyLeaf) : storageProofs,
    }
    return copied as GetProofResult
  } catch {
    throw new RpcError('ANSWER_MALFORMED', { found: 'something that is not an answer to this method', layer: 'L2' })
  }
}

/** Verification of the copy refuses arrays and strings. */
const isFields = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)

function copyLeaf(leaf: unknown): unknown {
  if (!isFields(leaf)) return leaf
  const fields = pick(leaf, LEAF_FIELDS)
  for (const name of ['proof', 'leftProof', 'rightProof']) {
    const proof = fields[name]
    if (isFields(proof)) fields[name] = pick(proof, PROOF_FIELDS)
  }
  return fields
}

function pick(source: unknown, names: readonly string[]): Record<string, unknown> {
  const fields = reader.fields(source, names)
  return Object.fromEntries(names.flatMap(name => (fields[name] === undefined ? [] : [[name, fields[name]]])))
}
