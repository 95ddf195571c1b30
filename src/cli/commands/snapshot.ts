import { type EvidenceBundle, type StateScheme, verifyEvidence } from '../../entry/anchor.ts'
import { isProofError, safely } from '../../entry/index.ts'
import { type RequestProvider, recordEvidence } from '../../entry/rpc.ts'
import type { Command, Io } from '../command.ts'
import { statRegular } from '../files/output-file.ts'
import {
  isCount,
  type Manifest,
  manifestPathOf,
  readManifest,
  snapshotRows,
  withRowFiles,
  writeManifest,
} from '../files/row-files.ts'
import type { Connections } from '../options/connections.ts'
import { formatOptions } from '../options/declared.ts'
import { endProgress, hashSourceOf, notVerified, showProgress, withEndpoints } from '../options/endpoint.ts'
import {
  describeWanted,
  howOptions,
  outputOptions,
  readWanted,
  type Wanted,
  whatOptions,
  whereOptions,
} from '../options/snapshot-options.ts'
import { formatTable, toJson } from '../output/report.ts'
import { ASKED_ENDPOINTS, describeVerdict, exitCodeOf, formatVerdict } from '../output/verdict.ts'
import { type SnapshotPlan, type SnapshotProgress, type SnapshotRequest, writeSnapshot } from '../snapshot/snapshot.ts'
import { kindOf, statedBlockHash } from '../words/evidence.ts'
import { fieldIn } from '../words/value.ts'
import { verdictOf } from '../words/verdict.ts'
import { formatTime, implementationRow } from '../words/wording.ts'
import { checkFiles } from './snapshot-check.ts'

const help = `Usage: rollup-state-proof snapshot ADDRESSES --l1 URL --l2 URL --scheme SCHEME
         --rollup ROLLUP -o ROWS [options]

Fetches and verifies the state of many accounts, or the entries of many holders
in one mapping, at one finalized L2 block. Writes one row of proven values per
address, in the order of the addresses. ADDRESSES is a file with one address per
line, or - for standard input; empty lines, and text after #, are ignored.

What to fetch:
${formatOptions(whatOptions)}

Where from:
${formatOptions(whereOptions)}

How:
${formatOptions(howOptions)}

Output:
${formatOptions(outputOptions)}

If the endpoint is busy (HTTP 429 or 503), all requests pause for the time in
Retry-After. Without that header, each pause is longer than the last. A request
that fails otherwise is sent again after growing pauses. If an answer does not
verify, snapshot asks again. After three such answers, the address gets a row
with the verdict "refused". An interrupted run keeps its progress in
ROWS.partial: run the same command again to continue. The files are then the
same as without the interruption.

--check believes nothing in the files: it proves the state root from the
bundle in the manifest and your L1 block hash, verifies every kept answer
against that root, and compares every row with what its answer proves. Without
--l2-block, the files choose the block.

Exit code: 0 all verified, or recorded by the word of the L1 endpoint; 1 some
answers did not verify, or --check found a row that is not proven; 2 wrong
usage, or a file cannot be read or written; 3 an endpoint failed: run the
command again; 4 the files existed, and were not verified: use --check.

Examples:
  export L1_URL=https://... L2_URL=https://...
  rollup-state-proof snapshot holders.txt --scheme poseidon2 --rollup mainnet \\
    -o balances.csv --keep answers.ndjson.gz
  rollup-state-proof snapshot holders.txt --scheme poseidon2 --rollup mainnet \\
    --address 0x... --mapping-slot 0 -o tokens.csv
  rollup-state-proof snapshot holders.txt --scheme poseidon2 --rollup mainnet \\
    -o balances.csv --keep answers.ndjson.gz --check --l1-block-hash 0x... \\
    --l2-block N
`

export const command: Command = {
  help,
  async run(args, io) {
    const wanted = await readWanted(args, io)
    return wanted.check ? checkFiles(wanted, io) : withEndpoints(wanted.values, io, each => take(wanted, each, io))
  },
}

