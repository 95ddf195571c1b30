import { kindNamed, schemeNamed } from '../cli/words/answer.ts'
import { digitOffChecksum } from '../cli/words/checksum.ts'
import { forkOf, networkNamed, networkNames, parseNumber, rollupNamed } from '../cli/words/evidence.ts'
import { attempt, isHexOf } from '../cli/words/layout.ts'
import { fieldIn, fieldsOf } from '../cli/words/value.ts'
import type { Rollup } from '../entry/anchor.ts'
import { type BeaconNetwork, trustBeaconBlock } from '../entry/beacon.ts'
import type { LogsClaim } from '../entry/blocks.ts'
import type { Hex } from '../entry/index.ts'
import { decodeFilter } from '../verify/blocks/filter.ts'
import type { OpenedFile } from './opened-file.ts'
import { type FieldName, fieldsFor, isFromL1, isStated, keysIn, type Statement } from './statement.ts'
import { isTrustedKind, trustedName } from './wording.ts'

/** What the user states, checked field by field before anything is verified. */

export interface InputError {
  readonly field: FieldName
  readonly message: string
}

/** The first thing that the user still has to state; null if nothing is missing. */
export function findMissing(file: OpenedFile, statement: Statement): InputError | null {
  const { subject } = file
  const { scheme, trustedKind, trusted, network, address, rollup, implementation } = statement
  const schemeIn = subject === 'traces' ? schemeNamed : kindNamed
  const isOfRoot = trustedKind.value === 'l2StateRoot'
  const isOfBeacon = trustedKind.value === 'beaconBlockRoot'
  const root = isFromL1(subject) ? trustedName(trustedKind.value) : 'state root'
  const lacking: readonly (readonly [field: FieldName, isLacking: boolean, message: string])[] = [
    [
      'scheme',
      schemeIn(scheme.value) === undefined,
      'choose the hash scheme that the rollup used at the block of the proof',
    ],
    ['trustedKind', subject === 'message' && isOfRoot, 'choose something about L1: it is L1 that holds the messages'],
    ['trusted', trusted.value === '', `enter the ${root} that you trust`],
    [
      'network',
      isOfBeacon && network.value === '' && networkOf(file, statement) === null,
      'enter the network of the beacon block',
    ],
    [
      'l2Block',
      subject === 'logs' && isOfRoot && !isStated(statement, 'l2Block'),
      'enter the block of the L2 state root yourself: what it proves depends on it',
    ],
    ['address', subject === 'answer' && address.value === '', 'enter the address that you asked for'],
    ['rollup', rollup.value === '', 'enter the rollup: anyone can deploy a contract that holds any root'],
    [
      'implementation',
      isOfRoot && implementation.value !== '',
      'leave the code of the contract empty: an L2 state root proves nothing about it',
    ],
  ]
  const fields = fieldsFor(subject)
  const [field, , message = ''] = lacking.find(([name, isLacking]) => isLacking && fields.includes(name)) ?? []
  return field === undefined ? null : { field, message }
}

/** What is wrong with the text of a field; null if nothing is. */
type Check = (text: string, statement: Statement, file: OpenedFile) => string | null

const hex =
  (bytes: number): Check =>
  text =>
    isHexOf(bytes, text) ? null : hexMessage(bytes, text)
const number =
  (bits: number, message: string): Check =>
  text =>
    parseNumber(text, bits) === null ? message : null
const slot = number(256, 'no slot number')

