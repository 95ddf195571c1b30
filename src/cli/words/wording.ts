import type { L1Account } from '../../verify/anchor/eth-proof.ts'
import type { L1Block } from '../../verify/anchor/header.ts'
import type { BlockHeader } from '../../verify/blocks/header.ts'
import type { AnyEvidence, ProvenBeaconBlock, Reach } from '../../verify/evidence/types.ts'
import type { ProvenAccount } from '../../verify/proof/verify.ts'
import type { AnyState } from '../../verify/state/types.ts'
import type { ClaimField, Source } from './claim.ts'
import type { EvidenceSources } from './evidence.ts'
import { listed, premiseWords, type Verdict } from './verdict.ts'

/** What was asked and what was proven, in words shared by terminals, the page and reports. */

/** A name, a value, and what the value rests on. */
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

export const count = (number: number, one: string): string => `${number} ${one}${number === 1 ? '' : 's'}`

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
        ['code size', `${account.codeSize} bytes`],
        ['leaf index', `${account.leafIndex}`],
      ] as const)
    : []),
]

/** An amount in wei as ether, without trailing zeros. */
export function toEther(wei: bigint): string {
  const digits = wei.toString().padStart(19, '0')
  return `${digits.slice(0, -18)}.${digits.slice(-18)}`.replace(/\.?0{1,18}$/, '')
}

/** Caveats about the verdict on an answer, given who stated the claim. */
export function answerNotes(sources: Readonly<Record<ClaimField, Source>>, keyCount: number): string[] {
  const taken = namesFrom('answer', {
    address: sources.address,
    'storage keys': keyCount > 0 && sources.storageKeys,
    scheme: sources.scheme,
  })
  return [taken !== '' && `the ${taken} came from the answer: check that this is what you asked for.`].filter(
    note => note !== false,
  )
}

/** The names of the parts that this source stated, as a phrase. False stands for a part that is not asked for. */
function namesFrom(source: Source, parts: Readonly<Record<string, Source | false>>): string {
  return listed(Object.keys(parts).filter(name => parts[name] === source))
}

/** The rows from the trusted beacon block to the finalized one. Empty for any other trusted input. */
export function beaconRows(
  { beaconBlock }: { readonly trustedInput?: Reach; readonly beaconBlock?: ProvenBeaconBlock | undefined },
  now = clockSeconds(),
): Row[] {
  if (beaconBlock === undefined) return []
  const { trustedBlockRoot, trustedSlotTimestamp, blockRoot, slot, slotTimestamp, signers, period } = beaconBlock
  const age = formatAge(secondsSince(trustedSlotTimestamp, now))
  return [
    ['trusted beacon block', trustedBlockRoot, 'trusted'],
    ['age of that block', age, 'by this clock: it must have been trusted within two weeks, one since Gloas'],
    ['sync committee', `of period ${period}`, 'proven from the trusted block, period by period'],
    ['signers', `${signers} of 512`, `of the committee of period ${period}`],
    ['beacon block', blockRoot, 'proven final by these signatures'],
    ['beacon slot', `${slot}`, `of ${formatTime(slotTimestamp)}`],
  ]
}

export interface StateAge {
  /** By this machine's clock, never negative. */
  readonly seconds: bigint
  /**
   * Where the age is counted from: the proven timestamp of the L2 block or, if none is proven, that of the L1 block. In
   * the second case, the state is older by an unknown time.
   */
  readonly since: 'l2Block' | 'l1Block'
}

/** What a bundle proves about the time of its state. */
type Timed = Pick<AnyEvidence, 'l1Block'> & {
  readonly finalizedTimestamp?: bigint | undefined
  readonly l2Block?: BlockHeader | undefined
}

const clockSeconds = (): bigint => BigInt(Math.floor(Date.now() / 1000))

/** Seconds since a time, by this machine's clock, never negative. */
export const secondsSince = (time: bigint, now = clockSeconds()): bigint => (now > time ? now - time : 0n)

/** The age of the state, and that of the trusted beacon block in seconds, for programs. */
export function agesOf(
  evidence: Timed & { readonly beaconBlock?: ProvenBeaconBlock | undefined },
  now = clockSeconds(),
) {
  const { beaconBlock } = evidence
  return {
    age: ageOf(evidence, now),
    ...(beaconBlock && { trustedBeaconBlockAge: secondsSince(beaconBlock.trustedSlotTimestamp, now) }),
  }
}

/** @returns undefined if the bundle proves neither time */
export function ageOf({ finalizedTimestamp, l1Block }: Timed, now = clockSeconds()): StateAge | undefined {
  const time = finalizedTimestamp ?? l1Block?.timestamp
  if (time === undefined) return undefined
  return { seconds: secondsSince(time, now), since: finalizedTimestamp === undefined ? 'l1Block' : 'l2Block' }
}

