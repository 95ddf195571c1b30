import type { Refusal } from '../base/errors.ts'
import { formOf, leafProofAt, schemeNamed, storageProofsIn } from '../cli/words/answer.ts'
import { brief } from '../cli/words/value.ts'
import type { PartSources } from '../cli/words/verdict.ts'
import { ifRight } from '../cli/words/wording.ts'
import type { L1Block } from '../verify/anchor/header.ts'
import { type ChainBox, type Scene, summarize } from './chain.ts'
import { statusOf, UNCHECKED, watch } from './checks.ts'
import { findInputErrors, findMissing } from './inputs.ts'
import { MAX_KEYS } from './limits.ts'
import { nextStep } from './next.ts'
import { isTrieOf, type OpenedFile } from './opened-file.ts'
import { established, type Judgement, type Report, refused, type Said, unasked } from './report.ts'
import type { Statement } from './statement.ts'
import { type Form, type ProvenState, rootWords, trustedName } from './wording.ts'

/** How the page judges files of all kinds: with the published functions, whose verdict it reports. */

/** Which account and slots the verdict is to be about. Nothing for what is about no state. */
export type Question = Pick<Judgement, 'address' | 'storageKeys'>

/** What is proven, and on whose word. */
export interface Told extends Partial<Pick<Report, 'notes' | 'facts' | 'logs' | 'changes'>> {
  readonly sources: PartSources
  /** In a sentence. */
  readonly headline: string
  /** What the visitor trusts is called, if not by its kind. */
  readonly trusted?: string | undefined
  readonly l1Block?: L1Block | undefined
}

/** What differs between the kinds of files. */
export interface Kind<Proven> {
  /** What its leaf proofs are to be about; null if it has none. */
  ask?(file: OpenedFile, statement: Statement): Question | null
  /** @throws ProofError, ArgumentError */
  verify(file: OpenedFile, statement: Statement, question: Question): Proven
  tell(proven: Proven, statement: Statement, file: OpenedFile): Told
  draw(scene: Scene<Proven>): readonly ChainBox[]
  /** The state that the leaf proofs prove. */
  state?(proven: Proven, file: OpenedFile): Pick<ProvenState, 'storage'> & Leaves
}

interface Leaves {
  readonly account: object | null
  readonly stateRoot?: string | undefined
}

interface Outcome<Proven> extends Pick<Judgement, 'checked' | 'error'> {
  readonly proven: Proven | null
}

export function judgeAs<Proven>(kind: Kind<Proven>, file: OpenedFile, statement: Statement): Judgement {
  const question = kind.ask?.(file, statement) ?? null
  const conclude = (said: Said, outcome: Outcome<Proven>) => conclusion(kind, file, statement, question, said, outcome)
  const inputErrors = findInputErrors(file, statement)
  const missing = findMissing(file, statement)
  if (missing !== null || inputErrors.length > 0) {
    return conclude(unasked(missing, inputErrors), { checked: UNCHECKED, error: null, proven: null })
  }
  const { outcome, checked } = watch(file, () => kind.verify(file, statement, question ?? NOTHING))
  if (!outcome.ok) return conclude(refused(outcome.error), { checked, error: outcome.error, proven: null })
  const { sources, headline, trusted, l1Block, ...told } = kind.tell(outcome.value, statement, file)
  const said = established(statement, sources, headline, { name: trusted, l1Block })
  return conclude({ ...told, ...said }, { checked, error: null, proven: outcome.value })
}

const NOTHING: Question = { address: '', storageKeys: [] }

function conclusion<Proven>(
  kind: Kind<Proven>,
  file: OpenedFile,
  statement: Statement,
  question: Question | null,
  said: Said,
  { proven, checked, error }: Outcome<Proven>,
): Judgement {
  const { address, storageKeys } = question ?? NOTHING
  const state = proven === null ? null : (kind.state?.(proven, file) ?? null)
  const forms = question === null ? [] : formsOf(file, statement, storageKeys)
  const scene = { statement, checked, file, proven, address, storageKeys, proofs: forms.length }
  const proofs = forms.map((form, index) => {
    const key = index === 0 ? address : (storageKeys[index - 1] ?? '')
    return summarize(index, brief(key), form, state, statusOf(checked, index))
  })
  const failed = checked.failed?.group
  const shown = typeof failed === 'number' ? failed : 0
  const more = storageKeys.length - MAX_KEYS
  const { notes = file.notes } = said
  const report = reportOf(file, {
    ...said,
    ...{ proofs, boxes: kind.draw(scene), shown: Math.min(shown, Math.max(0, proofs.length - 1)) },
    notes: more > 0 ? [...notes, `${more} more slots are not listed.`] : notes,
  })
  return {
    ...{ report, address, storageKeys, forms, checked, error },
    scheme: question === null ? null : (schemeNamed(statement.scheme.value) ?? null),
    stateRoot: rootOf(file, statement, said.verdict, state?.stateRoot, error),
  }
}

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

/** A whole report from its parts. */
export function reportOf(file: OpenedFile, said: Said): Report {
  const { boxes = [], verdict, failure = null } = said
  const [, found = ''] = failure?.rows.find(([name]) => name === 'Found') ?? []
  return {
    ...{ inputErrors: [], missing: null, unconfirmed: null, notes: file.notes, facts: [] },
    ...{ proofs: [], shown: 0, logs: null, changes: null },
    ...said,
    failure: failure && { ...failure, next: nextStep(failure.code, file, found) },
    boxes: boxes.map(box => (verdict === 'consistent' ? { ...box, rows: ifRight({ word: verdict }, box.rows) } : box)),
  }
}

/** A judgement of something that has no leaf proofs. */
export const unjudged = (file: OpenedFile, said: Said): Judgement => ({
  ...{ report: reportOf(file, said), scheme: null, stateRoot: null, address: '', storageKeys: [], forms: [] },
  ...{ checked: UNCHECKED, error: null },
})
