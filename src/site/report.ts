import { meaningOf } from '../base/error-meanings.ts'
import { type FailureCode, plural, type Refusal } from '../base/errors.ts'
import { formOf, leafProofAt, schemeNamed, storageProofsIn } from '../cli/words/answer.ts'
import { attempt, decodeHex, readRlp, toNumber } from '../cli/words/layout.ts'
import { brief, fieldIn } from '../cli/words/value.ts'
import { conditionOf, type PartSources, premiseOf, premiseWords, verdictOf, type Word } from '../cli/words/verdict.ts'
import { capitalized, formatTime, ifRight, type Row } from '../cli/words/wording.ts'
import type { L1Block } from '../verify/anchor/header.ts'
import type { HashScheme } from '../verify/scheme/scheme.ts'
import { type ChainBox, type Changes, type ProofSummary, type Scene, summarize } from './chain.ts'
import { type Checked, statusOf, UNTRIED, watch } from './checks.ts'
import { isTrieOf, type OpenedFile } from './file.ts'
import { findInputErrors, findMissing, type InputError } from './inputs.ts'
import { MAX_KEYS } from './limits.ts'
import { type FieldName, fieldWords, type Statement } from './statement.ts'
import { basisWords, displayRows, type Form, type ProvenState, rootWords, trustedName } from './wording.ts'

/** What the visitor has not confirmed yet, and can compare with a source of their own. */
export interface Unconfirmed {
  readonly field: FieldName
  readonly name: string
  /** As the file states it, in full. */
  readonly value: string
  /** Where to look it up, such as the number and the time of a block; empty if that is unknown. */
  readonly about: string
}

export interface Report {
  readonly verdict: Word | 'unjudged'
  readonly badge: string
  readonly headline: string
  readonly text: string
  readonly inputErrors: readonly InputError[]
  /** The field that has to be filled in. */
  readonly missing: FieldName | null
  readonly unconfirmed: Unconfirmed | null
  /** Why it is refused, and what to do about it. */
  readonly failure: { readonly code: FailureCode; readonly rows: readonly Row[]; readonly next: string } | null
  readonly notes: readonly string[]
  readonly boxes: readonly ChainBox[]
  /** What is proven of the account or of the message. */
  readonly facts: readonly Row[]
  readonly proofs: readonly ProofSummary[]
  /** The proof to show first. */
  readonly shown: number
  /** How many logs are proven, and the first of them; null if it is not about logs. */
  readonly logs: {
    readonly count: number
    readonly listed: readonly { readonly title: string; readonly rows: readonly Row[] }[]
  } | null
  readonly changes: Changes | null
}

export interface Judgement {
  readonly report: Report
  readonly scheme: HashScheme | null
  /** The root that the account proof must lead to; null if it was neither stated nor proven. */
  readonly stateRoot: { readonly value: string; readonly source: string } | null
  readonly address: string
  readonly storageKeys: readonly string[]
  /** The claim of each leaf proof. */
  readonly forms: readonly Form[]
  readonly checked: Checked
  readonly error: Refusal | null
}

type Said = Pick<Report, 'verdict' | 'badge' | 'headline' | 'text'> & Partial<Report>

interface Told extends Partial<Pick<Report, 'notes' | 'facts' | 'logs' | 'changes'>> {
  readonly sources: PartSources
  readonly headline: string
  readonly l1Block?: L1Block | undefined
}

function established(statement: Statement, { sources, headline, l1Block, ...told }: Told): Said {
  const found = verdictOf(true, sources)
  const { word: verdict, unconfirmed, chosen } = found
  const badge = capitalized(verdict)
  const [first] = unconfirmed
  if (first === undefined) {
    const about = chosen === '' ? '' : ` Verified for ${chosen}.`
    return { ...told, verdict, badge, headline, text: `${basisWords(statement)}${about}` }
  }
  const field = first === 'rootAfter' ? 'endRoot' : isField(first) ? first : 'trusted'
  const { value } = statement[field]
  const about =
    first === 'l1BlockHash' && l1Block ? `of L1 block ${l1Block.number}, ${formatTime(l1Block.timestamp)}` : ''
  const following = /^L\d/.test(headline) ? headline : headline.charAt(0).toLowerCase() + headline.slice(1)
  return {
    ...told,
    verdict,
    badge,
    headline: `${capitalized(premiseOf(found))}.`,
    text: `${conditionOf(found)} ${following}`,
    // What nobody states cannot be compared, but it can be entered.
    ...(value === '' ? { missing: field } : { unconfirmed: { field, name: premiseWords(first), value, about } }),
  }
}

