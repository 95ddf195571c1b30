import { meaningOf } from '../base/error-meanings.ts'
import type { FailureCode, Refusal } from '../base/errors.ts'
import { brief } from '../cli/words/value.ts'
import { listed, type PartSources, premiseWords, verdictOf, type Word } from '../cli/words/verdict.ts'
import { capitalized, formatTime, type Row } from '../cli/words/wording.ts'
import type { L1Block } from '../verify/anchor/header.ts'
import type { HashScheme } from '../verify/scheme/scheme.ts'
import type { ChainBox, ProofSummary } from './chain.ts'
import type { Changes } from './changes.ts'
import type { Checked } from './checks.ts'
import type { InputError } from './inputs.ts'
import { nextStep } from './next.ts'
import type { OpenedFile } from './opened-file.ts'
import { type FieldName, fieldWords, type Statement } from './statement.ts'
import { basisWords, displayRows, type Form } from './wording.ts'

/** The logs of a range of blocks. */
export interface ProvenLogs {
  readonly count: number
  /** The first ones, with what they hold. */
  readonly listed: readonly { readonly title: string; readonly rows: readonly Row[] }[]
}

/** What the visitor has not confirmed yet, and can compare with a source of their own. */
export interface Unconfirmed {
  readonly field: FieldName
  readonly name: string
  /** As the file states it, in full. */
  readonly value: string
  /** Where to look it up, such as the number and the time of a block; empty if that is unknown. */
  readonly about: string
}

/** Why it is refused. */
export interface Failure {
  readonly code: FailureCode
  readonly rows: readonly Row[]
  /** What to do about it. */
  readonly next: string
}

export interface Report {
  readonly verdict: Word | 'unjudged'
  readonly badge: string
  readonly headline: string
  readonly text: string
  /** The invalid inputs in the form. */
  readonly inputErrors: readonly InputError[]
  /** The field that has to be filled in. */
  readonly missing: FieldName | null
  readonly unconfirmed: Unconfirmed | null
  readonly failure: Failure | null
  readonly notes: readonly string[]
  /** The chain of trust. */
  readonly boxes: readonly ChainBox[]
  /** What is proven of the account or of the message. */
  readonly facts: readonly Row[]
  readonly proofs: readonly ProofSummary[]
  /** The proof to show first. */
  readonly shown: number
  /** The logs that are proven; null if it is not about logs. */
  readonly logs: ProvenLogs | null
  /** What a list of traces has changed. */
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
  /** In a sentence. */
  readonly headline: string
  readonly l1Block?: L1Block | undefined
}

/** The checks pass: what follows, and on whose word. */
export function established(statement: Statement, { sources, headline, l1Block, ...told }: Told): Said {
  const { word: verdict, unconfirmed, chosen } = verdictOf(true, sources)
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
    headline: `Nobody has confirmed the ${listed(unconfirmed.map(premiseWords))}.`,
    text: `If ${unconfirmed.length === 1 ? 'it is' : 'they are'} right: ${following}`,
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