const checks: Readonly<Partial<Record<FieldName, Check>>> = {
  trustedKind: text => (isTrustedKind(text) ? null : 'choose one'),
  trusted: hex(32),
  endRoot: hex(32),
  message: hex(32),
  implementation: hex(20),
  rollup: text => (rollupNamed(text) || isHexOf(20, text) ? null : 'no name or contract'),
  network: (_, statement, file) =>
    statement.trustedKind.value !== 'beaconBlockRoot' || networkOf(file, statement)
      ? null
      : `one of ${networkNames.join(', ')}`,
  address(text, { address }) {
    if (!isHexOf(20, text)) return hexMessage(20, text)
    return address.source !== 'file' && digitOffChecksum(text) !== null ? 'not as its checksum says' : null
  },
  storageKeys(_, statement) {
    const keys = keysIn(statement)
    const wrong = keys.findIndex(key => !isHexOf(32, key))
    return wrong < 0 ? null : `key ${wrong + 1}: ${hexMessage(32, keys[wrong] ?? '')}`
  },
  logs: (_, statement) => (logsClaimOf(statement) === null ? 'not what eth_getLogs takes' : null),
  l2Block: number(64, 'no block number'),
  rootsSlot: slot,
  currentSlot: slot,
  hashesSlot: slot,
}

/** The form fields with invalid text. An empty field is missing, not invalid. */
export const findInputErrors = (file: OpenedFile, statement: Statement): InputError[] =>
  fieldsFor(file.subject).flatMap(field => {
    const { value } = statement[field]
    const message = value === '' ? null : (checks[field]?.(value, statement, file) ?? null)
    return message === null ? [] : [{ field, message }]
  })

/** Short, because it stands beside the label of its field. */
function hexMessage(bytes: number, text: string): string {
  if (!text.startsWith('0x')) return 'no 0x in front'
  return /^0x[0-9a-fA-F]*$/.test(text) ? `${text.length - 2} digits instead of ${2 * bytes}` : 'not hexadecimal'
}

/** The network by its name, or by that of the rollup if it is empty. A vector may define a network of another name. */
function networkOf(file: OpenedFile, { network, rollup }: Statement): BeaconNetwork | null {
  const name = network.value === '' ? rollup.value : network.value
  const isOfFile = network.source === 'file' && fieldIn(file.network, 'name') === name
  // Unchecked, despite its type: trustBeaconBlock refuses an invalid network with an ArgumentError.
  return networkNamed(name) ?? (isOfFile ? (file.network as BeaconNetwork) : null)
}

export function rollupOf({ rollup, rootsSlot, currentSlot, hashesSlot, implementation }: Statement): Rollup {
  const slot = (text: string) => parseNumber(text, 256) ?? undefined
  const known = rollupNamed(rollup.value) ?? forkOf(rollup.value, slot(rootsSlot.value), slot(currentSlot.value))
  const blockHashes = slot(hashesSlot.value)
  const layout = known.layout && { ...known.layout, ...(blockHashes !== undefined && { blockHashes }) }
  // Despite its type, the address is unchecked: the verifier refuses a malformed one with an ArgumentError.
  return { ...known, layout, ...(implementation.value !== '' && { implementation: implementation.value as Hex }) }
}

/** The claim about a state that the user stated. What came from the bundle itself is left to it. */
export function stateClaimOf(file: OpenedFile, statement: Statement) {
  const { l2Block, scheme } = statement
  return {
    ...{ scheme: schemeNamed(scheme.value) ?? scheme.value, trusted: trustedOf(file, statement) },
    rollup: rollupOf(statement),
    l2BlockNumber: isStated(statement, 'l2Block') ? parseNumber(l2Block.value, 64) : 'fromBundle',
  } as const
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Which logs the user asked for. What came from the bundle itself is left to it. Null if the text is not what eth_getLogs takes. */
export function logsClaimOf(statement: Statement): Pick<LogsClaim, 'fromBlock' | 'toBlock' | 'filter'> | null {
  if (!isStated(statement, 'logs')) return { fromBlock: 'fromBundle', toBlock: 'fromBundle', filter: 'fromBundle' }
  const { fromBlock: from, toBlock: to, ...filter } = fieldsOf(parsed(statement.logs.value))
  const [fromBlock, toBlock] = [parseNumber(from, 64), parseNumber(to, 64)]
  const isFilter = attempt(() => decodeFilter(filter)) !== null
  return fromBlock !== null && toBlock !== null && isFilter ? { fromBlock, toBlock, filter } : null
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
