import { searchLogs } from '../../client/l1/logs.ts'
import { openNewest, type ProvenNewest, recordLogs, recordNewest } from '../../client/record/record-logs.ts'
import { openEndpoints } from '../../client/sources/endpoints.ts'
import type { StateScheme, Trusted } from '../../entry/anchor.ts'
import type { VerifiedLogs } from '../../entry/blocks.ts'
import type { Io } from '../command.ts'
import { UsageError } from '../errors.ts'
import type { AskedFor } from '../files/output-file.ts'
import { recordToFile, type Subject } from '../files/recorded-file.ts'
import { logRows, type Saved } from '../files/row-files.ts'
import { logsOf } from '../kinds/logs.ts'
import { MAX_SHOWN_LENGTH } from '../limits.ts'
import { type LogsCounts, type LogsProgress, logSteps, logWriter, NO_LOGS, provenLogs } from '../logs/logs.ts'
import type { Connections } from '../options/connections.ts'
import { optionsOf, recordOptions, type ValuesOf } from '../options/declared.ts'
import { defineCommand } from '../options/define.ts'
import { showProgress, withEndpoints } from '../options/endpoint.ts'
import { filterOf, filterOptions, rangeOptions } from '../options/filter.ts'
import { describeRollup, networkOf } from '../options/network.ts'
import { readRecordTrust, trustedIn, trustOptionsOf } from '../options/record-trust.ts'
import { timeLeft } from '../output/terminal.ts'
import { kindOf } from '../words/evidence.ts'
import { cut, fieldIn, printable, show } from '../words/value.ts'
import { checkRows, chosenBy, provenAndStated, takeRows } from './rows.ts'

const logsOptions = { ...filterOptions, ...rangeOptions, ...optionsOf('l2-block', 'keep', 'check') }

export const command = defineCommand(
  {
    usage: 'record logs --from-block N [--address CONTRACT] -o FILE [options]',
    ...{ options: logsOptions, shared: recordOptions },
    about: `
Fetches and verifies all logs of a range of L2 blocks: none is left out, added
or changed. FILE.json gets the logs and all evidence, for \`verify\`: of 8,192
blocks at most. FILE.csv and FILE.ndjson get a row per log, newest first, and
FILE.manifest.json what proves them. Run it again after an interruption.`,
    notes: `
--check believes nothing in the files: pass --keep and what you trust, too.
Exit codes: as \`record state\`. Also 1 if --check finds a row that is not
proven.`,
    examples: `
rollup-state-proof record logs --address 0x... --from-block N \\
  --event 'Transfer(address,address,uint256)' -o rows.csv --keep blocks.gz
rollup-state-proof record logs --address 0x... --topic any --topic 0x... \\
  --from-block N --to-block N -o log.json`,
  },
  async (values, io) => {
    const wanted = readWanted(values)
    const { format, flags } = wanted
    if (format === 'bundle') return recordToFile(flags, logsSubject(wanted), io)
    const rows = { ...wanted, format }
    return wanted.check ? check(rows, io) : withEndpoints(flags, io, connections => take(rows, connections, io))
  },
)

function readWanted(values: ValuesOf<typeof recordOptions & typeof logsOptions>) {
  const { output: path, keep, check, force, json, address, event, topic, ...flags } = values
  if (!path) throw new UsageError('--output is needed: the file for the logs')
  const format: 'csv' | 'ndjson' | 'bundle' =
    (['csv', 'ndjson'] as const).find(name => path.endsWith(`.${name}`)) ?? 'bundle'
  if (format === 'bundle' && (check || keep !== undefined)) {
    throw new UsageError(
      `${path}: one file holds everything, so leave out --keep, and check it with the command verify. For rows, its name ends with .csv or .ndjson`,
    )
  }
  if (keep !== undefined && !keep.endsWith('.gz')) throw new UsageError('--keep: the name must end with .gz')
  if (keep === path) throw new UsageError('--keep and --output name the same file')
  const { 'from-block': fromBlock, 'to-block': toBlock } = flags
  if (fromBlock === undefined) throw new UsageError('--from-block is needed: the first block of the range')
  if (toBlock !== undefined && toBlock < fromBlock) throw new UsageError('--to-block: it is before --from-block')
  const network = networkOf(flags)
  return {
    flags: { ...flags, output: path, force, json },
    ...{ path, keep, check, force, json, format, fromBlock, toBlock, network },
    filter: filterOf({ address, event, topic }),
    l2BlockNumber: flags['l2-block'],
    trust: readRecordTrust(flags, network),
  }
}

