import type { LeafForm, LeafPath } from '../document/answer.ts'
import type { Source } from '../document/claim.ts'
import { type EvidenceSources, rollupNamed } from '../document/evidence.ts'
import { brief } from '../document/value.ts'
import { accountRows, capitalized, type Row, sourceWords, toEther, trustedNames } from '../document/wording.ts'
import type { ProvenAccount } from '../index.ts'
import type { OpenedFile } from './opened-file.ts'
import { type Field, type FieldName, isStated, keysIn, type Statement } from './statement.ts'

/** The page's wording for the form and leaf proofs. The wording of verdicts is in the document layer. */

/** The claim that a leaf proof makes; `implied` if none is needed or sent. */
export type Form = LeafForm | 'implied'

export const claimWords: Readonly<Record<Form, string>> = {
  existence: 'existence',
  'non-existence': 'non-existence',
  implied: 'non-existence, without a proof',
  both: 'both existence and non-existence',
  neither: 'nothing that can be read',
}

export const partNames: Readonly<Record<LeafPath['proof'], string>> = {
  proof: 'leaf',
  leftProof: 'left neighbour',
  rightProof: 'right neighbour',
}

/** The fields of the form, in a sentence. */
export const fieldWords: Readonly<Record<FieldName, string>> = {
  scheme: 'the hash scheme',
  trustedKind: 'what you trust',
  trusted: 'the root or hash that you trust',
  network: 'the network',
  address: 'the address',
  storageKeys: 'a storage key',
  rollup: 'the rollup',
  l2Block: 'the L2 block',
  rootsSlot: 'the slot of the roots',
  currentSlot: 'the slot of the newest block',
}

export const isTrustedKind = (kind: string): kind is keyof typeof trustedNames => Object.hasOwn(trustedNames, kind)

export const trustedName = (kind: string): string => (isTrustedKind(kind) ? trustedNames[kind] : 'root')

/** Who stated each part of the claim on a bundle. */
export function evidenceSourcesOf(statement: Statement): EvidenceSources {
  const of = (name: FieldName): Source => (isStated(statement, name) ? statement[name].source : 'bundle')
  return {
    ...{ trusted: of('trusted'), scheme: of('scheme'), rollup: of('rollup') },
    ...{ l2BlockNumber: of('l2Block'), address: of('address'), storageKeys: of('storageKeys') },
  }
}

export const displayRows = (rows: readonly Row[]): Row[] =>
  rows.map(([name, value, ...basis]) => [capitalized(name), brief(value), ...basis])

export function displayAccount(account: ProvenAccount): Row[] {
  const ether = account.balance >= 10n ** 9n ? ` (${toEther(account.balance)} ether)` : ''
  return displayRows(accountRows(account)).map(([name, value]) => [
    name,
    name === 'Balance' ? `${value}${ether}` : value,
  ])
}

/** Who stated the constants that the verdict rests on, too: the storage layout of the contract, and the network. */
export function constantSources({
  rollup,
  rootsSlot,
  currentSlot,
  trustedKind,
  network,
}: Statement): Record<string, Source> {
  const slots = rollupNamed(rollup.value) === undefined ? { rootsSlot, currentSlot } : {}
  const used = { ...slots, ...(trustedKind.value === 'beaconBlockRoot' && { network }) }
  return Object.fromEntries(
    Object.entries(used).flatMap(([name, field]) => (field.value === '' ? [] : [[name, field.source]])),
  )
}

export function questionRows({ isBundle }: OpenedFile, statement: Statement): Row[] {
  const { trustedKind, scheme, trusted, network, rollup, l2Block, address, storageKeys } = statement
  const { rootsSlot, currentSlot } = statement
  const row = (name: string, { value, source }: Field): Row[] =>
    value === '' ? [] : [[name, brief(value), sourceWords[source]]]
  const count = keysIn(statement).length
  const noKeys: Row[] = isBundle ? [] : [['Storage keys', '0', '']]
  return [
    ...row(capitalized(trustedName(trustedKind.value)), trusted),
    ...(trustedKind.value === 'beaconBlockRoot' ? row('Network', network) : []),
    ...row('Scheme', scheme),
    ...(isBundle ? [...row('Rollup', rollup), ...row('L2 block', l2Block)] : []),
    ...(isBundle ? [...row('Slot of the roots', rootsSlot), ...row('Slot of the newest block', currentSlot)] : []),
    ...row('Address', address),
    ...(count > 0 ? row('Storage keys', { ...storageKeys, value: `${count}` }) : noKeys),
  ]
}
