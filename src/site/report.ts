import { meaningOf } from '../base/error-meanings.ts'
import type { FailureCode, Refusal } from '../base/errors.ts'
import { attempt, decodeHex, readRlp, toNumber } from '../cli/words/layout.ts'
import { brief, fieldIn } from '../cli/words/value.ts'
import { conditionOf, type PartSources, premiseOf, premiseWords, verdictOf, type Word } from '../cli/words/verdict.ts'
import { capitalized, formatTime, type Row } from '../cli/words/wording.ts'
import type { L1Block } from '../verify/anchor/header.ts'
import type { HashScheme } from '../verify/scheme/scheme.ts'
import type { ChainBox, ProofSummary } from './chain.ts'
import type { Changes } from './changes.ts'
import type { Checked } from './checks.ts'
import type { OpenedFile } from './file.ts'
import type { InputError } from './inputs.ts'
import { type FieldName, fieldWords, type Statement } from './statement.ts'
import { basisWords, displayRows, type Form } from './wording.ts'

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

/** A report, and what the view of a single proof needs. */
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

/** What only one kind of verdict says. */
export type Said = Pick<Report, 'verdict' | 'badge' | 'headline' | 'text'> & Partial<Report>

/** What is proven, and on whose word. */
export interface Told extends Partial<Pick<Report, 'notes' | 'facts' | 'logs' | 'changes'>> {
  readonly sources: PartSources
  readonly headline: string
  readonly l1Block?: L1Block | undefined
}

/** The checks pass: what follows, and on whose word. */
export function established(statement: Statement, { sources, headline, l1Block, ...told }: Told): Said {
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

/** Whether a field of the form has the same name. */
const isField = (premise: string): premise is FieldName => Object.hasOwn(fieldWords, premise)

export function refused({ code, path, expected = '', found = '' }: Refusal, file: OpenedFile): Said {
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

/** Nothing is verified, because the form is incomplete or wrong. */
export function unasked(missing: InputError | null, inputErrors: readonly InputError[]): Said {
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
