import { createHash } from 'node:crypto'
import { lowerCase } from '../../base/hex.ts'
import { stringify } from '../../base/json/stringify.ts'
import { verifyClientOptions } from '../../client/sources/fetch.ts'
import { type EvidenceBundle, type StateScheme, verifyEvidence } from '../../entry/anchor.ts'
import { type Hex, isProofError, safely } from '../../entry/index.ts'
import { type RequestProvider, recordEvidence } from '../../entry/rpc.ts'
import { createStateVerifier } from '../../verify/state/kind.ts'
import { readFileChunks, unpack } from '../audit/input.ts'
import { readLines } from '../audit/lines.ts'
import type { RowFormat } from '../audit/rows.ts'
import type { Io } from '../command.ts'
import { orUsageError, UsageError } from '../errors.ts'
import { snapshotRows } from '../files/row-files.ts'
import { MAX_ADDRESS_LINE, MAX_ADDRESSES, MAX_STORAGE_KEYS } from '../limits.ts'
import type { Connections } from '../options/connections.ts'
import { list, optionsOf, or, typed, type ValuesOf } from '../options/declared.ts'
import { defineCommand } from '../options/define.ts'
import { showProgress, withEndpoints } from '../options/endpoint.ts'
import { describeRollup, networkOf } from '../options/network.ts'
import { EACH } from '../options/parse.ts'
import { address, asText, integer, isAddress, whole } from '../options/read.ts'
import {
  NONE,
  provenSnapshot,
  type SnapshotPlan,
  type SnapshotProgress,
  type SnapshotRequest,
  snapshotSteps,
  type Target,
} from '../snapshot/snapshot.ts'
import { kindOf, statedBlockHash } from '../words/evidence.ts'
import { isHexOf } from '../words/layout.ts'
import { formatTime } from '../words/wording.ts'
import { checkRows, takeRows } from './rows.ts'

const options = {
  ...optionsOf('storage-key'),
  mapping: list('SLOT KEY', "a mapping's entry; the word `each` as KEY: one per address", asText),
  address: typed('CONTRACT', 'the contract with that mapping', address),
  ...optionsOf('l2-block'),
  concurrency: or('8', typed('N', 'requests at once, 1 to 256', whole(1, 256))),
  'keys-per-request': or('100', typed('N', 'storage keys per request', whole(1, MAX_STORAGE_KEYS))),
  ...optionsOf('keep', 'check'),
}
const shared = {
  ...optionsOf('network', 'l1', 'l2', 'implementation', 'timeout', 'output', 'force', 'json', 'l1-block-hash'),
  // What `--mapping SLOT each` becomes.
  [EACH]: typed('SLOT', '', text => integer(256)(text, '--mapping SLOT')),
}

export const command = defineCommand(
  {
    usage: 'snapshot ADDRESSES -o ROWS [options]',
    ...{ options, shared },
    expected: 'name one file of addresses, or - for standard input',
    about: `
Fetches and verifies many accounts, or the entries of many holders in one
mapping, at one finalized L2 block. ROWS gets one row of proven values per
address, as CSV if its name ends with .csv, and ROWS.manifest.json what proves
the state root. ADDRESSES has one address per line, with # for comments; - is
standard input. Run it again after an interruption.`,
    notes: `
--check believes nothing in the files: pass --keep, --l1-block-hash and
--l2-block, too. An address without an answer that verifies is "refused".
Exit code: 0 all verified; 1 some refused, or not proven; 2 wrong usage, or the
files exist; 3 an endpoint failed: run it again.`,
    examples: `
export L1_URL=https://... L2_URL=https://...
rollup-state-proof snapshot holders.txt -o balances.csv --keep answers.gz
rollup-state-proof snapshot holders.txt --address 0x... --mapping 0 each \\
  -o tokens.csv`,
  },
  async (values, io, [file]) => {
    const wanted = await readWanted(values, file, io)
    return wanted.check ? check(wanted, io) : withEndpoints(values, io, each => take(wanted, each, io))
  },
)

