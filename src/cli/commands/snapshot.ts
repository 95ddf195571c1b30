import { verifyClientOptions } from '../../client/sources/fetch.ts'
import { type EvidenceBundle, type StateScheme, verifyEvidence } from '../../entry/anchor.ts'
import { type Hex, isProofError, safely } from '../../entry/index.ts'
import { type RequestProvider, recordEvidence } from '../../entry/rpc.ts'
import { createStateVerifier } from '../../verify/state/kind.ts'
import type { Command, Io } from '../command.ts'
import { UsageError } from '../errors.ts'
import { snapshotRows } from '../files/row-files.ts'
import type { Connections } from '../options/connections.ts'
import { formatHelp } from '../options/declared.ts'
import { showProgress, withEndpoints } from '../options/endpoint.ts'
import { allOptions, describeWanted, readWanted, snapshotOptions, type Wanted } from '../options/snapshot-options.ts'
import {
  NONE,
  type SnapshotPlan,
  type SnapshotProgress,
  type SnapshotRequest,
  snapshotSteps,
} from '../snapshot/snapshot.ts'
import { checkSnapshot } from '../snapshot/snapshot-check.ts'
import { kindOf, statedBlockHash } from '../words/evidence.ts'
import { formatTime } from '../words/wording.ts'
import { checkRows, takeRows } from './rows.ts'

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
    return wanted.check ? check(wanted, io) : withEndpoints(wanted.values, io, each => take(wanted, each, io))
  },
}

/** @returns the exit code */
function take(wanted: Wanted, { open, signal }: Connections, io: Io): Promise<number> {
  const { holders, target, keysPerRequest, network, values } = wanted
  const [l1, l2] = [open('l1', values.l1), open('l2', values.l2)]
  const say = (request: SnapshotRequest, text: string) => void io.stderr.write(`${nameOf(request)}: ${text}\n`)
  const isMapping = target.contract !== undefined
  const count = Math.ceil(holders.length / (isMapping ? keysPerRequest : 1))
  return takeRows<SnapshotProgress['counts'], SnapshotProgress>(
    wanted,
    {
      kind: snapshotRows,
      askedFor: describeWanted(wanted),
      async begin(begun) {
        if (begun) showProgress(io, `continuing after ${begun.requests} of ${count} requests`)
        const bundle = begun?.bundle ?? (await fetchBundle(l1, l2, wanted, signal))
        const { l2BlockNumber, l1Block, stateRoot, implementation } = verifyBundle(bundle, wanted)
        showProgress(io, `L2 block ${l2BlockNumber}, L1 block ${l1Block.number} of ${formatTime(l1Block.timestamp)}`)
        const plan: SnapshotPlan = {
          ...{ ...wanted, scheme: kindOf(bundle, network.scheme), stateRoot, block: l2BlockNumber, signal },
          method: verifyClientOptions({ rollup: network.rollup }).method,
          onRetry(request, error) {
            if (isProofError(error)) say(request, `${error.code}; asking again`)
          },
          onRefused: (request, code) => say(request, `${code}; no answer of the endpoint verifies`),
        }
        return {
          bundle,
          ...snapshotSteps(l2, plan, begun),
          none: NONE,
          describe: ({ requests }) => `${requests} of ${count} requests`,
          about: { l1BlockHash: l1Block.hash, l2BlockNumber: `${l2BlockNumber}`, stateRoot, implementation },
        }
      },
      tell: ({ counts: { present, absent, refused }, rows: { count } }) => ({
        holds: refused === 0,
        statement:
          refused === 0
            ? `these are the states of all ${count} addresses`
            : `${refused} of ${count} addresses have no answer that verifies`,
        summary: `${present} present, ${absent} absent, ${refused} refused`,
        rows: [],
      }),
    },
    io,
  )
}

/** Verifies the files of a snapshot, offline. @returns the exit code @throws UsageError */
function check(wanted: Wanted, io: Io): Promise<number> {
  const { network, trust, l2Block, holders } = wanted
  const { l1BlockHash } = trust
  if (l1BlockHash === undefined) throw new UsageError('--check needs --l1-block-hash: everything rests on it')
  return checkRows(
    wanted,
    {
      ...{ kind: snapshotRows, l2Block },
      prove(bundle) {
        const scheme = kindOf(bundle, network.scheme)
        return { scheme, verified: verifyEvidence(bundle, claimOf(wanted, scheme, l1BlockHash)) }
      },
      check: ({ scheme, verified }, rows, answers) =>
        checkSnapshot({ ...wanted, rows, answers }, createStateVerifier(scheme), verified.stateRoot),
      tell: ({ verified: { l2BlockNumber, currentL2BlockNumber } }) => ({
        statement: `all ${holders.length} rows are proven`,
        json: { rows: holders.length },
        notes:
          l2Block === undefined && l2BlockNumber !== currentL2BlockNumber
            ? ['Note: this is an older state, and whoever made the files chose it. Pass the block with --l2-block.']
            : [],
      }),
    },
    io,
  )
}

/** What the bundle of a snapshot must prove. Whose account it shows does not matter. */
function claimOf({ network: { rollup }, l2Block }: Wanted, scheme: StateScheme, l1BlockHash: Hex) {
  const of = { scheme, rollup, trusted: { l1BlockHash }, l2BlockNumber: l2Block ?? 'fromBundle' } as const
  return { ...of, address: 'fromBundle', storageKeys: 'fromBundle' } as const
}

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
function verifyBundle(bundle: EvidenceBundle<StateScheme>, wanted: Wanted) {
  const l1BlockHash = wanted.trust.l1BlockHash ?? statedBlockHash(bundle)
  const claim = claimOf(wanted, kindOf(bundle, wanted.network.scheme), l1BlockHash)
  const outcome = safely(() => verifyEvidence(bundle, claim))
  if (!outcome.ok) throw outcome.error
  return outcome.value
}
