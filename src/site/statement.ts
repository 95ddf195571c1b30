import type { Source } from '../cli/words/answer.ts'

/** The fields of the form, and what each is called in a sentence. */
export const fieldWords = {
  scheme: 'the state',
  trustedKind: 'what you trust',
  trusted: 'the root or hash that you trust',
  network: 'the network',
  address: 'the address',
  storageKeys: 'a storage key',
  rollup: 'the rollup',
  l2Block: 'the L2 block',
  message: 'the hash of the message',
  endRoot: 'the state root after the last block',
  implementation: 'the code behind the proxy',
  layout: 'the storage layout of the contract',
} as const
export type FieldName = keyof typeof fieldWords
// Despite its type, it has only these keys.
export const fieldNames = Object.keys(fieldWords) as FieldName[]

/** The content of one form field. `storageKeys` has one key per line. */
export interface Field {
  readonly value: string
  readonly source: Source
}
export type Statement = Readonly<Record<FieldName, Field>>
export type Suggested = Partial<Record<FieldName, Field>>

/** What is in a field of which nobody has said anything. */
export const unstated = (name: FieldName): Field => ({
  value: name === 'trustedKind' ? 'l2StateRoot' : '',
  source: 'user',
})

export const eachField = <T>(make: (name: FieldName) => T): Record<FieldName, T> =>
  // The entries have all field names.
  Object.fromEntries(fieldNames.map(name => [name, make(name)])) as Record<FieldName, T>

/** The content of the form once a file is open. The user fills in what the file does not say. */
export const statementFrom = (suggested: Suggested): Statement => eachField(name => suggested[name] ?? unstated(name))

export const keysIn = ({ storageKeys }: Statement): string[] =>
  storageKeys.value.split(/[\s,]/).filter(key => key !== '')

/** Whether it is the visitor's word: typed, or compared with a source of their own. */
export const isOwn = (source: Source): boolean => source === 'user' || source === 'confirmed'

/** Whether the user or a vector stated this field. The bundle decides the fields that are empty. */
export const isStated = (statement: Statement, name: FieldName): boolean =>
  statement[name].source !== 'bundle' && statement[name].value !== ''

/** The fields that evidence has use for, which leads from L1 to what it is about. */
export const EVIDENCE_FIELDS = ['trustedKind', 'trusted', 'network', 'rollup', 'implementation'] as const
export const STATE_FIELDS = [...EVIDENCE_FIELDS, 'layout', 'scheme', 'l2Block'] as const
/** Those of an answer alone. */
export const ANSWER_FIELDS = ['trusted', 'scheme', 'address', 'storageKeys'] as const

/** Whether a file that has use for these fields can lead from L1 to what it is about. */
export const isFromL1 = (fields: readonly FieldName[]): boolean => fields.includes('rollup')

/** Omits the middle of a long text. Screen readers and the clipboard must get the full text elsewhere. */
export const abbreviate = (hex: string): string => (hex.length <= 20 ? hex : `${hex.slice(0, 8)}…${hex.slice(-6)}`)