type Wanted = Awaited<ReturnType<typeof readWanted>>

async function readWanted(values: ValuesOf<typeof shared & typeof options>, file: string, io: Io) {
  const { output: path, keep, check } = values
  if (!path || path === '-') throw new UsageError('--output is needed: the file for the rows')
  if (keep !== undefined && !keep.endsWith('.gz')) throw new UsageError('--keep: the name must end with .gz')
  if (keep === path) throw new UsageError('--keep and --output name the same file')
  const format: RowFormat = path.endsWith('.csv') ? 'csv' : 'ndjson'
  return {
    values,
    ...{ path, keep, format, check, force: values.force, json: values.json },
    trust: { l1BlockHash: values['l1-block-hash'] },
    concurrency: values.concurrency,
    keysPerRequest: values['keys-per-request'],
    target: targetOf(values.address, values[EACH], values['storage-key'] ?? []),
    network: networkOf(values),
    l2Block: values['l2-block'],
    holders: await readAddresses(file, io),
  }
}

/** The request for which the files must have been written, to be continued or reported. */
function describeWanted(wanted: Wanted) {
  const { target, network, holders, trust, l2Block, format, keep, keysPerRequest } = wanted
  return {
    command: 'snapshot',
    addresses: `${holders.length}, SHA-256 ${createHash('sha256').update(holders.join('\n')).digest('hex')}`,
    target: stringify(target),
    ...describeRollup(network),
    'L1 block hash': trust.l1BlockHash?.toLowerCase() ?? 'any',
    'L2 block': `${l2Block ?? 'newest'}`,
    ...{ format, keep: keep ?? '', 'keys per request': `${keysPerRequest}` },
  }
}

function targetOf(contract: Hex | undefined, slot: bigint | undefined, keys: readonly Hex[]): Target {
  if (keys.length > MAX_STORAGE_KEYS)
    throw new UsageError(`--storage-key: at most ${MAX_STORAGE_KEYS} fit into one kept answer`)
  const storageKeys = keys.map(lowerCase)
  if (contract === undefined && slot === undefined) return { storageKeys }
  if (contract === undefined || slot === undefined) {
    throw new UsageError('--address CONTRACT and --mapping SLOT each belong together: where it declares the mapping')
  }
  if (storageKeys.length > 0) throw new UsageError('--storage-key: --mapping SLOT each computes the storage keys')
  return { contract: lowerCase(contract), slot, storageKeys }
}

/** @throws UsageError when a line is not an address */
async function readAddresses(file: string, io: Io): Promise<Hex[]> {
  const name = file === '-' ? 'standard input' : file
  if (isHexOf(20, file)) {
    throw new UsageError('expected a file with one address per line; for one address, use the command record')
  }
  const addresses: Hex[] = []
  await orUsageError(`cannot read ${name}`, async () => {
    let line = 0
    for await (const text of readLines(unpack(file === '-' ? io.stdin : readFileChunks(file)), MAX_ADDRESS_LINE))
      addAddress(addresses, text, `${name}, line ${++line}`)
  })
  if (addresses.length === 0) throw new UsageError(`${name} has no address`)
  return addresses
}

/** Adds the address in a line, if there is one. @throws UsageError if it is none, or one too many */
export function addAddress(addresses: Hex[], line: string, place: string): void {
  const address = line.replace(/#.*/s, '').trim()
  if (address === '') return
  if (!isAddress(place, address))
    throw new UsageError(`${place}: expected an address, 20 bytes of hexadecimal after 0x`)
  if (addresses.length >= MAX_ADDRESSES) throw new UsageError(`${place}: more than ${MAX_ADDRESSES} addresses`)
  addresses.push(lowerCase(address))
}

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
      rows: ({ scheme, verified }, answers) =>
        provenSnapshot({ ...wanted, answers }, createStateVerifier(scheme), verified.stateRoot),
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
