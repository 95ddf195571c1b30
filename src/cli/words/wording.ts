import { plural } from '../../base/errors.ts'
import type { L1Account } from '../../verify/anchor/eth-proof.ts'
import type { L1Block } from '../../verify/anchor/header.ts'
import type { Rollup } from '../../verify/anchor/rollup.ts'
import type { BlockHeader } from '../../verify/blocks/header.ts'
import type { AnyEvidence } from '../../verify/evidence/kinds/state.ts'
import type { ProvenBeaconBlock, Reach } from '../../verify/evidence/trusted.ts'
import type { ProvenAccount } from '../../verify/proof/verify.ts'
import type { AnyState } from '../../verify/state/kind.ts'
import type { Source } from './answer.ts'
import { nameOfRollup } from './evidence.ts'
import { premiseWords, type Verdict } from './verdict.ts'

/** What was asked and what was proven, in words shared by terminals, the page and reports. */

export type Row = readonly [name: string, value: string, basis?: string]

export const sourceWords: Readonly<Record<Source, string>> = {
  user: 'stated by you',
  default: 'the default, not stated by you',
  confirmed: 'confirmed by you',
  file: 'from the file',
  answer: 'from the answer, not stated by you',
  bundle: 'from the bundle, not stated by you',
  endpoint: 'from the endpoint',
  lengths: 'found by the form of the answer',
}

export const trustedNames: Readonly<Record<Reach, string>> = {
  beaconBlockRoot: premiseWords('beaconBlockRoot'),
  l1BlockHash: premiseWords('l1BlockHash'),
  l1StateRoot: premiseWords('l1StateRoot'),
  l2StateRoot: premiseWords('l2StateRoot'),
}

export const existenceOf = ({ account }: Pick<AnyState, 'account'>): string =>
  `this account ${account === null ? 'does not exist' : 'exists'}`

export const accountRows = (account: ProvenAccount | L1Account): Row[] => [
  ['nonce', `${account.nonce}`],
  ['balance', `${account.balance} wei`],
  ['storage root', account.storageRoot],
  ['code hash', account.codeHash],
  // An Ethereum state has no more.
  ...('leafIndex' in account
    ? ([
        ['SNARK code hash', account.snarkCodeHash],
        ['code size', plural(account.codeSize, 'byte')],
        ['leaf index', `${account.leafIndex}`],
      ] as const)
    : []),
]

/** An amount in wei as ether, without trailing zeros. */
export function toEther(wei: bigint): string {
  const digits = wei.toString().padStart(19, '0')
  return `${digits.slice(0, -18)}.${digits.slice(-18)}`.replace(/\.?0{1,18}$/, '')
}

/** The rows from the trusted beacon block to the finalized one. Empty for any other trusted input. */
export function beaconRows(
  { beaconBlock }: { readonly trustedInput?: Reach; readonly beaconBlock?: ProvenBeaconBlock | undefined },
  now?: bigint,
): Row[] {
  if (beaconBlock === undefined) return []
  const { trustedBlockRoot, trustedSlotTimestamp, blockRoot, slot, slotTimestamp, signers, period } = beaconBlock
  const age = ageOf(trustedSlotTimestamp, now)
  return [
    ['trusted beacon block', trustedBlockRoot, 'trusted'],
    ['age of that block', age, 'by this clock: it must have been trusted within two weeks, one since Gloas'],
    ['sync committee', `of period ${period}`, 'proven from the trusted block, period by period'],
    ['signers', `${signers} of 512`, `of the committee of period ${period}`],
    ['beacon block', blockRoot, 'proven final by these signatures'],
    ['beacon slot', `${slot}`, `of ${formatTime(slotTimestamp)}`],
  ]
}

type Timed = Pick<AnyEvidence, 'l1Block'> & {
  readonly finalizedTimestamp?: bigint | undefined
  readonly l2Block?: BlockHeader | undefined
}

/** How long ago it was, by this machine's clock. */
export const ageOf = (time: bigint, now = BigInt(Math.floor(Date.now() / 1000))): string =>
  formatAge(now > time ? now - time : 0n)

export function timeRow({ finalizedTimestamp: time, l1Block, l2Block }: Timed, now?: bigint): Row {
  if (time !== undefined) {
    const basis = l2Block === undefined ? 'by the rollup contract' : "by the block's header"
    return ['L2 block time', formatTime(time), `${ageOf(time, now)} old, proven ${basis}`]
  }
  const row = ['L2 block time', 'not proven'] as const
  return l1Block === undefined
    ? row
    : [...row, `the L1 block is ${ageOf(l1Block.timestamp, now)} old, and this block is older`]
}

const UNITS = [
  [86_400n, 'day'],
  [3_600n, 'hour'],
  [60n, 'minute'],
] as const

/** Uses the largest unit of which there are at least two, and rounds down: `3 hours`, `110 minutes`, `1 second`. */
export function formatAge(seconds: bigint): string {
  const [size, name] = UNITS.find(([length]) => seconds >= 2n * length) ?? [1n, 'second']
  return plural(seconds / size, name)
}

