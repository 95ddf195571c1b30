import { kindNamed, schemeNamed } from '../cli/words/answer.ts'
import { networkNamed, networkNames, parseNumber, rollupNamed } from '../cli/words/evidence.ts'
import { attempt, digitOffChecksum, isHexOf } from '../cli/words/layout.ts'
import { fieldIn } from '../cli/words/value.ts'
import { trustedNames } from '../cli/words/wording.ts'
import { lineaLayout, type Rollup } from '../entry/anchor.ts'
import { type BeaconNetwork, trustBeaconBlock } from '../entry/beacon.ts'
import type { Hex } from '../entry/index.ts'
import type { OpenedFile } from './file.ts'
import { type FieldName, isFromL1, isStated, keysIn, type Statement } from './statement.ts'
import { trustedName } from './wording.ts'

/** What the user states, checked field by field before anything is verified. */

export interface InputError {
  readonly field: FieldName
  readonly message: string
}

/** The first thing that the user still has to state; null if nothing is missing. */
export function findMissing(file: OpenedFile, statement: Statement): InputError | null {
  const { subject, fields } = file
  const { scheme, trustedKind, trusted, network, address, rollup, implementation } = statement
  const schemeIn = subject === 'traces' ? schemeNamed : kindNamed
  const isOfRoot = trustedKind.value === 'l2StateRoot'
  const hasNetwork = trustedKind.value !== 'beaconBlockRoot' || networkOf(file, statement) !== null
  const root = isFromL1(fields) ? trustedName(trustedKind.value) : 'state root'
  const isBlockOpen = subject === 'logs' && isOfRoot && !isStated(statement, 'l2Block')
  const isCodeIdle = isOfRoot && implementation.value !== ''
  const lacking: readonly (readonly [field: FieldName, isLacking: boolean, message: string])[] = [
    ['scheme', schemeIn(scheme.value) === undefined, 'choose the hash scheme that the rollup used at that block'],
    ['trustedKind', subject === 'message' && isOfRoot, 'choose something about L1: it is L1 that holds the messages'],
    ['trusted', trusted.value === '', `enter the ${root} that you trust`],
    ['network', network.value === '' && !hasNetwork, 'enter the network of the beacon block'],
    ['l2Block', isBlockOpen, 'enter the block of the L2 state root yourself: what it proves depends on it'],
    ['address', subject === 'answer' && address.value === '', 'enter the address that you asked for'],
    ['rollup', rollup.value === '', 'enter the rollup: anyone can deploy a contract that holds any root'],
    ['implementation', isCodeIdle, 'leave the code of the contract empty: an L2 state root proves nothing about it'],
  ]
  const [field, , message = ''] = lacking.find(([name, isLacking]) => isLacking && fields.includes(name)) ?? []
  return field === undefined ? null : { field, message }
}

/** What is wrong with the text of a field; null if nothing is. */
type Check = (text: string, statement: Statement, file: OpenedFile) => string | null

/** Short, because it stands beside the label of its field. */
const hex =
  (bytes: number): Check =>
  text => {
    if (isHexOf(bytes, text)) return null
    if (!text.startsWith('0x')) return 'no 0x in front'
    return /^0x[0-9a-fA-F]*$/.test(text) ? `${text.length - 2} digits instead of ${2 * bytes}` : 'not hexadecimal'
  }

const checks: Readonly<Partial<Record<FieldName, Check>>> = {
  trustedKind: kind => (Object.hasOwn(trustedNames, kind) ? null : 'choose one'),
  trusted: hex(32),
  endRoot: hex(32),
  message: hex(32),
  implementation: hex(20),
  rollup: text => (rollupNamed(text) || isHexOf(20, text) ? null : 'no name or contract'),
  network: (_, statement, file) =>
    statement.trustedKind.value !== 'beaconBlockRoot' || networkOf(file, statement)
      ? null
      : `one of ${networkNames().join(', ')}`,
  address: (text, statement, file) =>
    hex(20)(text, statement, file) ??
    (statement.address.source !== 'file' && digitOffChecksum(text) !== null ? 'not as its checksum says' : null),
  storageKeys(_, statement, file) {
    const wrong = keysIn(statement).map(key => hex(32)(key, statement, file))
    const index = wrong.findIndex(message => message !== null)
    return index < 0 ? null : `key ${index + 1}: ${wrong[index]}`
  },
  l2Block: text => (parseNumber(text, 64) === null ? 'no block number' : null),
  layout: text => (slotsIn(text) === null ? 'not two or three slot numbers' : null),
}

/** The form fields with invalid text. An empty field is missing, not invalid. */
export const findInputErrors = (file: OpenedFile, statement: Statement): InputError[] =>
  file.fields.flatMap(field => {
    const { value } = statement[field]
    const message = value === '' ? null : (checks[field]?.(value, statement, file) ?? null)
    return message === null ? [] : [{ field, message }]
  })

/** The network by its name, or by that of the rollup if it is empty. A vector may define a network of another name. */
function networkOf(file: OpenedFile, { network, rollup }: Statement): BeaconNetwork | null {
  const name = network.value === '' ? rollup.value : network.value
  const isOfFile = network.source === 'file' && fieldIn(file.network, 'name') === name
  // Unchecked, despite its type: trustBeaconBlock refuses an invalid network with an ArgumentError.
  return networkNamed(name) ?? (isOfFile ? (file.network as BeaconNetwork) : null)
}

/** The slots of the roots, of the newest block and, if it is not where Linea has it, of the hashes of blocks. */
function slotsIn(text: string): readonly bigint[] | null {
  const words = text.split(/[\s,]+/)
  const slots = words.flatMap(word => parseNumber(word, 256) ?? [])
  return slots.length === words.length && slots.length > 1 && slots.length < 4 ? slots : null
}

export function rollupOf({ rollup, layout, implementation }: Statement): Rollup {
  const slots = slotsIn(layout.value)
  const [stateRootHashes, currentL2BlockNumber, blockHashes = lineaLayout.blockHashes] = slots ?? []
  return {
    ...(rollupNamed(rollup.value) ?? { address: rollup.value, layout: lineaLayout }),
    ...(slots && { layout: { ...lineaLayout, stateRootHashes, currentL2BlockNumber, blockHashes } }),
    ...(implementation.value !== '' && { implementation: implementation.value }),
    // Despite its type, it is unchecked: the verifier refuses what is malformed with an ArgumentError.
  } as Rollup
}

/** The claim about a state that the user stated. What came from the bundle itself is left to it. */
export function stateClaimOf(file: OpenedFile, statement: Statement) {
  const { l2Block, scheme } = statement
  return {
    scheme: schemeNamed(scheme.value) ?? scheme.value,
    trusted: trustedOf(file, statement),
    rollup: rollupOf(statement),
    l2BlockNumber: isStated(statement, 'l2Block') ? parseNumber(l2Block.value, 64) : 'fromBundle',
  } as const
}

export function trustedOf(file: OpenedFile, statement: Statement): unknown {
  const { trustedKind, trusted } = statement
  const network = networkOf(file, statement)
  if (trustedKind.value !== 'beaconBlockRoot' || network === null) return { [trustedKind.value]: trusted.value }
  // Validation of the form has checked both.
  return (
    attempt(() => trustBeaconBlock({ network, blockRoot: trusted.value as Hex })) ?? { beaconBlockRoot: trusted.value }
  )
}
