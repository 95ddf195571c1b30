import { excerpt, ProofError, refusal } from '../../base/errors.ts'
import { decodeQuantity, encodeQuantity } from '../../base/hex.ts'
import { type Admission, pickKnown, type Shape } from '../../base/json/known-fields.ts'
import { readerOf } from '../../base/json/reader.ts'
import { MAX_PROOF_LENGTH } from './limits.ts'

/** What reads and writes the fields of bundles. */

export const reader = /* @__PURE__ */ readerOf('EVIDENCE_MALFORMED')

/** A quantity in lower case: in a bundle, each number has one spelling. */
export const quantityOf =
  (bits: number) =>
  (value: unknown): bigint => {
    const text = reader.string(value)
    const quantity = decodeQuantity(text, bits)
    if (quantity !== null && encodeQuantity(quantity) === text) return quantity
    throw refusal('EVIDENCE_MALFORMED', `a quantity of at most ${bits / 8} bytes without leading zeros`, excerpt(text))
  }

/** The known fields of a document with `proofCount` proofs, and of its texts those that match. */
export function knownFields(
  path: string,
  source: unknown,
  shape: Shape,
  proofCount: number,
  texts = /^0x[0-9a-f]*$/i,
): unknown {
  const limit = proofCount * MAX_PROOF_LENGTH
  let left = limit
  const admission: Admission = {
    charge(length) {
      left -= length
      if (left >= 0) return
      throw new ProofError('EVIDENCE_MALFORMED', { path, expected: `at most ${limit} characters`, found: 'more' })
    },
    admitText: text => (texts.test(text) ? text : null),
  }
  return pickKnown(source, shape, admission)
}