export interface ProvenChain extends Timed, Partial<Pick<AnyEvidence, 'implementation' | 'stateRoot'>> {
  readonly trustedInput?: Reach
  readonly beaconBlock?: ProvenBeaconBlock | undefined
  readonly l2BlockNumber?: bigint | undefined
  readonly currentL2BlockNumber?: bigint | undefined
}

export interface ChainClaim {
  readonly sources: Readonly<Partial<Record<string, Source>>>
  /** Undefined for what is in no state. */
  readonly scheme?: string | undefined
  readonly rollup: Rollup
  readonly trusted?: string
  /** Who states the L1 block hash, in words. Default: it is trusted, or proven from a beacon block that is. */
  readonly hash?: string
}

/** The contract, by the name that `--network` takes if it has one. */
export function contractWords({ address }: Rollup): string {
  const name = nameOfRollup(address)
  return name === undefined ? address : `${address} (${name})`
}

/** The chain of evidence, from the trusted input down: each row says what it rests on. @param now seconds since 1970 */
export function chainRows(
  { sources, scheme, rollup, trusted = '', hash }: ChainClaim,
  evidence: ProvenChain,
  now?: bigint,
): Row[] {
  const { l1Block, trustedInput: reach, l2BlockNumber, currentL2BlockNumber, stateRoot, l2Block } = evidence
  const words = (name: string) => sourceWords[sources[name] ?? 'bundle']
  const isAnchored = reach !== 'l2StateRoot'
  const unproven = isAnchored ? '' : ', not proven'
  const rootBasis = l2Block === undefined ? 'proven by the rollup contract' : "proven by the block's header"
  const hashBasis = hash ?? (reach === 'beaconBlockRoot' ? 'proven by the finalized beacon block' : 'trusted')
  const rows: (Row | false)[] = [
    ...beaconRows(evidence, now),
    ...(l1Block === undefined ? [] : l1Rows(l1Block, hashBasis)),
    reach === 'l1StateRoot' && ['L1 state root', trusted, 'trusted'],
    ['rollup', contractWords(rollup), `${words('rollup')}${unproven}`],
    isAnchored && implementationRow(evidence, rollup),
    l2BlockNumber !== undefined && ['L2 block', `${l2BlockNumber}`, `${words('l2BlockNumber')}${unproven}`],
    currentL2BlockNumber !== undefined && [
      'last finalized',
      `${currentL2BlockNumber}`,
      'proven by the rollup contract',
    ],
    isAnchored && l2BlockNumber !== undefined && timeRow(evidence, now),
    l2Block !== undefined && ['L2 block hash', l2Block.hash, 'proven by the rollup contract'],
    stateRoot !== undefined && ['L2 state root', stateRoot, isAnchored ? rootBasis : 'trusted'],
    scheme !== undefined && ['scheme', scheme, words('scheme')],
  ]
  return rows.filter(row => row !== false)
}

const l1Rows = (block: L1Block, basis: string): Row[] => [
  ['L1 block hash', block.hash, basis],
  ['L1 block', `${block.number}`, `of ${formatTime(block.timestamp)}, proven by the hash`],
  ['L1 state root', block.stateRoot, 'proven by the header'],
]

/** What is proven from a premise that nobody has confirmed is not proven, but follows from it. */
export const ifRight = ({ word }: Pick<Verdict, 'word'>, rows: readonly Row[]): readonly Row[] =>
  word !== 'consistent'
    ? rows
    : rows.map(([name, value, basis = '']) => [
        name,
        value,
        basis
          .replace(/^proven$/, 'follows')
          .replace(/^proven at\b/, 'follows, at')
          .replace(/\bproven(?: final)? (?:by|from)\b/, 'follows from')
          .replace(': proven,', ': follows,')
          .replace(/^trusted$/, 'not confirmed'),
      ])

function implementationRow({ implementation }: ProvenChain, stated: Rollup): Row {
  if (implementation === undefined) return ['contract code', 'not proven', 'no proof covers the implementation']
  const said = stated.implementation === undefined ? 'not stated by you' : sourceWords.user
  return ['contract code', implementation, `the implementation: proven, ${said}`]
}

export function notesOn({ trustedInput, l2BlockNumber, currentL2BlockNumber: newest }: ProvenChain): string[] {
  return [
    l2BlockNumber !== undefined &&
      newest !== undefined &&
      l2BlockNumber < newest &&
      `this is an older state: the rollup had already finalized L2 block ${newest}.`,
    l2BlockNumber === 0n &&
      'L2 block 0 is the genesis. If the rollup is older than that, the storage layout of its network is wrong.',
    trustedInput === 'l2StateRoot' &&
      'nothing here proves that the state root belongs to this rollup, or to which block.',
  ].filter(note => note !== false)
}

export const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** A header can hold any 64-bit number, but a Date cannot. */
export function formatTime(seconds: bigint): string {
  const time = new Date(Number(seconds) * 1000)
  return Number.isNaN(time.getTime()) ? `${seconds} s after 1970` : time.toISOString().replace('.000', '')
}