const isField = (premise: string): premise is FieldName => Object.hasOwn(fieldWords, premise)

function refused({ code, path, expected = '', found = '' }: Refusal, file: OpenedFile): Said {
  const rows = Object.entries({ expected, found }).filter(([, value]) => value !== '')
  const where = path === '' ? '' : ` It failed at ${brief(path)}.`
  return {
    verdict: 'refused',
    badge: `Refused: ${code}`,
    headline: meaningOf(code),
    text: `Nothing of it is proven.${where}`,
    failure: { code, rows: displayRows(rows), next: nextStep(code, file, brief(found)) },
  }
}

function unasked(missing: InputError | null, inputErrors: readonly InputError[]): Said {
  const [wrong] = inputErrors
  const verdict = 'unjudged'
  if (wrong !== undefined) {
    const headline = `${capitalized(fieldWords[wrong.field])} is not valid.`
    const text = `${capitalized(wrong.message)}. Nothing was verified.`
    return { verdict, badge: 'Check your input', headline, text, inputErrors, missing: wrong.field }
  }
  const headline = `${capitalized(missing?.message ?? '')}.`
  const text = 'Until then, everything below is only what the file claims.'
  return { verdict, badge: 'Not verified yet', headline, text, missing: missing?.field ?? null }
}

const ANOTHER = 'Ask another server, or ask again: this file proves nothing, whatever it says.'
const QUESTION =
  'Compare it with your question: this file is about something else. If the question is right, ask again.'

const steps: Readonly<Partial<Record<FailureCode, string>>> = {
  ARGUMENT_INVALID: 'Correct what you entered: the file was not examined.',
  ANSWER_IS_ERROR: 'Ask again, or another server: this one sent an error, and no proof.',
  FOREIGN_PROOF:
    'Ask for linea_getProof or rollup_getProof. If you mean the state of Ethereum, choose it as the state.',
  SCHEME_MISMATCH: 'Choose the other hash scheme: the proof is of the other one.',
  STATE_ROOT_MISMATCH:
    'The proof leads to another root. If that is the root of another block, ask for the block of yours; if it is the root of no block, the file is forged. Look both up.',
  ANCHOR_BLOCK_AHEAD: 'Wait until L1 has finalized the block, and ask again.',
  ANCHOR_NO_ROOT: 'Ask for the last block of a finalization: L1 keeps the roots of those alone.',
  ANCHOR_NO_CONTRACT: 'Check the rollup: L1 has no such contract at this block.',
  ANCHOR_IMPLEMENTATION_MISMATCH: 'Find out whether the contract was upgraded, before you trust either.',
  EVIDENCE_VERSION: 'Ask for evidence of the version that this page reads, or use a later page.',
  BEACON_FORK_UNKNOWN: 'Check the network, or use a later page: this one does not know the fork.',
}

/** @param found what the check found, in words or in full */
function nextStep(code: FailureCode, { bundle }: OpenedFile, found: string): string {
  if (code === 'HEADER_HASH_MISMATCH') return stepOfHeader(bundle, found)
  return steps[code] ?? (/^EVIDENCE_\w+_MISMATCH$|^(LOGS|MESSAGE|KEY)_MISMATCH$/.test(code) ? QUESTION : ANOTHER)
}

/** A whole header of another block, or none at all. The number is its field 8. */
function stepOfHeader(bundle: unknown, found: string): string {
  const items = attempt(() => readRlp(decodeHex(fieldIn(fieldIn(bundle, 'l1'), 'header'))))
  const number = Array.isArray(items) && items.length > 14 ? items[8] : undefined
  if (!(number instanceof Uint8Array) || number.length > 8) return ANOTHER
  return `The file has a header that says L1 block ${toNumber(number)} and hashes to ${found}. Look that block up: if this is its hash, the file is of another block than the hash that you trust; if not, it is forged.`
}

/** How the page judges files of all kinds: with the published functions, whose verdict it reports. */

/** Which account and slots the verdict is to be about. Nothing for what is about no state. */
type Question = Pick<Judgement, 'address' | 'storageKeys'>

/** What differs between the kinds of files. */
interface Kind<Proven> {
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
