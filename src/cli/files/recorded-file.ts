import { plural } from '../../base/errors.ts'
import { ProofError } from '../../entry/index.ts'
import type { RecordOptions, RecordProgress, RequestProvider } from '../../entry/rpc.ts'
import { kindName } from '../../verify/state/kind.ts'
import type { Io } from '../command.ts'
import { formatEvidence, type Stated } from '../kinds/evidence.ts'
import type { Flags } from '../options/declared.ts'
import { asArgument, commandLine, type EndpointFlags, showProgress, withEndpoints } from '../options/endpoint.ts'
import { networkSource } from '../options/network.ts'
import { type RecordTrust, readRecordTrust, trustOptionsOf } from '../options/trust.ts'
import { toJson } from '../output/report.ts'
import { ASKED_ENDPOINTS, describeVerdict, exitCodeOf, paint } from '../output/verdict.ts'
import type { Source } from '../words/answer.ts'
import { kindOf } from '../words/evidence.ts'
import { verdictOf } from '../words/verdict.ts'
import { chainRows, formatTime, type ProvenChain, type Row } from '../words/wording.ts'
import { openOutputFile } from './output-file.ts'

export type RecordFlags = Flags & EndpointFlags & { readonly force: boolean }

interface Recorded<T> {
  readonly bundle: unknown
  readonly verified: T
  /** What else there is to say of what is recorded now. */
  readonly rows?: readonly Row[]
}

type RecordHow = Pick<RecordOptions, 'beacon' | 'l1BlockNumber' | 'maxKeysPerRequest' | 'onProgress' | 'signal'>

export interface Subject<T extends ProvenChain> {
  readonly stated: Stated<T>
  /** Who chooses what the user does not state. Default: this program does. */
  readonly others?: Source
  fetch(endpoints: readonly [RequestProvider[], RequestProvider[]], options: RecordHow): Promise<Recorded<T>>
  verifyArguments(verified: T): readonly string[]
}

/** Who states the L1 block hash, on which everything rests. */
const hashSources = {
  beaconBlock: {
    by: 'user',
    words: 'proven by the finalized beacon block',
    sentence: 'Everything rests on the beacon block that you stated: the sync committees have signed for the rest.',
  },
  user: { by: 'user', words: 'stated by you', sentence: 'Everything rests on the L1 block hash that you stated.' },
  endpoint: {
    by: 'endpoint',
    words: 'from the L1 endpoint',
    sentence:
      'Everything rests on the L1 block hash, and only the L1 endpoint says that L1 has this block: compare it with a source that you trust.',
  },
} as const satisfies Readonly<Record<string, { by: Source; words: string; sentence: string }>>

const hashSourceOf = ({ beacon, l1BlockHash }: RecordTrust) =>
  beacon ? 'beaconBlock' : l1BlockHash === undefined ? 'endpoint' : 'user'

export const hashBasis = (trust: RecordTrust) => hashSources[hashSourceOf(trust)]

export async function recordToFile<T extends ProvenChain>(flags: RecordFlags, subject: Subject<T>, io: Io) {
  const trust = await readRecordTrust(flags, subject.stated.network)
  return withEndpoints(flags, io, async connections => {
    const output = openOutputFile(flags.output, flags.force, io)
    const endpoints = [connections.open('l1', flags.l1), connections.open('l2', flags.l2)] as const
    const how = trustOptionsOf(trust, flags.beacon, connections)
    const counts = { beacon: how.beacon?.apis.length, L1: endpoints[0].length, L2: endpoints[1].length }
    const shown = new Set<string>()
    const onProgress = (progress: RecordProgress) => {
      const { l1BlockHash: expected } = trust
      // Everything else would be useless.
      if (progress.step === 'l1Block' && expected !== undefined && progress.l1Block.hash !== expected)
        throw new ProofError('HEADER_HASH_MISMATCH', { path: 'l1.header', expected, found: progress.l1Block.hash })
      // The failure of the only endpoint ends the recording, and is reported then.
      const isLast = progress.step === 'endpointFailed' && counts[progress.layer] === 1
      const words = describeProgress(progress)
      // A message and its arrival are two recordings from the same L1 block.
      if (!isLast && !shown.has(words)) showProgress(io, words)
      shown.add(words)
    }
    const options = { maxKeysPerRequest: flags['keys-per-request'], onProgress, ...how, signal: connections.signal }
    const recorded = await subject.fetch(endpoints, options)
    await output.write(recorded.bundle)
    return report(recorded, output.path, { flags, subject, trust }, io)
  })
}

function report<T extends ProvenChain>(
  { bundle, verified, rows: more = [] }: Recorded<T>,
  path: string,
  { flags, subject, trust }: { flags: RecordFlags; subject: Subject<T>; trust: RecordTrust },
  io: Io,
): number {
  const { stated, others = 'default' } = subject
  const { rollup, scheme } = stated.network
  const { by, words: hash, sentence } = hashBasis(trust)
  const parts = stated.parts(others)
  const adjusted = stated.adjust?.(verified, 'user')
  const verdict = verdictOf(true, { ...parts, ...adjusted, l1BlockHash: by })
  const told = stated.tell(verified, others)
  const { beaconBlock, l1Block, l2BlockNumber } = verified
  const trusted = beaconBlock ? ['--checkpoint', beaconBlock.trustedBlockRoot] : ['--l1-block-hash', `${l1Block?.hash}`]
  const block = l2BlockNumber === undefined ? [] : ['--l2-block', `${l2BlockNumber}`]
  const { network: chosen, implementation, gas } = flags
  // The options that the user states again when verifying.
  const repeated = Object.entries({ network: chosen?.stated, implementation, gas }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, `${value}`],
  )
  const verify = ['verify', asArgument(path), ...repeated, ...trusted, ...block, ...subject.verifyArguments(verified)]
  const about = {
    fetched: true,
    file: path,
    ...describeVerdict(verdict),
    sources: { l1BlockHash: hashSourceOf(trust) },
  }
  if (flags.json) io.stdout.write(toJson({ ...about, ...verified, ...told.json, verify }))
  else {
    const stream = path === '-' ? io.stderr : io.stdout
    const network = networkSource(flags)
    const sources = { ...parts, rollup: network, scheme: network }
    const words = {
      rollup,
      ...('l2BlockNumber' in parts && { scheme: kindName(kindOf(bundle, scheme)) }),
      hash,
      sources,
    }
    const rows: Row[] = [['file', path, 'written'], ...chainRows(words, verified), ...told.rows, ...more]
    const lines = [
      formatEvidence(verdict, told, rows, stream),
      paint(stream, 'bold', sentence),
      'Anyone can verify, offline:',
      `  ${commandLine(verify)}`,
    ]
    stream.write(`${lines.join('\n')}\n`)
  }
  return exitCodeOf(verdict, ASKED_ENDPOINTS)
}

function describeProgress(progress: RecordProgress): string {
  switch (progress.step) {
    case 'updates':
      return `${progress.done} of ${plural(progress.periods, 'committee update')} since the trusted beacon block`
    case 'l1Block':
      return `L1 block ${progress.l1Block.number} of ${formatTime(progress.l1Block.timestamp)}`
    case 'l2Block':
      return `L2 block ${progress.l2BlockNumber}: finalized; asking for the proof`
    case 'proofUnavailable':
      return `L2 block ${progress.l2BlockNumber}: no proofs of it (${progress.code}); trying the finalization before`
    case 'endpointFailed':
      return `${progress.layer} endpoint ${progress.index + 1} failed (${progress.code}); asking another`
  }
}
