import {
  type Evidence,
  type EvidenceClaim,
  lineaLayout,
  safeVerifyEvidence,
  type VerifiedEvidence,
} from '../../anchor.ts'
import { readInputFile } from '../../document/input-file.ts'
import { ageOf, beaconRows, formatTime, timeRow } from '../../document/wording.ts'
import { type Recorded, type RecordProgress, recordEvidence } from '../../rpc.ts'
import { type Command, exitCodes, type Output } from '../command.ts'
import { type AskedFor, openOutputFile, readExisting, refuseOverwrite } from '../files/output-file.ts'
import { methodOf } from '../options/chain-flags.ts'
import { formatOptions, hiddenUrls, optionsOf, resumable } from '../options/declared.ts'
import {
  asArgument,
  commandLine,
  endProgress,
  keysPerRequestOf,
  notFetched,
  requestOf,
  showProgress,
  withEndpoints,
} from '../options/endpoint.ts'
import { refuseWrongFlags, requireScheme, rollupOf } from '../options/flags.ts'
import { parseOptions, toInteger } from '../options/parse.ts'
import {
  describeProgress,
  type HashSource,
  hashSourceOf,
  hashWords,
  l1BlockOf,
  type RecordTrust,
  readRecordTrust,
  recordTrustOptions,
  refuseProgress,
  trustedIn,
  trustOptionsOf,
  trustSentences,
} from '../options/record-trust.ts'
import { formatState, formatTable, formatVerdict, paint, printable, toJson } from '../output/report.ts'
import { recordCallFile } from './call.ts'

const endpointOptions = optionsOf('l1', 'l2', 'scheme', 'rollup')
const subjectOptions = optionsOf('address', 'storage-key', 'mapping')
const moreOptions = {
  ...recordTrustOptions,
  ...optionsOf('l2-block', 'layout-roots-slot', 'layout-current-slot', 'method', 'keys-per-request', 'timeout'),
  ...optionsOf('output', 'force', 'json'),
}
const callOptions = optionsOf('call', 'from', 'value', 'gas', 'chain-id', 'environment', 'hardfork')

const help = `Usage: rollup-state-proof record --l1 URL --l2 URL --scheme SCHEME
         --rollup ROLLUP --address ADDRESS -o FILE [options]
       rollup-state-proof record --l1 URL --l2 URL --scheme SCHEME
         --rollup ROLLUP --call TO DATA -o FILE [options]

Records an evidence bundle: finds the newest finalized L2 block for which the L2
endpoint has proofs, fetches the L1 header, the proof of the rollup contract and
the answer, verifies everything, and writes one file that \`verify\` can check
even years later. The report ends with the L1 block hash on which the bundle
rests, and says who stated that hash. Compare it with a source that you trust.

With --checkpoint and --beacon, the L1 block is proven from the checkpoint, and
the bundle grows by about 60 kB per 27 hours since then.

Options:
${formatOptions({ ...endpointOptions, ...subjectOptions, ...moreOptions })}

${hiddenUrls} ${resumable}

With --call instead of --address, record executes a call over proven state, and
the bundle holds everything that the call reads. This needs the packages
@ethereumjs/evm, @ethereumjs/common and @ethereumjs/util:
${formatOptions(callOptions)}

If FILE exists, no endpoint is asked. record compares the file with the request
and verifies it, from --l1-block-hash, or else from the hash in the file. The
report says which, and so does --json (source, sources).

Exit code: 0 recorded and verified, or FILE exists and verifies; 1 an answer
does not verify; 2 wrong usage, or the file cannot be written; 3 an endpoint
failed: run the command again.

Examples:
  rollup-state-proof record --l1 https://... --l2 https://... \\
    --scheme poseidon2 --rollup mainnet --address 0x... -o bundle.json
  rollup-state-proof record --l1 https://... --l2 https://... \\
    --scheme poseidon2 --rollup mainnet --address 0x... -o bundle.json \\
    --beacon https://... --checkpoint 0x...
  rollup-state-proof record --l1 https://... --l2 https://... \\
    --scheme poseidon2 --rollup mainnet --call 0x... 0x... -o call.json
`

