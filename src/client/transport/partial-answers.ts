import { type Admission, pickKnown, readOwn, type Shape } from '../../base/json/known-fields.ts'
import { ETH_PROOF_SHAPE } from '../../verify/anchor/eth-proof.ts'
import { ANSWER_SHAPE, unwrapResponse } from '../../verify/proof/known-answer.ts'
import type { StateKind } from '../../verify/state/kind.ts'
import { parseError } from './diagnose.ts'
import { withEmptyLists } from './empty-lists.ts'
import { EndpointError } from './error.ts'
import { MAX_ANSWER_LENGTH, MAX_PROOF_LENGTH } from './limits.ts'
import { admitText, type Redact } from './redact.ts'

/** What the answers about a state look like. */
type AnswerForm = Pick<StateKind, 'shape' | 'slots' | 'method'>

export const TREE_FORM: AnswerForm = { shape: ANSWER_SHAPE, slots: 'storageProofs', method: null }

export interface PartialAnswer {
  /** Only fields of the method. */
  readonly answer: { readonly accountProof?: unknown; readonly [name: string]: unknown }
  readonly slots: readonly unknown[]
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

/** {@link admissionOf} the answer for this many keys, with an account proof. */
export const answerAdmission = (keyCount: number, redact: Redact): Admission =>
  admissionOf(Math.min((keyCount + 2) * MAX_PROOF_LENGTH, MAX_ANSWER_LENGTH), redact)

/** The known fields of a result of this shape. If a provider returns the whole JSON-RPC response, it is unwrapped, once. */
export function admitAnswer(
  answer: unknown,
  admission: Admission,
  redact: Redact,
  shape: Shape = ANSWER_SHAPE,
): unknown {
  const { result, error } = unwrapResponse(answer)
  if (error !== undefined) throw parseError(error, {}, redact)
  // Servers say so of a block that another back end behind the same URL knows.
  if (result === null) throw new EndpointError('BLOCK_MISSING', { found: 'null in place of an answer' })
  const known = pickKnown(result, shape, admission)
  return shape === ETH_PROOF_SHAPE ? withEmptyLists(known) : known
}

/** Reads only what joining needs. Whoever verifies the answer checks the rest. */
export function readPartialAnswer(answer: unknown, keyCount: number, { slots: name }: AnswerForm): PartialAnswer {
  const read = (field: string) => readOwn(Object(answer), field)
  const [accountProof, slots] = [read('accountProof'), read(name)]
  const isSparse = name === TREE_FORM.slots
  if (isSparse && Array.isArray(accountProof) && (read('storageHash') ?? read('storageProof')) != null) {
    throw new EndpointError('ETH_PROOF_ANSWER')
  }
  if (!Array.isArray(slots) || ![0, keyCount].includes(slots.length)) {
    throw new EndpointError('ANSWER_MALFORMED', { found: `the ${name} are not one for each of ${keyCount} keys` })
  }
  return { answer: isSparse ? { accountProof, storageProofs: slots } : { ...Object(answer) }, slots }
}

export const joinAnswers = (answers: readonly PartialAnswer[], { slots }: AnswerForm): object => ({
  ...answers[0]?.answer,
  [slots]: answers.flatMap(answer => answer.slots),
})

/** Answers with the same account proof have the same storage root, so they are of one state. Compares the newest answer. */
export function verifyAgreement(answers: readonly PartialAnswer[]): void {
  const [first, last] = [answers[0], answers.at(-1)]
  // Known fields are copied in a fixed order, so equal values have the same text.
  const [one, other] = [first, last].map(part => JSON.stringify(part?.answer.accountProof))
  const areAllEmpty = first?.slots.length === 0 && last?.slots.length === 0
  const isNoneEmpty = first?.slots.length !== 0 && last?.slots.length !== 0
  if (one !== other || !(areAllEmpty || isNoneEmpty)) throw new EndpointError('ANSWERS_INCONSISTENT')
}