/** When the L2 block was made, and how old its state is. */
export function timeRow(evidence: Timed, now = clockSeconds()): Row {
  const { finalizedTimestamp, l1Block, l2Block } = evidence
  const age = formatAge(ageOf(evidence, now)?.seconds ?? 0n)
  if (finalizedTimestamp !== undefined) {
    const basis = l2Block === undefined ? 'by the rollup contract' : "by the block's header"
    return ['L2 block time', formatTime(finalizedTimestamp), `${age} old, proven ${basis}`]
  }
  const row = ['L2 block time', 'not proven'] as const
  return l1Block === undefined ? row : [...row, `the L1 block is ${age} old, and this block is older`]
}

const UNITS = [
  [86_400n, 'day'],
  [3_600n, 'hour'],
  [60n, 'minute'],
] as const

/** Uses the largest unit of which there are at least two, and rounds down: `3 hours`, `110 minutes`, `1 second`. */
export function formatAge(seconds: bigint): string {
  const [size, name] = UNITS.find(([length]) => seconds >= 2n * length) ?? [1n, 'second']
  const count = seconds / size
  return `${count} ${name}${count === 1n ? '' : 's'}`
}

/** What is proven, of evidence of any kind, from what is trusted to a block. */
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
  /** The rollup contract, as the claim names it. */
  readonly rollup: string
  readonly trusted?: string
  /** Who states the L1 block hash, in words. Default: it is trusted, or proven from a beacon block that is. */
  readonly hash?: string
}

/**
 * The chain of evidence, from the trusted input down: each row says what it rests on.
 *
 * @param now seconds since 1970. Default: this machine's clock
 */
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
    ...l1Rows(l1Block, hashBasis),
    reach === 'l1StateRoot' && ['L1 state root', trusted, 'trusted'],
    ['rollup', rollup, `${words('rollup')}${unproven}`],
    isAnchored && implementationRow(evidence, sources['implementation']),
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

const l1Rows = (block: L1Block | undefined, basis: string): Row[] =>
  block === undefined
    ? []
    : [
        ['L1 block hash', block.hash, basis],
        ['L1 block', `${block.number}`, `of ${formatTime(block.timestamp)}, proven by the hash`],
        ['L1 state root', block.stateRoot, 'proven by the header'],
      ]

/** What is proven from a premise that nobody has confirmed is not proven, but follows from it. */
export const ifRight = ({ word }: Pick<Verdict, 'word'>, rows: readonly Row[]): readonly Row[] =>
  word !== 'consistent'
    ? rows
    : rows.map(([name, value, basis = '']) => [
        ...([name, value] as const),
        basis
          .replace(/^proven$/, 'follows')
          .replace(/^proven at\b/, 'follows, at')
          .replace(/\bproven(?: final)? (?:by|from)\b/, 'follows from')
          .replace(': proven,', ': follows,')
          .replace(/^trusted$/, 'not confirmed'),
      ])

/** The code of the rollup contract. @param pinnedBy who stated it; undefined if nobody did */
export function implementationRow(
  { implementation }: Partial<Pick<AnyEvidence, 'implementation'>>,
  pinnedBy?: Source,
): Row {
  if (implementation === undefined) return ['contract code', 'not proven', 'no proof covers the implementation']
  const said = pinnedBy === undefined ? 'not stated by you' : sourceWords[pinnedBy]
  return ['contract code', implementation, `the implementation: proven, ${said}`]
}

export function bundleNotes(sources: EvidenceSources, evidence: AnyEvidence): string[] {
  const { trustedInput: reach, l2BlockNumber, currentL2BlockNumber, storage } = evidence
  const isAnchored = reach !== 'l2StateRoot'
  const taken = namesFrom('bundle', {
    scheme: sources.scheme,
    rollup: sources.rollup,
    'L2 block': isAnchored && sources.l2BlockNumber,
    address: sources.address,
    'storage keys': storage.length > 0 && sources.storageKeys,
  })
  const isOld =
    l2BlockNumber !== undefined && currentL2BlockNumber !== undefined && l2BlockNumber < currentL2BlockNumber
  return [
    taken !== '' && `whoever made the bundle chose the ${taken}: check that this is what you asked for.`,
    isOld && `this is an older state: the rollup had already finalized L2 block ${currentL2BlockNumber}.`,
    l2BlockNumber === 0n &&
      'L2 block 0 is the genesis. If the rollup is older than that, the storage layout of its network is wrong.',
    !isAnchored && 'nothing here proves that the state root belongs to this rollup, or to which block.',
  ].filter(note => note !== false)
}

export const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** A header can hold any 64-bit number, but a Date cannot. */
export function formatTime(seconds: bigint): string {
  const time = new Date(Number(seconds) * 1000)
  return Number.isNaN(time.getTime()) ? `${seconds} s after 1970` : time.toISOString().replace('.000', '')
}
