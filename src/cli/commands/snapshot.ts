import { verifyClientOptions } from '../../client/sources/fetch.ts'
import { type EvidenceBundle, type StateScheme, verifyEvidence } from '../../entry/anchor.ts'
import { isProofError, safely } from '../../entry/index.ts'
import { type RequestProvider, recordEvidence } from '../../entry/rpc.ts'
import type { Command, Io } from '../command.ts'
import { statRegular } from '../files/output-file.ts'
import {
  type Manifest,
  manifestPathOf,
  readManifest,
  snapshotRows,
  withRowFiles,
  writeManifest,
} from '../files/row-files.ts'
import type { Connections } from '../options/connections.ts'
import { formatHelp } from '../options/declared.ts'
import { endProgress, hashSourceOf, notVerified, showProgress, withEndpoints } from '../options/endpoint.ts'
import { allOptions, describeWanted, readWanted, snapshotOptions, type Wanted } from '../options/snapshot-options.ts'
import { formatTable, toJson } from '../output/report.ts'
import { ASKED_ENDPOINTS, describeVerdict, exitCodeOf, formatVerdict } from '../output/verdict.ts'
import { type SnapshotPlan, type SnapshotProgress, type SnapshotRequest, writeSnapshot } from '../snapshot/snapshot.ts'
import { kindOf, statedBlockHash } from '../words/evidence.ts'
import { fieldIn, isCount } from '../words/value.ts'
import { verdictOf } from '../words/verdict.ts'
import { formatTime, implementationRow } from '../words/wording.ts'
import { checkFiles } from './snapshot-check.ts'

export const command: Command = {
  help: formatHelp({
    usage: 'snapshot ADDRESSES -o ROWS [options]',
    ...{ options: snapshotOptions, all: allOptions },
    about: `
Fetches and verifies many accounts, or the entries of many holders in one
mapping, at one finalized L2 block. ROWS gets one row of proven values per
address, as CSV if its name ends with .csv, and ROWS.manifest.json what proves
the state root. ADDRESSES has one address per line, with # for comments; - is
standard input. Run it again after an interruption.`,
    notes: `
--check believes nothing in the files: pass --keep, --l1-block-hash and
--l2-block, too. An address without an answer that verifies is "refused".
Exit code: 0 all verified; 1 some refused, or not proven; 2 wrong usage; 3 an
endpoint failed: run it again; 4 the files existed, and were not verified.`,
    examples: `
export L1_URL=https://... L2_URL=https://...
rollup-state-proof snapshot holders.txt -o balances.csv --keep answers.gz
rollup-state-proof snapshot holders.txt --address 0x... --mapping 0 each \\
  -o tokens.csv`,
  }),
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
  const [l1, l2] = [open('l1', values.l1), open('l2', values.l2)]
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
      const bundle = begun?.bundle ?? (await fetchBundle(l1, l2, wanted, signal))
      const { l2BlockNumber, l1Block, stateRoot, implementation } = verifyBundle(bundle, wanted)
      showProgress(io, `L2 block ${l2BlockNumber}, L1 block ${l1Block.number} of ${formatTime(l1Block.timestamp)}`)
      const plan: SnapshotPlan = {
        ...{ ...wanted, scheme: kindOf(bundle, wanted.network.scheme), stateRoot, block: l2BlockNumber, signal },
        method: verifyClientOptions({ rollup: wanted.network.rollup }).method,
        onRetry(request, error) {
          if (isProofError(error)) tell(request, `${error.code}; asking again`)
        },
        onRefused: (request, code) => tell(request, `${code}; no answer of the endpoint verifies`),
      }
      const counts = await writeSnapshot(l2, plan, {
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
  { target, holders, network, l2Block }: Wanted,
  signal: AbortSignal,
): Promise<EvidenceBundle<StateScheme>> {
  const address = target.contract ?? holders[0] ?? `0x${'00'.repeat(20)}`
  return (await recordEvidence({ l1, l2, network, address, l2BlockNumber: l2Block, signal })).bundle
}

/** @throws ProofError if it does not verify, or is not from the trusted L1 block */
function verifyBundle(bundle: EvidenceBundle<StateScheme>, { network, l1BlockHash }: Wanted) {
  const { rollup } = network
  const scheme = kindOf(bundle, network.scheme)
  const trusted = { l1BlockHash: l1BlockHash ?? statedBlockHash(bundle) }
  const rest = { l2BlockNumber: 'fromBundle', address: 'fromBundle', storageKeys: 'fromBundle' } as const
  const outcome = safely(() => verifyEvidence(bundle, { scheme, rollup, trusted, ...rest }))
  if (!outcome.ok) throw outcome.error
  return outcome.value
}

/** @param isFetched false if the files existed @returns the exit code */
function report(content: Manifest<Counts>, wanted: Wanted, isFetched: boolean, { stdout }: Io): number {
  const { path, keep, json, network } = wanted
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
      implementationRow({ implementation }, network.rollup.implementation && 'user'),
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
