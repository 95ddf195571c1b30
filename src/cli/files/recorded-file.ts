import type { ConsensusProgress } from '../../client/beacon/beacon.ts'
import type { RecordedLogs } from '../../client/record/record-logs.ts'
import { isProofError, ProofError } from '../../entry/index.ts'
import type { RecordedCall as LibraryCall } from '../../entry/provider.ts'
import type { Recorded, RecordedMessage, RecordOptions, RecordProgress, RequestProvider } from '../../entry/rpc.ts'
import type { EvidenceName } from '../../verify/evidence/names.ts'
import type { Io, Output } from '../command.ts'
import { UsageError } from '../errors.ts'
import { MAX_INPUT_BYTES, MAX_INPUT_MIB } from '../limits.ts'
import {
  asArgument,
  commandLine,
  type EndpointFlags,
  endProgress,
  keysPerRequestOf,
  notFetched,
  showProgress,
  withEndpoints,
} from '../options/endpoint.ts'
import { networkOf } from '../options/network.ts'
import { type RecordTrust, readRecordTrust, trustOptionsOf } from '../options/record-trust.ts'
import { paint } from '../output/paint.ts'
import { toJson } from '../output/report.ts'
import { ASKED_ENDPOINTS, describeVerdict, exitCodeOf } from '../output/verdict.ts'
import type { Source } from '../words/claim.ts'
import { readInputFile } from '../words/input-file.ts'
import { evidenceNames } from '../words/kinds.ts'
import { fieldIn } from '../words/value.ts'
import { type PartSources, type Verdict, verdictOf } from '../words/verdict.ts'
import { agesOf, formatTime } from '../words/wording.ts'
import { openOutputFile, readExisting, refuseOverwrite } from './output-file.ts'

/** What the user states to `record`. */
export type RecordFlags = EndpointFlags & { readonly force: boolean }

/** A bundle of an answer, and what it proves. */
export type RecordedAnswer = Pick<Recorded, 'bundle' | 'verified'>

/** A call as evidence, and what it proves. */
export type RecordedCall = Pick<LibraryCall, 'bundle' | 'verified'>

/** What `record` or `logs` records. */
type AnyRecorded = RecordedAnswer | RecordedCall | Pick<RecordedLogs | RecordedMessage, 'bundle' | 'verified'>

/** How to record, whatever it is. */
export type RecordHow = Pick<RecordOptions, 'beacon' | 'l1BlockNumber' | 'maxKeysPerRequest' | 'onProgress' | 'signal'>

/** What is recorded: an answer, a call, logs or a message. */
export interface Subject<T extends AnyRecorded> {
  /** How many storage keys are asked for. */
  readonly keyCount: number
  /** Fetches the bundle from the endpoints of L1 and L2. */
  fetch(endpoints: readonly [RequestProvider[], RequestProvider[]], options: RecordHow): Promise<T>
  /** Verifies the bundle in the existing file, offline. @throws ProofError or UsageError if it is not for this request */
  verifyExisting(bundle: unknown, trust: RecordTrust, path: string): Promise<object>
  /** The lines of the report on the bundle. */
  format(recorded: T, place: RecordedPlace, stream: Output): readonly string[]
  /** Who stated what no proof covers, and what the file chose of the question. */
  sources?(recorded: T, place: Place): PartSources
  /** The arguments of `verify` that state the subject. */
  verifyArguments(recorded: T): readonly string[]
}

/** Where what is reported comes from. */
export interface Place {
  /** From endpoints in this run, or from the existing file, without asking an endpoint. */
  readonly source: 'network' | 'file'
  /** The file, `-` for standard output. */
  readonly path: string
}

/** The same, with its verdict. */
export interface RecordedPlace extends Place {
  /** Who states the L1 block hash. */
  readonly hashWords: string
  readonly verdict: Verdict
}

