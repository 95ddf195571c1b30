import { type Admission, pickKnown, readOwn, type Shape } from '../json/known-fields.ts'
import { ANSWER_SHAPE, unwrapResponse } from '../proof/known-answer.ts'
import { parseError } from './envelope.ts'
import { RpcError } from './error.ts'
import { MAX_ANSWER_LENGTH, MAX_PROOF_LENGTH } from './limits.ts'
import { admitText, type Redact } from './redact.ts'

/** The answer for some of the keys. */
export interface PartialAnswer {
  readonly keyCount: number
  readonly accountProof: unknown
  readonly storageProofs: readonly unknown[]
}

/** Admits what an endpoint sends until the total exceeds `limit` characters. */
export function admissionOf(limit: number, redact: Redact): Admission {
  let left = limit
  return {
    charge(length) {
      left -= length
      if (left < 0) throw new RpcError('RESPONSE_TOO_LARGE', { found: `more than ${limit} characters of proofs` })
    },
    // Every string in a proof is hexadecimal. Any other string is redacted, because the error that refuses it quotes it.
    admitText: text => (/^0x[0-9a-f]*$/i.test(text) && !redact.isInHex(text) ? text : admitText(text, redact)),
  }
}

/** {@link admissionOf} the answers for this many keys, with one account proof per request. */
export const answerAdmission = (keyCount: number, requestCount: number, redact: Redact): Admission =>
  admissionOf(Math.min((keyCount + requestCount) * MAX_PROOF_LENGTH, MAX_ANSWER_LENGTH), redact)

/** The known fields of a result of this shape. If a provider returns the whole JSON-RPC response, it is unwrapped, once. */
export function admitAnswer(
  answer: unknown,
  admission: Admission,
  redact: Redact,
  shape: Shape = ANSWER_SHAPE,
): unknown {
  const { result, error } = unwrapResponse(answer)
  if (error !== undefined) throw parseError(error, [], redact)
  return pickKnown(result, shape, admission)
}

/** Reads only what joining needs. verifyProof checks the rest. */
export function readPartialAnswer(answer: unknown, keyCount: number): PartialAnswer {
  const read = (name: string) => readOwn(Object(answer), name)
  const [accountProof, storageProofs] = [read('accountProof'), read('storageProofs')]
  if (Array.isArray(accountProof) && (read('storageHash') ?? read('storageProof')) != null) {
    throw new RpcError('ETH_PROOF_ANSWER')
  }
  if (!Array.isArray(storageProofs) || ![0, keyCount].includes(storageProofs.length)) {
    throw new RpcError('ANSWER_MALFORMED', { found: `the storageProofs are not one for each of ${keyCount} keys` })
  }
  return { keyCount, accountProof, storageProofs }
}

/** The answer for all of the keys. */
export const joinAnswers = (answers: readonly PartialAnswer[]) => ({
  accountProof: answers[0]?.accountProof,
  storageProofs: answers.flatMap(({ storageProofs }) => storageProofs),
})

/** Answers with the same account proof have the same storage root, so they are of one state. Compares the newest answer. */
export function verifyAgreement(answers: readonly PartialAnswer[]): void {
  const [first, last] = [answers[0], answers.at(-1)]
  // Known fields are copied in a fixed order, so equal values have the same text.
  const isOneAccount = JSON.stringify(first?.accountProof) === JSON.stringify(last?.accountProof)
  const areAllEmpty = first?.storageProofs.length === 0 && last?.storageProofs.length === 0
  const isNoneEmpty = first?.storageProofs.length !== 0 && last?.storageProofs.length !== 0
  if (!isOneAccount || !(areAllEmpty || isNoneEmpty)) throw new RpcError('ANSWERS_INCONSISTENT')
}
