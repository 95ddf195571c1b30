import type { Refusal } from '../base/errors.ts'
import { plural } from '../base/errors.ts'
import { formOf, leafProofAt, schemeNamed, storageProofsIn } from '../cli/words/answer.ts'
import { brief } from '../cli/words/value.ts'
import { ifRight } from '../cli/words/wording.ts'
import { type ChainBox, type Scene, summarize } from './chain.ts'
import { statusOf, UNTRIED, watch } from './checks.ts'
import { isTrieOf, type OpenedFile } from './file.ts'
import { findInputErrors, findMissing } from './inputs.ts'
import { MAX_KEYS } from './limits.ts'
import { established, type Judgement, type Report, refused, type Told, unasked } from './report.ts'
import type { FieldName, Statement } from './statement.ts'
import { type Form, type ProvenState, rootWords, trustedName } from './wording.ts'

/** How the page judges files of all kinds: with the published functions, whose verdict it reports. */

/** Which account and slots the verdict is to be about. Nothing for what is about no state. */
export type Question = Pick<Judgement, 'address' | 'storageKeys'>

/** What differs between the kinds of files. */
export interface Kind<Proven> {
  /** What the form asks for. */
  readonly fields: readonly FieldName[]
  /** What such a file holds, in words. */
  holds(file: Pick<OpenedFile, 'answer' | 'bundle'>): string
  /** What its leaf proofs are to be about; null if it has none. */
  ask?(file: OpenedFile, statement: Statement): Question | null
  /** @throws ProofError, ArgumentError */
  verify(file: OpenedFile, statement: Statement, question: Question): Proven
  tell(proven: Proven, statement: Statement, file: OpenedFile): Told
  draw(scene: Scene<Proven>): readonly ChainBox[]
  /** The state that the leaf proofs prove. */
  state?(
    proven: Proven,
    file: OpenedFile,
  ): Pick<ProvenState, 'storage'> & { readonly account: object | null; readonly stateRoot?: string | undefined }
}

/** Judges files of one kind. */
export const judgeAs = <Proven extends object>({ fields, holds, ...kind }: Kind<Proven>) => ({
  fields,
  holds,
  judge(file: OpenedFile, statement: Statement): Judgement {
    const question = kind.ask?.(file, statement) ?? null
    const { address, storageKeys } = question ?? { address: '', storageKeys: [] }
    const inputErrors = findInputErrors(file, statement)
    const missing = findMissing(file, statement)
    const isAsked = missing === null && inputErrors.length === 0
    const { proven, error, checked } = isAsked
      ? watch(file, () => kind.verify(file, statement, { address, storageKeys }))
      : UNTRIED
    const said = proven
      ? established(statement, kind.tell(proven, statement, file))
      : error
        ? refused(error, file)
        : unasked(missing, inputErrors)
    const state = proven && (kind.state?.(proven, file) ?? null)
    const forms = question === null ? [] : formsOf(file, statement, storageKeys)
    const proofs = forms.map((form, index) => {
      const key = index === 0 ? address : (storageKeys[index - 1] ?? '')
      return summarize(index, brief(key), form, state, statusOf(checked, index))
    })
    const boxes = kind.draw({ statement, checked, file, proven, address, storageKeys, proofs: forms.length })
    const failed = checked.failed?.group
    const more = storageKeys.length - MAX_KEYS
    const { notes = file.notes ?? [], verdict } = said
    return {
      report: {
        ...NOTHING_SAID,
        ...said,
        proofs,
        boxes:
          verdict === 'unjudged' ? boxes : boxes.map(box => ({ ...box, rows: ifRight({ word: verdict }, box.rows) })),
        shown: Math.min(typeof failed === 'number' ? failed : 0, Math.max(0, proofs.length - 1)),
        notes: more > 0 ? [...notes, `${plural(more, 'more slot is', 'more slots are')} not listed.`] : notes,
      },
      address,
      storageKeys,
      forms,
      checked,
      error,
      scheme: question === null ? null : (schemeNamed(statement.scheme.value) ?? null),
      stateRoot: rootOf(file, statement, verdict, state?.stateRoot, error),
    }
  },
})

const NOTHING_TOLD = { facts: [], logs: null, changes: null }
const NOTHING_SAID = { ...NOTHING_TOLD, inputErrors: [], missing: null, unconfirmed: null, failure: null }

/** The root that the account proof must lead to, and on whose word. */
function rootOf(
  { subject }: OpenedFile,
  { trusted, trustedKind }: Statement,
  verdict: Report['verdict'],
  proven: string | undefined,
  error: Refusal | null,
): Judgement['stateRoot'] {
  if (verdict === 'unjudged') return null
  const { value: kind } = trustedKind
  if (subject === 'answer' || kind === 'l2StateRoot') return { value: trusted.value, source: rootWords(trusted) }
  // If the answer is refused for its root, the error has the root that L1 proves.
  const value = proven ?? (error?.code === 'STATE_ROOT_MISMATCH' ? error.expected : undefined)
  const source = verdict === 'consistent' ? `follows from the ${trustedName(kind)}` : 'proven from L1'
  return value === undefined ? null : { value, source }
}

/** What each leaf proof claims: the account's, and that of each requested key. */
function formsOf({ answer }: OpenedFile, statement: Statement, storageKeys: readonly string[]): Form[] {
  const isTrie = isTrieOf(statement.scheme.value)
  const slots = storageProofsIn(answer)
  const formOfSlot = (_: string, index: number): Form =>
    isTrie ? 'existence' : slots.length === 0 || slots[index] === null ? 'implied' : formOf(slots[index])
  const account = isTrie ? 'existence' : formOf(leafProofAt(answer, 0))
  return [account, ...storageKeys.slice(0, MAX_KEYS).map(formOfSlot)]
}
