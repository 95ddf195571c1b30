import { isGiven, readOwn, type Shape } from '../../base/json/known-fields.ts'

const PROOF: Shape = { fields: { value: 'scalar', proofRelatedNodes: { items: 'scalar' } } }
const LEAF_PROOF = {
  fields: {
    key: 'scalar',
    leafIndex: 'scalar',
    proof: PROOF,
    leftLeafIndex: 'scalar',
    leftProof: PROOF,
    rightLeafIndex: 'scalar',
    rightProof: PROOF,
  },
} as const satisfies Shape

/** Tree format, "The proof". The last two fields identify an `eth_getProof` answer. */
export const ANSWER_SHAPE: Shape = {
  fields: {
    // In an `eth_getProof` answer it is a list of nodes.
    accountProof: { ...LEAF_PROOF, items: 'scalar' },
    storageProofs: { items: LEAF_PROOF },
    storageHash: 'scalar',
    storageProof: 'scalar',
  },
}

/** The result of a JSON-RPC response, or the answer itself if it is not one. A response inside the result is not opened. */
export function unwrapResponse(answer: unknown): { result: unknown; error: unknown } {
  const read = (name: string) => (typeof answer === 'object' && answer !== null ? readOwn(answer, name) : undefined)
  const [jsonrpc, result, error] = [read('jsonrpc'), read('result'), read('error')]
  if (isGiven(error)) return { result: undefined, error }
  return { result: isGiven(jsonrpc) || isGiven(result) ? result : answer, error: undefined }
}
