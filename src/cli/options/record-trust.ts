import { keccak_256 } from '@noble/hashes/sha3.js'
import type { Trusted, TrustedBeaconBlock } from '../../anchor.ts'
import { bytesToHex, type Hex } from '../../bytes.ts'
import { isObject } from '../../document/value.ts'
import { formatTime } from '../../document/wording.ts'
import { ProofError } from '../../index.ts'
import type { ConsensusProgress, L1BlockTag, RecordOptions, RecordProgress } from '../../rpc.ts'
import { type Io, UsageError } from '../command.ts'
import { MAX_INPUT_BYTES, MAX_INPUT_MIB } from '../files/input.ts'
import type { Connections } from './connections.ts'
import { type Flags, type FlagsOf, optionsOf, text } from './declared.ts'
import { checkpointOf } from './flags.ts'
import { toInteger } from './parse.ts'

/** The options that say from which L1 block a bundle is recorded, and what is trusted for it. */
export const recordTrustOptions = {
  'l1-block': text('BLOCK', 'the L1 block to prove from: a number, finalized, safe or latest (default: finalized)'),
  'l1-block-hash': text('HASH', 'the hash that this block must have, 32 bytes, from a source that you trust'),
  ...optionsOf('checkpoint', 'beacon', 'network'),
}

export type RecordTrustFlags = FlagsOf<typeof recordTrustOptions> & Flags

/** What the user trusts while recording. */
export interface RecordTrust {
  /** A checkpoint, from which the L1 block is proven. */
  readonly beacon: TrustedBeaconBlock | undefined
  /** The hash that the L1 block has to have. */
  readonly l1BlockHash: Hex | undefined
  /** Which L1 block to prove from; undefined where the checkpoint decides. */
  readonly l1Block: bigint | L1BlockTag | undefined
}

/** @throws UsageError before anything is fetched */
export async function readRecordTrust(flags: RecordTrustFlags, io: Io): Promise<RecordTrust> {
  const { checkpoint, beacon, network, 'l1-block': l1Block, 'l1-block-hash': l1BlockHash, rollup } = flags
  if (checkpoint === undefined) {
    if (beacon !== undefined) {
      throw new UsageError('--checkpoint is needed with --beacon: the beacon block that you trust')
    }
    if (network !== undefined) throw new UsageError('--network needs --checkpoint')
    return { beacon: undefined, l1BlockHash: l1BlockHashOf(l1BlockHash), l1Block: l1BlockOf(l1Block ?? 'finalized') }
  }
  if (l1Block !== undefined || l1BlockHash !== undefined) {
    throw new UsageError(
      '--l1-block and --l1-block-hash cannot be combined with --checkpoint, which proves the L1 block',
    )
  }
  const trusted = await checkpointOf(checkpoint, { network, rollup }, io)
  return { beacon: trusted, l1BlockHash: undefined, l1Block: undefined }
}

export function l1BlockOf(text: string): bigint | L1BlockTag {
  if (text === 'finalized' || text === 'safe' || text === 'latest') return text
  return toInteger('--l1-block', text, 64)
}

function l1BlockHashOf(text: string | undefined): Hex | undefined {
  if (text === undefined) return undefined
  if (/^0x[0-9a-fA-F]{64}$/.test(text)) return `0x${text.slice(2).toLowerCase()}`
  throw new UsageError('--l1-block-hash: expected 0x-prefixed hexadecimal of 32 bytes')
}

/** What the functions of the library that record are told of it. @throws UsageError when there is no beacon API to ask */
export function trustOptionsOf(
  { beacon, l1Block }: RecordTrust,
  urls: readonly string[] | undefined,
  { openBeacon }: Connections,
): Pick<RecordOptions, 'beacon' | 'l1Block'> {
  const apis = openBeacon(urls)
  if (beacon === undefined) return l1Block === undefined ? {} : { l1Block }
  if (apis.length === 0) throw new UsageError('--beacon is needed with --checkpoint')
  return { beacon: { apis, trusted: beacon } }
}

/** What an existing file is verified from: its own word, where the user has stated nothing. */
export const trustedIn = (bundle: unknown, { beacon, l1BlockHash }: RecordTrust): Trusted =>
  beacon ?? { l1BlockHash: l1BlockHash ?? hashOfHeader(bundle) }