/** What the state is verified against that holds the hash of the newest block. */
const stateClaimOf = (
  { network: { rollup }, l2BlockNumber }: Pick<AnyWanted, 'network' | 'l2BlockNumber'>,
  trusted: Trusted,
  scheme: StateScheme,
) => ({ scheme, rollup, trusted, l2BlockNumber: l2BlockNumber ?? 'fromBundle' }) as const

/** The request for which the files must have been written, to be continued or reported. */
function describeLogs({ filter, fromBlock, toBlock, trust, l2BlockNumber, ...wanted }: AnyWanted): AskedFor {
  const { network, format, keep } = wanted
  return {
    ...{ command: 'record logs', ...describeRollup(network), filter: JSON.stringify(filter) },
    ...{
      'from block': `${fromBlock}`,
      'to block': `${toBlock ?? 'newest'}`,
      'L2 block': `${l2BlockNumber ?? 'newest'}`,
    },
    'L1 block': `${trust.beacon?.beaconBlockRoot ?? trust.l1BlockHash ?? trust.l1Block}`,
    ...{ format, keep: keep ?? '' },
  }
}

type AnyWanted = ReturnType<typeof readWanted>
type Wanted = AnyWanted & { readonly format: 'ndjson' | 'csv' }

function take(wanted: Wanted, connections: Connections, io: Io): Promise<number> {
  const { fromBlock, filter, format } = wanted
  return takeRows<LogsCounts, LogsProgress>(
    wanted,
    {
      ...{ kind: logRows, askedFor: describeLogs(wanted) },
      async begin(begun) {
        const [bundle, source] = await open(wanted, begun, connections)
        const { newest, toBlock, verified } = openBundle(bundle, wanted)
        const total = newest.number - fromBlock + 1n
        const { l1Block, l2BlockNumber, stateRoot, implementation } = verified
        const next = begun === undefined ? newest : { number: BigInt(begun.next.number), hash: begun.next.hash }
        showProgress(
          io,
          begun
            ? `continuing after ${newest.number - next.number} of ${total} blocks`
            : `L2 block ${l2BlockNumber}, L1 block ${l1Block?.number}: ${total} blocks to search, a request for each and two for each that may hold a log`,
        )
        const begunAt = Date.now()
        const blocks = searchLogs(source, next, { filter, fromBlock, toBlock })
        const block = { l1BlockHash: `${l1Block?.hash}`, l2BlockNumber: `${l2BlockNumber}`, stateRoot, implementation }
        return {
          ...{ bundle, none: NO_LOGS, heading: logWriter(format).heading },
          steps: logSteps(blocks, { format, toBlock }, begun?.counts),
          describe({ next: { number }, counts: { receipts, logs } }) {
            const done = newest.number - BigInt(number)
            const share = Number(next.number - BigInt(number)) / Number(next.number + 1n - fromBlock)
            const rest = timeLeft((Date.now() - begunAt) / 1000, share)
            return `${done} of ${total} blocks, ${receipts} receipts, ${logs} logs${rest}`
          },
          about: { ...block, range: { fromBlock: `${fromBlock}`, toBlock: `${toBlock}` } },
        }
      },
      tell: ({ counts, range }) => ({
        holds: true,
        statement: `these are all logs of these blocks that the filter selects: ${counts.logs}`,
        summary: `${counts.logs} logs`,
        rows: [
          ['range', `${range?.fromBlock} to ${range?.toBlock}`, `${counts.blocks} blocks, ${ruledOut(counts)}`],
          ['receipts', `${counts.receipts}`, 'verified'],
        ],
      }),
    },
    io,
  )
}

const ruledOut = (counts: LogsCounts): string => `${counts.ruledOut} of them ruled out by their headers`

