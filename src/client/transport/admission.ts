import { type Admission, pickKnown, type Shape } from '../../base/json/known-fields.ts'
import { ETH_PROOF_SHAPE } from '../../verify/anchor/eth-proof.ts'
import { unwrapResponse } from '../../verify/proof/known-answer.ts'
import { parseError } from './diagnose.ts'
import { withEmptyLists } from './empty-lists.ts'
import { EndpointError } from './error.ts'
import { MAX_ANSWER_LENGTH, MAX_PROOF_LENGTH } from './limits.ts'
import { admitText, type Redact } from './redact.ts'

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
