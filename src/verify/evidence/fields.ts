import { invalid } from '../../base/arguments.ts'
import type { ProofErrorCode } from '../../base/error-meanings.ts'
import { excerpt, ProofError, refusal } from '../../base/errors.ts'
import { decodeQuantity, encodeQuantity } from '../../base/hex.ts'
import { type Admission, pickKnown, type Shape } from '../../base/json/known-fields.ts'
import { readerOf } from '../../base/json/reader.ts'
import { MAX_PROOF_LENGTH } from './limits.ts'

export const reader = /* @__PURE__ */ readerOf('EVIDENCE_MALFORMED')

/** A quantity in lower case: in a bundle, each number has one spelling. */
export const quantityOf = (bits: number) => (value: unknown) => {
  const text = reader.string(value)
  const quantity = decodeQuantity(text, bits)
  if (quantity !== null && encodeQuantity(quantity) === text) return quantity
  throw refusal('EVIDENCE_MALFORMED', `a quantity of at most ${bits / 8} bytes without leading zeros`, excerpt(text))
}

/** The known fields of a document with `proofCount` proofs, and of its texts those that match. */
export function knownFields(path: string, source: unknown, shape: Shape, proofCount: number, texts = /^0x[0-9a-f]*$/i) {
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

/** What the caller states, decoded; undefined if it is left to the bundle. @throws ArgumentError if it is missing */
export function unlessFromBundle<T, U>(
  path: string,
  stated: T | 'fromBundle',
  decode: (stated: T) => U,
): U | undefined {
  if (stated === 'fromBundle') return undefined
  if (stated === undefined) throw invalid(path, `a value, or 'fromBundle'`, stated)
  // What is left to the bundle was returned above.
  return decode(stated as T)
}

/** @param expected undefined if it is left to the bundle */
export function verifySame(code: ProofErrorCode, path: string, expected: unknown, found: string | bigint): void {
  if (expected === undefined || expected === found) return
  throw new ProofError(code, { path, expected: `${expected}`, found: `${found}` })
}

/** Compares two labels for people, each of which may be missing. */
export function verifyLabel(code: ProofErrorCode, path: string, expected?: string, found?: string): void {
  if (expected === undefined || found === undefined || expected === found) return
  throw new ProofError(code, { path, expected: excerpt(expected), found: excerpt(found) })
}