/** Verifies the files of a search, offline. @returns the exit code @throws UsageError */
function check(wanted: Wanted, io: Io): Promise<number> {
  const { network, l2BlockNumber, trust, fromBlock, toBlock } = wanted
  const trusted = trust.beacon ?? (trust.l1BlockHash && { l1BlockHash: trust.l1BlockHash })
  if (!trusted) throw new UsageError('--check needs --l1-block-hash or --checkpoint: everything rests on it')
  return checkRows(
    wanted,
    {
      ...{ kind: logRows, l2Block: l2BlockNumber },
      prove: bundle => openNewest(bundle, stateClaimOf(wanted, trusted, kindOf(bundle, network.scheme)), toBlock),
      rows: ({ newest, toBlock }, blocks) => provenLogs({ ...wanted, toBlock, blocks }, newest),
      tell: (range, counts) => ({
        statement: `the rows are all logs of these blocks that the filter selects: ${counts.logs}`,
        sources: { toBlock: chosenBy(toBlock) },
        json: { fromBlock, toBlock: range.toBlock, counts },
        rows: [
          ['range', `${fromBlock} to ${range.toBlock}`, provenAndStated(toBlock)],
          ['blocks', `${counts.blocks}`, ruledOut(counts)],
          ['receipts', `${counts.receipts}`, 'verified'],
        ],
      }),
      // Where the files say that they end, if that is not where the user says.
      hint(manifest) {
        const last = show(fieldIn(fieldIn(manifest, 'range'), 'toBlock'))
        if (toBlock === undefined || last === `${toBlock}`) return []
        const words = printable(cut(last, MAX_SHOWN_LENGTH))
        return [['files end', `at block ${words}, as their manifest says; you state ${toBlock}`]]
      },
    },
    io,
  )
}

/** The bundle that proves the newest block, of this run or of the interrupted one, and where blocks come from. */
async function open(
  { flags, trust, toBlock, ...wanted }: Wanted,
  begun: Saved<LogsProgress> | undefined,
  connections: Connections,
) {
  const { signal } = connections
  const [l1, l2] = [connections.open('l1', flags.l1), connections.open('l2', flags.l2)]
  const source = { l2: openEndpoints('l2', l2, 'L2', { signal }), signal }
  if (begun !== undefined) return [begun.bundle, source] as const
  const { network, l2BlockNumber } = wanted
  const how = { ...trustOptionsOf(trust, flags.beacon, connections), signal }
  const { bundle } = await recordNewest({ l1, l2, network, l2BlockNumber, ...how }, toBlock)
  return [bundle, source] as const
}

/** @throws ProofError if it does not verify, or is not from what is trusted; UsageError if the range is after it */
function openBundle(bundle: unknown, wanted: Wanted): ProvenNewest {
  const { trust, fromBlock, toBlock } = wanted
  const claim = stateClaimOf(wanted, trustedIn(bundle, trust), kindOf(bundle, wanted.network.scheme))
  const proven = openNewest(bundle, claim, toBlock)
  if (proven.toBlock >= fromBlock) return proven
  throw new UsageError(`--from-block: the newest block that can be proven is ${proven.toBlock}`, false)
}

/** The logs of a range, with all evidence in one file. */
function logsSubject(wanted: AnyWanted): Subject<VerifiedLogs<Trusted, StateScheme>> {
  const { network, l2BlockNumber, filter, fromBlock, toBlock } = wanted
  const claim = { l2BlockNumber: l2BlockNumber ?? 'fromBundle', fromBlock, toBlock: toBlock ?? 'fromBundle' } as const
  return {
    stated: logsOf(network, { ...claim, filter }),
    fetch: ([l1, l2], options) =>
      recordLogs({ l1, l2, network, l2BlockNumber, ...options }, { filter, fromBlock, toBlock }),
    verifyArguments: ({ fromBlock, toBlock, filter }) => [
      ...['--from-block', `${fromBlock}`, '--to-block', `${toBlock}`],
      ...filter.address.flatMap(one => ['--address', one]),
      ...filter.topics.flatMap(choices => ['--topic', choices.join() || 'any']),
    ],
  }
}
