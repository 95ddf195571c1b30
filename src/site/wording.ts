import { plural } from '../base/errors.ts'
import type { LeafForm, LeafPath, Source } from '../cli/words/answer.ts'
import { networkNamed, rollupNamed } from '../cli/words/evidence.ts'
import { brief, fieldsOf, show } from '../cli/words/value.ts'
import type { PartSources } from '../cli/words/verdict.ts'
import { capitalized, type Row, sourceWords, toEther, trustedNames } from '../cli/words/wording.ts'
import type { L1Account } from '../entry/anchor.ts'
import type { ProvenAccount } from '../entry/index.ts'
import { abbreviate, type Field, type FieldName, isOwn, isStated, type Statement } from './statement.ts'

export interface ProvenState {
  /** In the tree of the rollup or in an Ethereum state. */
  readonly account: ProvenAccount | L1Account | null
  readonly storage: readonly { readonly exists: boolean; readonly value: string }[]
}

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

export const trustedName = (kind: string): string => show(fieldsOf(trustedNames)[kind] ?? 'root')

/** An amount, in the unit that is easier to read. */
export const amount = (wei: bigint): string => (wei >= 10n ** 9n ? `${toEther(wei)} ETH` : `${wei} wei`)

export function stateWords({ account, storage }: ProvenState): string {
  if (account === null) return 'This account does not exist.'
  const existing = storage.filter(({ exists }) => exists).length
  const verb = existing === 1 ? 'exists' : storage.length === 1 ? 'does not exist' : 'exist'
  const which = storage.length === 1 ? 'the slot' : `${existing} of its ${plural(storage.length, 'slot')}`
  const slots = storage.length === 0 ? '' : `; ${which} ${verb}`
  return `This account exists and holds ${amount(account.balance)}${slots}.`
}

/** What the verdict rests on, in one sentence. */
export function basisWords({ trusted, trustedKind }: Statement): string {
  const said = trusted.source === 'confirmed' ? 'compared with a source of your own' : 'typed'
  return `Rests on the ${trustedName(trustedKind.value)} ${abbreviate(trusted.value)}, which you ${said}.`
}

/** What the page says of a root that nothing proves. */
export const rootWords = ({ source }: Field): string =>
  `${isOwn(source) ? 'trusted' : 'not confirmed'}, ${sourceWords[source]}`

/** Who stated what evidence of a state is to be about. */
export function evidenceSourcesOf(statement: Statement) {
  const of = (name: FieldName): Source => (isStated(statement, name) ? statement[name].source : 'bundle')
  return { l2BlockNumber: of('l2Block'), address: of('address'), storageKeys: of('storageKeys') }
}

export const displayRows = (rows: readonly Row[]): Row[] =>
  rows.map(([name, value, ...basis]) => [capitalized(name), brief(value), ...basis])

/** Who stated what a verdict rests on between L1 and the rollup. Empty if it starts at an L2 state root, which leaves that out. */
export function premiseSources(statement: Statement): PartSources {
  const { rollup, layout, trustedKind, network, trusted } = statement
  const kind = trustedKind.value
  if (kind === 'l2StateRoot') return { [kind]: trusted.source }
  // The page knows the contracts and the networks that have names. A file can only choose between them.
  const isKnown = rollupNamed(rollup.value) !== undefined
  const isOfBeacon = kind === 'beaconBlockRoot' && network.value !== ''
  return {
    [kind]: trusted.source,
    [isKnown ? 'rollupName' : 'rollup']: rollup.source,
    ...(layout.value !== '' && { layout: layout.source }),
    ...(isOfBeacon && networkNamed(network.value) === undefined && { network: network.source }),
  }
}