export function hashOfHeader(bundle: unknown): Hex {
  const { l1 } = isObject(bundle) ? bundle : {}
  const { header } = isObject(l1) ? l1 : {}
  return bytesToHex(keccak_256(Buffer.from(typeof header === 'string' ? header.slice(2) : '', 'hex')))
}

/**
 * Ends a recording as soon as it is clear that it leads nowhere.
 *
 * @throws ProofError when the L1 endpoint serves another block than the one that the user trusts; UsageError when `verify`
 * would not read what is about to be fetched
 */
export function refuseProgress(progress: RecordProgress, { l1BlockHash: expected }: RecordTrust): void {
  if (progress.step === 'l1Block' && expected !== undefined && progress.l1Block.hash !== expected) {
    throw new ProofError('HEADER_HASH_MISMATCH', { path: 'l1.header', expected, found: progress.l1Block.hash })
  }
  if (progress.step !== 'consensus') return
  const { progress: fetched } = progress
  if (fetched.step !== 'size' || fetched.length < MAX_INPUT_BYTES) return
  throw new UsageError(
    `--checkpoint: ${describeConsensus(fetched)}, more than the ${MAX_INPUT_MIB} MiB that verify reads; use a newer one`,
  )
}

export function describeProgress(progress: RecordProgress, keyCount: number): string {
  switch (progress.step) {
    case 'consensus':
      return describeConsensus(progress.progress)
    case 'l1Block':
      return `L1 block ${progress.l1Block.number} of ${formatTime(progress.l1Block.timestamp)}`
    case 'l2Block':
      return `L2 block ${progress.l2BlockNumber}: finalized; asking for the proof`
    case 'proofUnavailable':
      return `L2 block ${progress.l2BlockNumber}: the endpoint has no proofs for it; trying the finalization before`
    case 'checkpointIgnored':
      return `starting over, without the saved progress: ${progress.reason}`
    case 'keys':
      return `${progress.keyCount} of ${keyCount} storage keys`
  }
}

function describeConsensus(progress: ConsensusProgress): string {
  switch (progress.step) {
    case 'size': {
      const { periods, length } = progress
      const many = `${periods} sync-committee ${periods === 1 ? 'period' : 'periods'}`
      return `${many} since the beacon checkpoint: about ${Math.round(length / 1000)} kB of the bundle`
    }
    case 'updates':
      return `${progress.done} of ${progress.periods} committee updates`
    case 'sourceFailed':
      return `beacon endpoint ${progress.index + 1} failed (${progress.code}); asking the next`
  }
}

/** Whose word the L1 block hash is: the user's, the file's or the L1 endpoint's; or it is proven from a checkpoint. */
export type HashSource = 'checkpoint' | 'flag' | 'file' | 'endpoint'

/** @param source whether endpoints were asked in this run, or an existing file was read and nobody was asked */
export function hashSourceOf({ beacon, l1BlockHash }: RecordTrust, source: 'network' | 'file'): HashSource {
  if (beacon !== undefined) return 'checkpoint'
  if (l1BlockHash !== undefined) return 'flag'
  return source === 'file' ? 'file' : 'endpoint'
}

/** What everything rests on, and what whoever verifies has to do first. */
export const trustSentences: Readonly<Record<HashSource, readonly [string, string]>> = {
  checkpoint: [
    'Everything rests on the beacon checkpoint that you stated: the sync committees have signed for the rest.',
    'Anyone can verify, offline:',
  ],
  endpoint: [
    'Everything rests on the L1 block hash. So far, only the L1 endpoint says that this is a block of L1:',
    'compare the hash with a source that you trust, such as a node of your own. Then anyone can verify, offline:',
  ],
  file: [
    'Everything rests on the L1 block hash. Only the file says that this is a block of L1, and anyone can write such a file:',
    'compare the hash with a source that you trust. Then anyone can verify, offline:',
  ],
  flag: ['Everything rests on the L1 block hash that you stated.', 'Anyone can verify, offline:'],
}

export const hashWords: Readonly<Record<HashSource, string>> = {
  checkpoint: 'proven by the finalized beacon block',
  endpoint: 'from the L1 endpoint',
  file: 'from the file',
  flag: 'stated by you',
}