/** Who states the L1 block hash: what everything rests on, and what has to happen before verifying. */
const hashSources = {
  beaconBlock: {
    by: 'user',
    words: 'proven by the finalized beacon block',
    sentence: 'Everything rests on the beacon block that you stated: the sync committees have signed for the rest.',
    compare: 'Anyone can verify, offline:',
  },
  flag: {
    by: 'user',
    words: 'stated by you',
    sentence: 'Everything rests on the L1 block hash that you stated.',
    compare: 'Anyone can verify, offline:',
  },
  endpoint: {
    by: 'endpoint',
    words: 'from the L1 endpoint',
    sentence: 'Everything rests on the L1 block hash. So far, only the L1 endpoint says that this is a block of L1:',
    compare:
      'compare the hash with a source that you trust, such as a node of your own. Then anyone can verify, offline:',
  },
  file: {
    by: 'file',
    words: 'from the file',
    sentence:
      'Everything rests on the L1 block hash. Only the file says that this is a block of L1, and anyone can write such a file:',
    compare: 'compare the hash with a source that you trust. Then anyone can verify, offline:',
  },
} as const satisfies Readonly<Record<string, { by: Source; words: string; sentence: string; compare: string }>>

/** The options that the user states again when verifying. */
const REPEATED = ['network', 'implementation', 'gas'] as const

/** Records to a file, or verifies it if it exists, and reports. @returns the exit code */
export async function recordToFile<T extends AnyRecorded>(
  flags: RecordFlags,
  subject: Subject<T>,
  io: Io,
): Promise<number> {
  const trust = readRecordTrust(flags, networkOf(flags))
  const keysPerRequest = keysPerRequestOf(flags)
  return withEndpoints(flags, io, async connections => {
    const output = openOutputFile(flags.output, flags.force, io)
    const { path } = output
    if (output.exists) {
      const bundle = await readExisting(path)
      try {
        // Verified, it is one that this run could have recorded.
        const existing = { bundle, verified: await subject.verifyExisting(bundle, trust, path) } as T
        return report(existing, { source: 'file', path }, { flags, subject, trust }, io)
      } catch (error) {
        if (!isProofError(error)) throw error
        throw refuseOverwrite(path, `is not a bundle for this request (${error.message})`)
      }
    }
    const endpoints = [connections.open('l1', flags.l1), connections.open('l2', flags.l2)] as const
    const how = trustOptionsOf(trust, flags.beacon, connections)
    const before = flags.force ? await replacedImplementation(path, subject, trust) : undefined
    const counts = { beacon: 0, L1: endpoints[0].length, L2: endpoints[1].length }
    const onProgress = (progress: RecordProgress) => {
      refuseProgress(progress, trust)
      // The failure of the only endpoint ends the recording, and is reported then.
      const isLast = progress.step === 'endpointFailed' && counts[progress.layer] === 1
      // That requests wait is told for every command alike.
      if (!isLast && progress.step !== 'waiting') showProgress(io, describeProgress(progress, subject.keyCount))
    }
    const options = { maxKeysPerRequest: keysPerRequest, onProgress, ...how, signal: connections.signal }
    const recorded = await subject.fetch(endpoints, options)
    const { implementation: after } = recorded.verified
    if (before !== undefined && after !== undefined && before !== after) {
      showProgress(io, describeChange(before, after, 'in the file that this run replaces'))
    }
    await output.write(recorded.bundle)
    endProgress(io)
    return report(recorded, { source: 'network', path }, { flags, subject, trust }, io)
  })
}

