import { kindNamed, schemeNamed } from '../cli/words/answer.ts'
import { digitOffChecksum } from '../cli/words/checksum.ts'
import { forkOf, networkNamed, networkNames, parseNumber, rollupNamed } from '../cli/words/evidence.ts'
import { attempt, isHexOf } from '../cli/words/layout.ts'
import { fieldIn, fieldsOf } from '../cli/words/value.ts'
import type { Rollup } from '../entry/anchor.ts'
import { type BeaconNetwork, trustBeaconBlock } from '../entry/beacon.ts'
import { filterLogs, type LogsClaim } from '../entry/blocks.ts'
import type { Hex } from '../entry/index.ts'
import type { OpenedFile } from './opened-file.ts'
import { type FieldName, isFromL1, isStated, keysIn, type Statement } from './statement.ts'
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
  const lacks = (field: FieldName, message: string): InputError => ({ field, message })
  const hasScheme = (subject === 'traces' ? schemeNamed : kindNamed)(scheme.value) !== undefined
  if (subject !== 'message' && !hasScheme) {
    return lacks('scheme', 'choose the hash scheme that the rollup used at the block of the proof')
  }
  const name = trustedName(trustedKind.value)
  if (!isFromL1(subject) && trustedKind.value !== 'l2StateRoot') {
    return lacks('trustedKind', `an answer alone cannot be verified against an ${name}: that takes an evidence bundle`)
  }
  if (subject === 'message' && trustedKind.value === 'l2StateRoot') {
    return lacks('trustedKind', 'choose something about L1: it is L1 that holds the messages')
  }
  if (trusted.value === '')
    return lacks('trusted', `enter the ${isFromL1(subject) ? name : 'state root'} that you trust`)
  const isFromBeacon = trustedKind.value === 'beaconBlockRoot'
  if (isFromBeacon && network.value === '' && networkOf(file, statement) === null) {
    return lacks('network', 'enter the network of the beacon block')
  }
  if (subject === 'logs' && trustedKind.value === 'l2StateRoot' && !isStated(statement, 'l2Block')) {
    return lacks('l2Block', 'enter the block of the L2 state root yourself: what it proves depends on it')
  }
  if (subject === 'answer' && address.value === '') return lacks('address', 'enter the address that you asked for')
  if (isFromL1(subject) && rollup.value === '') {
    return lacks('rollup', 'enter the rollup: anyone can deploy a contract that holds any root')
  }
  if (isFromL1(subject) && trustedKind.value === 'l2StateRoot' && implementation.value !== '') {
    return lacks('implementation', 'leave the code of the contract empty: an L2 state root proves nothing about it')
  }
  return null
}

/** The form fields with invalid text. An empty field is missing, not invalid. */
export function findInputErrors(file: OpenedFile, statement: Statement): InputError[] {
  const check = (field: FieldName, isRight: (text: string) => boolean, message: string): InputError[] => {
    const { value } = statement[field]
    return value === '' || isRight(value) ? [] : [{ field, message }]
  }
  const hex = (field: FieldName, length: number) =>
    check(field, text => isHexOf(length, text), hexMessage(length, statement[field].value))
  const number = (field: FieldName, bits: number, message: string) =>
    check(field, text => parseNumber(text, bits) !== null, message)
  const keys = keysIn(statement)
  const wrong = keys.findIndex(key => !isHexOf(32, key))
  const { subject } = file
  const common = [...check('trustedKind', isTrustedKind, 'choose one'), ...hex('trusted', 32)]
  if (subject === 'traces') return [...common, ...hex('endRoot', 32)]
  const ofState = [
    ...hex('address', 20),
    ...(statement.address.source === 'file' ? [] : check('address', isSpelled, 'not as its checksum says')),
    ...check('storageKeys', () => wrong < 0, `key ${wrong + 1}: ${hexMessage(32, keys[wrong] ?? '')}`),
  ]
  if (subject === 'answer') return [...common, ...ofState]
  return [
    ...common,
    ...(statement.trustedKind.value === 'beaconBlockRoot'
      ? check('network', () => networkOf(file, statement) !== null, `one of ${networkNames.join(', ')}`)
      : []),
    ...check('rollup', text => rollupNamed(text) !== undefined || isHexOf(20, text), 'no name or contract'),
    ...hex('implementation', 20),
    ...(subject === 'message'
      ? hex('message', 32)
      : [
          ...(subject === 'bundle' ? ofState : []),
          ...(subject === 'logs'
            ? check('logs', () => logsClaimOf(statement) !== null, 'not what eth_getLogs takes')
            : []),
          ...number('l2Block', 64, 'no block number'),
          ...(['rootsSlot', 'currentSlot', 'hashesSlot'] as const).flatMap(field =>
            number(field, 256, 'no slot number'),
          ),
        ]),
  ]
}

/** Whether it can have been meant: what is no address is refused as such. */
const isSpelled = (text: string): boolean => !isHexOf(20, text) || digitOffChecksum(text) === null

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
  const isFilter = attempt(() => filterLogs([], filter)) !== null
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