export const record: Command = {
  help,
  async run(args, io) {
    if (args.includes('--call')) {
      const options = { ...endpointOptions, ...moreOptions, ...callOptions }
      return recordCallFile(parseOptions({ args: [...args], options }).values, io)
    }
    const options = { ...endpointOptions, ...subjectOptions, ...moreOptions }
    const { values } = parseOptions({ args: [...args], options })
    const { 'l1-block': l1BlockText, 'l2-block': l2Block } = values
    const request = {
      scheme: requireScheme(values.scheme),
      rollup: rollupOf(values),
      ...requestOf(values),
      ...(l2Block !== undefined && { l2BlockNumber: toInteger('--l2-block', l2Block, 64) }),
    }
    const trust = await readRecordTrust(values, io)
    const method = methodOf(values)
    const how = { method, maxKeysPerRequest: keysPerRequestOf(values) }
    /** The options that the user stated, to be stated again when verifying. */
    const stated = (['scheme', 'rollup', 'network', 'layout-roots-slot', 'layout-current-slot'] as const).flatMap(
      name => {
        const value = values[name]
        return value === undefined ? [] : [`--${name}`, value]
      },
    )
    const askedFor = describeRequest(request, method, trust)

    return withEndpoints(values, io, async ({ signal, ...connections }) => {
      const [l1, l2] = [connections.open('l1', values.l1), connections.open('l2', values.l2)]
      const from = trustOptionsOf(trust, values.beacon, connections)
      const output = await openOutputFile(values.output, values.force, askedFor, io)
      const { path } = output
      const report = (recorded: Recorded, source: Provenance['source']) => {
        const provenance: Provenance = { source, hashSource: hashSourceOf(trust, source), path, stated }
        if (values.json) io.stdout.write(toJson(describe(recorded, provenance)))
        else if (path === '-') io.stderr.write(format(recorded, provenance, io.stderr))
        else io.stdout.write(format(recorded, provenance, io.stdout))
        return exitCodes.verified
      }
      if (output.exists) return report(await readRecorded(path, request, l1BlockText, trust), 'file')

      if (output.checkpoint !== undefined) showProgress(io, `continuing from ${printable(path)}.partial`)
      const onProgress = (progress: RecordProgress) => {
        refuseProgress(progress, trust)
        if (progress.step === 'keys') output.saveCheckpoint(progress.checkpoint)
        showProgress(io, describeProgress(progress, request.storageKeys.length))
      }
      const recorded = await recordEvidence(l1, l2, request, {
        ...how,
        ...from,
        resumeFrom: output.checkpoint,
        onProgress,
        signal,
      })
      output.write(recorded.bundle)
      endProgress(io)
      return report(recorded, 'network')
    })
  },
}

type Request = Omit<EvidenceClaim, 'trusted'> & ReturnType<typeof requestOf>

/** The request for which a checkpoint must have been saved. */
function describeRequest(request: Request, method: string, { beacon, l1Block }: RecordTrust): AskedFor {
  const { scheme, rollup, address, storageKeys, l2BlockNumber } = request
  const { stateRootHashes, currentL2BlockNumber } = rollup.layout ?? lineaLayout
  return {
    command: 'record',
    method,
    scheme: scheme.name,
    rollup: rollup.address.toLowerCase(),
    layout: `${stateRootHashes}, ${currentL2BlockNumber}`,
    address: address.toLowerCase(),
    'storage keys': storageKeys.join().toLowerCase(),
    'L1 block': `${beacon?.beaconBlockRoot ?? l1Block}`,
    'L2 block': `${l2BlockNumber ?? 'newest'}`,
  }
}

/**
 * Verifies the bundle in the existing file, offline. If nothing is trusted, it is verified from the hash of its own header,
 * and only the file states that this is a block of L1.
 *
 * @throws UsageError if it is not what this request would record
 */