/** Says what a bundle proves, and how to verify it. @returns the exit code */
function report<T extends AnyRecorded>(
  recorded: T,
  place: Place,
  { flags, subject, trust }: { flags: RecordFlags; subject: Subject<T>; trust: RecordTrust },
  io: Io,
): number {
  const { source, path } = place
  const stream = path === '-' ? io.stderr : io.stdout
  const hashSource = hashSourceOf(trust, place)
  const { by, words: hashWords, sentence, compare } = hashSources[hashSource]
  const { verified } = recorded
  const verdict = verdictOf(true, { ...subject.sources?.(recorded, place), l1BlockHash: by })
  const trusted =
    'beaconBlock' in verified && verified.beaconBlock !== undefined
      ? ['--checkpoint', verified.beaconBlock.trustedBlockRoot]
      : ['--l1-block-hash', verified.l1Block.hash]
  const repeated = REPEATED.flatMap(name => (flags[name] === undefined ? [] : [`--${name}`, flags[name]]))
  const verify = ['verify', asArgument(path), ...repeated, ...trusted, ...subject.verifyArguments(recorded)]
  const about = { fetched: source === 'network', source, file: path, ...describeVerdict(verdict) }
  const sources = { l1BlockHash: hashSource }
  if (flags.json) io.stdout.write(toJson({ ...about, sources, ...verified, ...agesOf(verified), verify }))
  else {
    const lines = [
      ...(source === 'file' ? [notFetched(path, stream)] : []),
      ...subject.format(recorded, { ...place, hashWords, verdict }, stream),
      ...[paint(stream, 'bold', sentence), `  ${compare}`, `  ${commandLine(verify)}`],
    ]
    stream.write(`${lines.join('\n')}\n`)
  }
  return exitCodeOf(verdict, ASKED_ENDPOINTS)
}

/** @throws UsageError unless the existing file is evidence of this kind */
export function requireEvidence(path: string, bundle: unknown, kind: EvidenceName): void {
  const file = readInputFile(bundle)
  if (file.kind !== 'evidence' || file.evidence !== kind) throw refuseOverwrite(path, `is not ${evidenceNames[kind]}`)
}

/** The code of the rollup contract that a file of an earlier run proves; undefined if it proves none. */
async function replacedImplementation<T extends AnyRecorded>(path: string, subject: Subject<T>, trust: RecordTrust) {
  try {
    const before = fieldIn(await subject.verifyExisting(await readExisting(path), trust, path), 'implementation')
    return typeof before === 'string' ? before : undefined
  } catch {
    // Whatever it is, this run replaces it.
    return undefined
  }
}

const describeChange = (before: string, after: string, when: string): string =>
  `the rollup contract has been upgraded: its code is ${after}; ${when}, it was ${before}`

function hashSourceOf({ beacon, l1BlockHash }: RecordTrust, { source }: Place): keyof typeof hashSources {
  if (beacon !== undefined) return 'beaconBlock'
  if (l1BlockHash !== undefined) return 'flag'
  return source === 'file' ? 'file' : 'endpoint'
}

/**
 * Ends a recording as soon as it is clear that its bundle would be useless.
 *
 * @throws ProofError if the L1 endpoint serves another block than the one that the user trusts; UsageError if `verify`
 * would not read what is about to be fetched
 */
function refuseProgress(progress: RecordProgress, { l1BlockHash: expected }: RecordTrust): void {
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

function describeProgress(progress: Exclude<RecordProgress, { step: 'waiting' }>, keyCount: number): string {
  switch (progress.step) {
    case 'consensus':
      return describeConsensus(progress.progress)
    case 'l1Block':
      return `L1 block ${progress.l1Block.number} of ${formatTime(progress.l1Block.timestamp)}`
    case 'l2Block':
      return `L2 block ${progress.l2BlockNumber}: finalized; asking for the proof`
    case 'proofUnavailable':
      return `L2 block ${progress.l2BlockNumber}: no proofs of it (${progress.code}); trying the finalization before`
    case 'endpointFailed':
      return `${progress.layer} endpoint ${progress.index + 1} failed (${progress.code}); asking another`
    case 'keys':
      return `${progress.keyCount} of ${keyCount} storage keys`
  }
}

function describeConsensus(progress: ConsensusProgress): string {
  switch (progress.step) {
    case 'size': {
      const { periods, length } = progress
      const many = `${periods} sync-committee ${periods === 1 ? 'period' : 'periods'}`
      return `${many} since the trusted beacon block: about ${Math.round(length / 1000)} kB of the bundle`
    }
    case 'updates':
      return `${progress.done} of ${progress.periods} committee updates`
    case 'endpointFailed':
      return `beacon endpoint ${progress.index + 1} failed (${progress.code}); asking the next`
  }
}
