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
import { parseOptions } from '../files/input.ts'
import { type AskedFor, openOutputFile, readExisting, refuseOverwrite } from '../files/output-file.ts'
import { takeCall } from '../options/chain-flags.ts'
import {
  asArgument,
  commandLine,
  endProgress,
  endpointHelp,
  endpointOptions,
  keysPerRequestOf,
  notFetched,
  requestOf,
  showProgress,
  withEndpoints,
} from '../options/endpoint.ts'
import { blockOptions, refuseWrongFlags, requireScheme, rollupOf, toInteger } from '../options/flags.ts'
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

const help = `Usage: rollup-state-proof record --l1 URL --l2 URL --scheme SCHEME --rollup ROLLUP --address ADDRESS -o FILE [options]
       rollup-state-proof record --l1 URL --l2 URL --scheme SCHEME --rollup ROLLUP --call TO DATA -o FILE [options]

Records an evidence bundle: finds the newest finalized L2 block for which the L2 endpoint has proofs, fetches the L1
header, the proof of the rollup contract and the answer, verifies everything, and writes one file that \`verify\` can check
even years later. The report ends with the L1 block hash on which the bundle rests, and says who stated that hash. Compare
it with a source that you trust.

Options:
  --l1 URL               an Ethereum endpoint with eth_getProof; for older finalizations, an archive node
  --l2 URL               an endpoint of the rollup
  --scheme SCHEME        mimc or poseidon2: the hash scheme of the rollup
  --rollup ROLLUP        mainnet or sepolia (Linea), or the address of the rollup contract on L1
  --address ADDRESS      20 bytes
  --storage-key KEY      32 bytes, or the number of a slot; repeat it for more, up to 1000
  --mapping SLOT KEY     the storage key of a mapping entry: the slot that declares the mapping, and the entry's key (an
                         address, a number or 32 bytes); repeat it for more
  --l1-block BLOCK       the L1 block to prove from: a number, finalized, safe or latest (default: finalized)
  --l1-block-hash HASH   the hash of that block, 32 bytes, from a source that you trust: a block with another is refused
  --beacon URL           a beacon API of L1's consensus layer; repeat it for more: the next is asked if one fails
  --checkpoint ROOT      the root of a finalized beacon block that you trust, 32 bytes, at most about two weeks old: the L1
                         block is proven from it. The bundle grows by about 60 kB per 27 hours since then
  --network NETWORK      the network of the checkpoint: mainnet, sepolia, or a file with your own (default: the rollup's)
  --l2-block NUMBER      exactly this L2 block, which must be the last of a finalization (default: the newest with a proof)
  --layout-roots-slot N, --layout-current-slot N
                         the storage layout of a fork's contract (default: ${lineaLayout.stateRootHashes} and ${lineaLayout.currentL2BlockNumber})
  --method NAME          the JSON-RPC method (default: linea_getProof for mainnet and sepolia, otherwise rollup_getProof)
${endpointHelp}

With --call instead of --address, record executes a call over proven state, and the bundle holds everything that the call
reads. This needs the packages @ethereumjs/evm, @ethereumjs/common and @ethereumjs/util:
  --call TO DATA         the contract, 20 bytes, and the calldata
  --from ADDRESS         the sender (default: the zero address)
  --value WEI            the value sent (default: 0)
  --gas N                the gas limit of the transaction (default: 50000000, which is also the maximum)
  --chain-id N           the chain id of the rollup (default: that of mainnet or sepolia)
  --environment NAME=VALUE
                         a block value that no proof covers: timestamp, baseFee, blobBaseFee, gasLimit, coinbase or
                         prevRandao; repeat it for more
  --hardfork NAME        the hard fork of the rollup (default: prague)

If FILE exists, no endpoint is asked. record compares the file with the request and verifies it, from --l1-block-hash, or
else from the hash in the file. The report says which, and so does --json (source, sources).

Exit code: 0 recorded and verified, or FILE exists and verifies; 1 an answer does not verify; 2 wrong usage, or the file
cannot be written; 3 an endpoint failed: run the command again.

Examples:
  rollup-state-proof record --l1 https://... --l2 https://... --scheme poseidon2 --rollup mainnet --address 0x... -o bundle.json
  rollup-state-proof record --l1 https://... --l2 https://... --beacon https://... --checkpoint 0x... --scheme poseidon2 \\
    --rollup mainnet --address 0x... -o bundle.json
  rollup-state-proof record --l1 https://... --l2 https://... --scheme poseidon2 --rollup mainnet --call 0x... 0x... -o call.json
`

export const record: Command = {
  help,
  async run(args, io) {
    const { call, rest } = takeCall(args)
    if (call !== undefined) return recordCallFile(rest, call, io)
    const { values } = parseOptions({
      args: [...args],
      options: {
        ...endpointOptions,
        ...blockOptions,
        l1: { type: 'string' },
        ...recordTrustOptions,
      },
    })
    const { 'l1-block': l1BlockText, 'l2-block': l2Block } = values
    const request = {
      scheme: requireScheme(values.scheme),
      rollup: rollupOf(values),
      ...requestOf(values),
      ...(l2Block !== undefined && { l2BlockNumber: toInteger('--l2-block', l2Block, 64) }),
    }
    const trust = await readRecordTrust(values, io)
    const method =
      values.method ?? (['mainnet', 'sepolia'].includes(values.rollup ?? '') ? 'linea_getProof' : 'rollup_getProof')
    const options = { method, maxKeysPerRequest: keysPerRequestOf(values) }
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
        ...options,
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