async function readRecorded(
  path: string,
  request: Request,
  l1BlockText: string | undefined,
  trust: RecordTrust,
): Promise<Recorded> {
  const bundle = await readExisting(path)
  if (readInputFile(bundle).kind !== 'evidence bundle') throw refuseOverwrite(path, 'is not an evidence bundle')
  const outcome = safeVerifyEvidence(bundle, { ...request, trusted: trustedIn(bundle, trust) })
  if (!outcome.ok) {
    refuseWrongFlags(outcome.error)
    throw refuseOverwrite(path, `is not a bundle for this request (${outcome.error.message})`)
  }
  const { ok: _, ...evidence } = outcome
  if (evidence.reach === 'beaconBlockRoot')
    return { bundle: bundle as Evidence, l1BlockHashFrom: 'beaconCheckpoint', evidence }
  if (evidence.reach !== 'l1BlockHash')
    throw refuseOverwrite(path, 'is not a bundle for this request (it has no L1 block)')
  const { l1Block } = evidence
  if (l1BlockText !== undefined && l1BlockText !== 'finalized' && l1BlockOf(l1BlockText) !== l1Block.number) {
    throw refuseOverwrite(path, `is proven from L1 block ${l1Block.number}, not from ${l1BlockText}`)
  }
  return { bundle: bundle as Evidence, l1BlockHashFrom: 'l1Endpoint', evidence }
}

/** Where the bundle of a report comes from. */
interface Provenance {
  /** From endpoints in this run, or from the existing file without asking an endpoint. */
  readonly source: 'network' | 'file'
  readonly hashSource: HashSource
  readonly path: string
  /** The options to repeat when verifying. */
  readonly stated: readonly string[]
}

/** The arguments of `verify` that state the whole claim of the bundle. */
function verifyArguments({ evidence }: Recorded, { path, stated }: Provenance): string[] {
  const { l1Block, l2BlockNumber, address, storage } = evidence
  const keys = storage.flatMap(({ key }) => ['--storage-key', key])
  const trusted =
    evidence.reach === 'beaconBlockRoot'
      ? ['--checkpoint', evidence.beaconBlock.checkpoint]
      : ['--l1-block-hash', l1Block.hash]
  const block = [...trusted, '--l2-block', `${l2BlockNumber}`]
  return ['verify', asArgument(path), ...stated, ...block, '--address', address, ...keys]
}

function describe(recorded: Recorded, provenance: Provenance): object {
  const { source, hashSource, path } = provenance
  return {
    fetched: source === 'network',
    source,
    sources: { l1BlockHash: hashSource },
    file: path,
    ...recorded.evidence,
    age: ageOf(recorded.evidence),
    verify: verifyArguments(recorded, provenance),
  }
}

function format(recorded: Recorded, provenance: Provenance, stream: Output): string {
  const { bundle, evidence } = recorded
  const { source, hashSource, path } = provenance
  const { l1Block, l2BlockNumber } = evidence
  const [trust, compare] = trustSentences[hashSource]
  const lines = [
    ...(source === 'file' ? [notFetched(path, stream)] : []),
    // A file that rests only on what it states itself does not get the verdict of one that was checked.
    hashSource === 'file'
      ? `The file says that this account ${evidence.account === null ? 'does not exist' : 'exists'}. It is consistent with the L1 block hash in it, which nobody has confirmed.`
      : formatVerdict(evidence, stream),
    formatTable([
      ['file', printable(path), source === 'file' ? 'existed already' : 'written'],
      ...beaconRows(evidence).map(([name, value, basis = '']) => [name, value, basis]),
      ['L1 block', `${l1Block.number}`, `of ${formatTime(l1Block.timestamp)}`],
      ['L1 block hash', l1Block.hash, hashWords[hashSource]],
      ['L2 block', `${l2BlockNumber}`, describeLag(evidence)],
      timeRow(evidence).map((cell = '') => cell),
      ['L2 state root', evidence.stateRoot],
      ['address', evidence.address],
    ]),
    ...formatState(evidence, bundle.answer, stream),
    paint(stream, 'bold', trust),
    `  ${compare}`,
    `  ${commandLine(verifyArguments(recorded, provenance))}`,
  ]
  return `${lines.join('\n')}\n`
}

function describeLag({ l2BlockNumber, currentL2BlockNumber }: VerifiedEvidence): string {
  if (currentL2BlockNumber === null) return 'the bundle does not prove which block was the last finalized'
  return l2BlockNumber === currentL2BlockNumber ? 'the last finalized' : `the last finalized is ${currentL2BlockNumber}`
}