/** @returns the exit code */
async function take(wanted: Wanted, { open, signal }: Connections, io: Io): Promise<number> {
  const { path, force, holders, target, keysPerRequest, keep, values } = wanted
  const askedFor = describeWanted(wanted)
  if (!force && statRegular(manifestPathOf(path)) !== undefined) {
    return report(await readManifest(path, askedFor, snapshotRows), wanted, false, io)
  }
  const providers = [open('l1', values.l1), open('l2', values.l2)] as const
  // If one request is told to wait, all must wait, so these providers do not retry by themselves.
  const l2Once = open('l2', values.l2, { maxRetries: 0 })
  const tell = (request: SnapshotRequest, text: string) => void io.stderr.write(`${nameOf(request)}: ${text}\n`)
  const isProgress = (saved: object) => isCount(fieldIn(saved, 'requests'))
  const manifest = await withRowFiles<Counts, Saved, Manifest<Counts>>(
    wanted,
    askedFor,
    snapshotRows,
    isProgress,
    async ({ begun, save }) => {
      const count = Math.ceil(holders.length / (target.contract === undefined ? 1 : keysPerRequest))
      if (begun) showProgress(io, `continuing after ${begun.requests} of ${count} requests`)
      const bundle = begun?.bundle ?? (await fetchBundle(...providers, wanted, signal))
      const { l2BlockNumber, l1Block, stateRoot, implementation } = verifyBundle(bundle, wanted)
      showProgress(io, `L2 block ${l2BlockNumber}, L1 block ${l1Block.number} of ${formatTime(l1Block.timestamp)}`)
      const plan: SnapshotPlan = {
        ...{ ...wanted, scheme: kindOf(bundle, wanted.scheme), stateRoot, block: l2BlockNumber, signal },
        onRetry(request, error) {
          if (isProofError(error)) tell(request, `${error.code}; asking again`)
        },
        onRefused: (request, code) => tell(request, `${code}; no answer of the endpoint verifies`),
      }
      const counts = await writeSnapshot(l2Once, plan, {
        begun,
        keepsAnswers: keep !== undefined,
        async save(rows, kept, progress) {
          await save(rows, kept, { ...progress, bundle })
          showProgress(io, `${progress.requests} of ${count} requests`)
        },
      })
      endProgress(io)
      const block = { l1BlockHash: l1Block.hash, l2BlockNumber: `${l2BlockNumber}`, stateRoot, implementation }
      return writeManifest(wanted, snapshotRows, holders.length, { askedFor, ...block, counts, bundle })
    },
  )
  return report(manifest, wanted, true, io)
}

/** How far a snapshot is. */
type Saved = SnapshotProgress & { readonly bundle: EvidenceBundle<StateScheme> }
type Counts = SnapshotProgress['counts']

const nameOf = ({ address, holders }: SnapshotRequest): string =>
  holders.length === 1 ? `${holders[0]}` : `${address}, ${holders.length} holders from ${holders[0]}`

/** Evidence for the state root: the bundle of the first account. */
async function fetchBundle(
  l1: readonly RequestProvider[],
  l2: readonly RequestProvider[],
  { target, holders, scheme, rollup, l2Block, method }: Wanted,
  signal: AbortSignal,
): Promise<EvidenceBundle<StateScheme>> {
  const address = target.contract ?? holders[0] ?? `0x${'00'.repeat(20)}`
  const request = { scheme, rollup, address, l2BlockNumber: l2Block }
  return (await recordEvidence({ l1, l2, ...request, method, signal })).bundle
}

/** @throws ProofError if it does not verify, or is not from the trusted L1 block */
function verifyBundle(bundle: EvidenceBundle<StateScheme>, { scheme: roots, rollup, l1BlockHash }: Wanted) {
  const scheme = kindOf(bundle, roots)
  const trusted = { l1BlockHash: l1BlockHash ?? statedBlockHash(bundle) }
  const rest = { l2BlockNumber: 'fromBundle', address: 'fromBundle', storageKeys: 'fromBundle' } as const
  const outcome = safely(() => verifyEvidence(bundle, { scheme, rollup, trusted, ...rest }))
  if (!outcome.ok) throw outcome.error
  return outcome.value
}

/** @param isFetched false if the files existed @returns the exit code */
function report(content: Manifest<Counts>, wanted: Wanted, isFetched: boolean, { stdout }: Io): number {
  const { path, keep, json, rollup } = wanted
  const { askedFor: _, bundle: __, ...summary } = content
  const { counts, rows, l2BlockNumber, stateRoot, l1BlockHash, implementation } = summary
  const manifest = manifestPathOf(path)
  const verdict = verdictOf(counts.refused === 0, { l1BlockHash: hashSourceOf(isFetched, wanted.l1BlockHash) })
  const statement =
    counts.refused === 0
      ? `these are the states of all ${rows.count} addresses`
      : `${counts.refused} of ${rows.count} addresses have no answer that verifies`
  const lines = [
    ...(isFetched ? [formatVerdict(verdict, statement, stdout)] : notVerified(path, stdout)),
    formatTable([
      ['rows', path, `${counts.present} present, ${counts.absent} absent, ${counts.refused} refused`],
      ['manifest', manifest],
      ...(keep === undefined ? [] : [['answers', keep] as const]),
      ['L2 block', l2BlockNumber],
      ['L2 state root', stateRoot],
      implementationRow({ implementation }, rollup.implementation && 'user'),
      ['L1 block hash', l1BlockHash],
    ]),
    'Everything rests on the L1 block hash: compare it with a source that you trust. The bundle that proves the rest is in the manifest.',
    ...(keep === undefined ? [] : [HOW_TO_CHECK]),
  ]
  const said = isFetched ? describeVerdict(verdict) : { verdict: null }
  stdout.write(json ? toJson({ ...said, ...summary, manifest, fetched: isFetched }) : `${lines.join('\n')}\n`)
  return exitCodeOf(verdict, ASKED_ENDPOINTS)
}

const HOW_TO_CHECK =
  'Anyone can check these files, offline: run the same command with --check, --l1-block-hash and --l2-block.'
