import type { VerifiedEvidence } from '../../../src/anchor.ts'
import type { Account, VerifiedState } from '../../../src/index.ts'
import type { Form } from './checks.ts'
import type { ExplorerDocument } from './document.ts'
import type { FieldName, Row, Source, Statement } from './messages.ts'
import { printable } from './value.ts'

/** What was asked and what was proven, in the words of the command line's reports. */

export const sourceWords: Readonly<Record<Source, string>> = {
  you: 'stated by you',
  file: 'from the file',
  answer: 'taken from the answer, not stated by you',
  bundle: 'from the bundle, not stated by you',
}

export const trustedNames = new Map([
  ['l1BlockHash', 'L1 block hash'],
  ['l1StateRoot', 'L1 state root'],
  ['l2StateRoot', 'L2 state root'],
])

export const claimWords: Readonly<Record<Form, string>> = {
  existence: 'presence',
  absence: 'absence',
  implied: 'absence, without a proof',
  unknown: 'nothing that can be read',
}

export const keysIn = ({ storageKeys }: Statement): string[] =>
  storageKeys.value.split(/[\s,]+/).filter(key => key !== '')

/** Whether the person, or a vector, says it; what is left empty is the bundle's to say. */
export const isStated = (statement: Statement, name: FieldName): boolean =>
  statement[name].source !== 'bundle' && statement[name].value !== ''

export function slotWords(storage: VerifiedState['storage']): string {
  const present = storage.filter(({ exists }) => exists).length
  const absent = storage.length - present
  if (storage.length === 0) return ''
  if (storage.length === 1) return `, this slot is ${present === 1 ? 'present' : 'absent'}`
  return `, ${present} of its ${storage.length} slots ${present === 1 ? 'is' : 'are'} present, ${absent} absent`
}

export const accountRows = (account: Account): Row[] => [
  ['Nonce', `${account.nonce}`],
  ['Balance', `${account.balance} wei${account.balance >= 10n ** 9n ? ` (${toEther(account.balance)} ether)` : ''}`],
  ['Storage root', account.storageRoot],
  ['Code hash', account.codeHash],
  ['SNARK code hash', account.snarkCodeHash],
  ['Code size', `${account.codeSize} bytes`],
  ['Leaf index', `${account.leafIndex}`],
]

function toEther(wei: bigint): string {
  const digits = wei.toString().padStart(19, '0')
  return `${digits.slice(0, -18)}.${digits.slice(-18)}`.replace(/\.?0+$/, '')
}

export function questionRows({ isBundle }: ExplorerDocument, statement: Statement): Row[] {
  const { trustedKind, scheme, trusted, rollup, l2Block, address } = statement
  const row = (name: string, value: string, source: Source): Row[] =>
    value === '' ? [] : [[name, printable(value), sourceWords[source]]]
  const keys = keysIn(statement)
  return [
    ...row(trustedNames.get(trustedKind.value) ?? 'Root', trusted.value, trusted.source),
    ...row('Scheme', scheme.value, scheme.source),
    ...(isBundle
      ? [...row('Rollup', rollup.value, rollup.source), ...row('L2 block', l2Block.value, l2Block.source)]
      : []),
    ...row('Address', address.value, address.source),
    ...(keys.length === 0 && isBundle
      ? []
      : [
          [
            'Storage keys',
            `${keys.length}`,
            keys.length === 0 ? '' : sourceWords[statement.storageKeys.source],
          ] as const,
        ]),
  ]
}

/** What the verdict is worth depends on who stated the question. */
export function answerNotes({ trusted, scheme, address, storageKeys }: Statement, keys: readonly string[]): string[] {
  const taken = [
    address.source === 'answer' && 'address',
    storageKeys.source === 'answer' && keys.length > 0 && 'storage keys',
    scheme.source === 'answer' && 'scheme',
  ].filter(name => name !== false)
  return [
    ...(trusted.source === 'file' ? ['The state root is what the file says; compare it with L1.'] : []),
    ...(taken.length > 0 ? [`The ${listed(taken)} came from the answer: check that this is what you asked for.`] : []),
  ]
}

const listed = (names: readonly string[]): string =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`

/** From the trusted input down: each row says what it rests on. */
export function chainRows(statement: Statement, evidence: VerifiedEvidence): Row[] {
  const { l1Block, reach, l2BlockNumber, currentL2BlockNumber, stateRoot, address, storage } = evidence
  const words = (name: FieldName) => sourceWords[isStated(statement, name) ? statement[name].source : 'bundle']
  const isAnchored = reach !== 'l2StateRoot'
  const unproven = isAnchored ? '' : ', not proven'
  return [
    ...(l1Block === null
      ? []
      : ([
          ['L1 block hash', l1Block.hash, 'trusted'],
          ['L1 block', `${l1Block.number}, of ${formatTime(l1Block.timestamp)}`, 'proven by the hash'],
          ['L1 state root', l1Block.stateRoot, 'proven by the header'],
        ] as const)),
    ...(reach === 'l1StateRoot' ? ([['L1 state root', statement.trusted.value, 'trusted']] as const) : []),
    ['Rollup', statement.rollup.value, `${words('rollup')}${unproven}`],
    ...(l2BlockNumber === null ? [] : ([['L2 block', `${l2BlockNumber}`, `${words('l2Block')}${unproven}`]] as const)),
    ...(currentL2BlockNumber === null
      ? []
      : ([['Last finalized L2 block', `${currentL2BlockNumber}`, 'proven by the rollup contract']] as const)),
    ['L2 state root', stateRoot, isAnchored ? 'proven by the rollup contract' : 'trusted'],
    ['Address', address, words('address')],
    ['Storage keys', `${storage.length}`, words('storageKeys')],
  ]
}

export function bundleNotes(statement: Statement, evidence: VerifiedEvidence): string[] {
  const { reach, l2BlockNumber, currentL2BlockNumber, storage } = evidence
  const isFromBundle = (name: FieldName) => !isStated(statement, name)
  const isAnchored = reach !== 'l2StateRoot'
  const taken = [
    isFromBundle('scheme') && 'scheme',
    isFromBundle('rollup') && 'rollup',
    isAnchored && isFromBundle('l2Block') && 'L2 block',
    isFromBundle('address') && 'address',
    isFromBundle('storageKeys') && storage.length > 0 && 'storage keys',
  ].filter(name => name !== false)
  const isOld = l2BlockNumber !== null && currentL2BlockNumber !== null && l2BlockNumber < currentL2BlockNumber
  const trustedName = trustedNames.get(reach)
  return [
    ...(statement.trusted.source === 'file'
      ? [`The ${trustedName} is what the file says: compare it with one that you trust.`]
      : []),
    ...(taken.length > 0
      ? [`Whoever made the bundle chose the ${listed(taken)}: check that this is what you want.`]
      : []),
    ...(isOld ? [`The L2 had been finalized up to block ${currentL2BlockNumber}: this is an older state.`] : []),
    ...(isAnchored ? [] : ['Nothing here proves that the state root is of this rollup, or of which block.']),
  ]
}

/** A header can hold any 64-bit number, and a Date cannot. */
function formatTime(seconds: bigint): string {
  const time = new Date(Number(seconds) * 1000)
  return Number.isNaN(time.getTime()) ? `${seconds} s after 1970` : time.toISOString().replace('.000', '')
}
