import { readerOf } from '../json.ts'
import { RpcError } from '../rpc/error.ts'
import type { GetProofResult } from '../tree/answer.ts'

const reader = readerOf('MALFORMED_RESPONSE')

const LEAF_FIELDS = ['key', 'leafIndex', 'proof', 'leftLeafIndex', 'leftProof', 'rightLeafIndex', 'rightProof'] as const
const PROOF_FIELDS = ['value', 'proofRelatedNodes'] as const

/**
 * A copy of an answer that holds what verification reads and nothing else, to be verified and then handed on: whoever gets
 * it finds no field beside the proofs that looks proven and is not.
 *
 * @throws RpcError `ANSWER_MALFORMED`; the copy may still be anything
 */
export function copyAnswer(answer: unknown): GetProofResult {
  try {
    // Read once: what was verified must be what is handed on.
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

/** Arrays and texts are refused when the copy is verified. */
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
