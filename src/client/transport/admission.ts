import { decodeQuantity } from '../../base/hex.ts'
import { type Admission, pickKnown, type Shape } from '../../base/json/known-fields.ts'
import { ETH_PROOF_SHAPE } from '../../verify/anchor/eth-proof.ts'
import { unwrapResponse } from '../../verify/proof/known-answer.ts'
import { parseError } from './diagnose.ts'
import { EndpointError } from './error.ts'
import { LISTS_DEPTH, MAX_ANSWER_LENGTH, MAX_PROOF_LENGTH } from './limits.ts'
import { admitText, type Redact } from './redact.ts'

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

/** Admits what an endpoint sends until the total exceeds `limit` characters. */
export function admissionOf(limit: number, redact: Redact): Admission {
  let left = limit
  return {
    charge(length) {
      left -= length
      if (left < 0) throw new EndpointError('RESPONSE_TOO_LARGE', { found: `more than ${limit} characters of proofs` })
    },
    // Every string in a proof is hexadecimal. Any other string is redacted, because the error that refuses it quotes it.
    admitText: text => (/^0x[0-9a-f]*$/i.test(text) && !redact.isInHex(text) ? text : admitText(text, redact)),
  }
}

/** For this many keys, with an account proof. */
export const answerLimit = (keyCount: number): number => Math.min((keyCount + 2) * MAX_PROOF_LENGTH, MAX_ANSWER_LENGTH)

/** The known fields of a result of this shape. If a provider returns the whole JSON-RPC response, it is unwrapped, once. */
export function admitAnswer(answer: unknown, limit: number, redact: Redact, shape: Shape): unknown {
  const { result, error } = unwrapResponse(answer)
  if (error !== undefined) throw parseError(error, {}, redact)
  // Servers say so of a block that another back end behind the same URL knows.
  if (result === null) throw new EndpointError('BLOCK_MISSING', { found: 'null in place of an answer' })
  const known = pickKnown(result, shape, admissionOf(limit, redact))
  return shape === ETH_PROOF_SHAPE ? withEmptyLists(known) : known
}
