import { kindNamed, resultIn, storageProofsIn } from '../cli/words/answer.ts'
import { itemsOf } from '../cli/words/value.ts'
import type { EvidenceName } from '../verify/evidence/verify.ts'
import type { FieldName, Suggested } from './statement.ts'

/** What a file is about: it decides who judges the file. */
export type Subject = EvidenceName | 'answer' | 'traces'

/** What a file holds, before any of it is verified, and what it suggests for the form. */
export interface OpenedFile {
  readonly kind: string
  readonly subject: Subject
  /** What it holds, in words, with their number. */
  readonly holds: string
  /** What the form asks for. */
  readonly fields: readonly FieldName[]
  readonly suggested: Suggested
  readonly notes?: readonly string[]
  /** The endpoint's answer; for a bundle, its `answer`. */
  readonly answer: unknown
  readonly bundle?: unknown
  /** The consensus network, if the file is a vector that defines one. */
  readonly network?: unknown
}

/** How many slots it is about. */
export const slotsIn = (answer: unknown): number =>
  storageProofsIn(answer).length || itemsOf(resultIn(answer)['storageProof']).length

/** Whether the state of this kind is a trie of Ethereum. */
export const isTrieOf = (scheme: unknown): boolean => kindNamed(scheme)?.hashScheme === null
