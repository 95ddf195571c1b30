import { plural } from '../../base/errors.ts'
import { openNewest, recordLogs, recordNewest } from '../../client/record/record-logs.ts'
import { type LogsSearch, searchLogs } from '../../client/sources/blocks.ts'
import { openEndpoints } from '../../client/sources/endpoints.ts'
import type { StateScheme, Trusted } from '../../entry/anchor.ts'
import type { VerifiedLogs } from '../../entry/blocks.ts'
import { type BlockLog, searchBlocks } from '../../verify/blocks/block.ts'
import type { BlockClaim } from '../../verify/blocks/header.ts'
import { type RowFormat, rowWriter } from '../audit/lines.ts'
import { UsageError } from '../errors.ts'
import { recordToFile, type Subject } from '../files/recorded-file.ts'
import { logsOf } from '../kinds/logs.ts'
import { optionsOf, recordOptions } from '../options/declared.ts'
import { defineCommand } from '../options/define.ts'
import { filterOf, filterOptions, rangeOptions } from '../options/filter.ts'
import { type ChosenNetwork, networkOf } from '../options/network.ts'
import { kindOf } from '../words/evidence.ts'
import { sourceWords } from '../words/wording.ts'
import { chosenIn, type RowsKind, readWantedRows, runRows } from './rows.ts'

const logsOptions = { ...filterOptions, ...rangeOptions, ...optionsOf('l2-block', 'check') }

export const command = defineCommand(
  {
    usage: 'record logs --from-block N [--address CONTRACT] -o FILE [options]',
    options: logsOptions,
    shared: recordOptions,
    about: `
Fetches and verifies all logs of a range of L2 blocks: none is left out, added
or changed. FILE gets the logs and all evidence, for \`verify\`: of 8,192 blocks
at most. If its name ends with .csv or .ndjson, it gets a row per log, newest
first, and FILE.evidence.ndjson what proves them. Run it again after an
interruption.`,
    notes: `
--check believes nothing in the files: pass what you trust, too.
Exit codes: as \`record state\`. Also 1 if --check finds a row that is not
proven.`,
    examples: `
rollup-state-proof record logs --address 0x... --from-block N \\
  --event 'Transfer(address,address,uint256)' -o rows.csv
rollup-state-proof record logs --address 0x... --topic any --topic 0x... \\
  --from-block N --to-block N -o log.json`,
  },
  async (values, io) => {
    const { address, event, topic, ...flags } = values
    const { 'from-block': fromBlock, 'to-block': toBlock, output } = flags
    if (!output) throw new UsageError('--output is needed: the file for the logs')
    if (fromBlock === undefined) throw new UsageError('--from-block is needed: the first block of the range')
    if (toBlock !== undefined && toBlock < fromBlock) throw new UsageError('--to-block: it is before --from-block')
    const search = { filter: filterOf({ address, event, topic }), fromBlock, toBlock }
    if (/\.(?:csv|ndjson)$/.test(output)) {
      const wanted = await readWantedRows(flags)
      return runRows(wanted, rowsOf(search, wanted), io)
    }
    if (flags.check)
      throw new UsageError(
        `${output}: one file holds everything, so check it with the command verify. For rows, its name ends with .csv or .ndjson`,
      )
    return recordToFile(flags, logsSubject(search, networkOf(flags), flags['l2-block']), io)
  },
)

type Search = Omit<LogsSearch, 'toBlock'> & { readonly toBlock: bigint | undefined }

function rowsOf(
  { filter, fromBlock, toBlock }: Search,
  { network, l2Block, check }: Awaited<ReturnType<typeof readWantedRows>>,
): RowsKind {
  return {
    unit: ['block', 'blocks'],
    record: ([l1, l2], how) => recordNewest({ l1, l2, network, ...how }, toBlock),
    open(bundle, trusted, format) {
      const claim = { scheme: kindOf(bundle, network.scheme), rollup: network.rollup, trusted }
      const proven = openNewest(bundle, { ...claim, l2BlockNumber: l2Block ?? 'fromBundle' }, toBlock)
      if (proven.toBlock < fromBlock)
        throw new UsageError(`--from-block: the newest block that can be proven is ${proven.toBlock}`, false)
      const range = { fromBlock, toBlock: proven.toBlock }
      const { counts, next, ...reader } = logReader({ filter, ...range }, format, proven.newest)
      return {
        verified: proven.verified,
        ...reader,
        async *fetch(l2, signal) {
          const source = { l2: openEndpoints('l2', l2, 'L2', { signal }), signal }
          for await (const { parts } of searchLogs(source, next(), { filter, ...range }))
            yield `${JSON.stringify(parts)}\n`
        },
        tell() {
          const source = toBlock === undefined ? chosenIn(check) : 'user'
          return {
            statement: `these are all logs of these blocks that the filter selects: ${counts.logs}`,
            summary: plural(counts.logs, 'log'),
            json: { range, counts },
            rows: [
              ['from block', `${fromBlock}`, sourceWords.user],
              ['to block', `${proven.toBlock}`, sourceWords[source]],
              ['blocks', `${counts.blocks}`, `${counts.ruledOut} of them ruled out by their headers`],
              ['receipts', `${counts.receipts}`, 'verified'],
            ],
            sources: { toBlock: source },
          }
        },
      }
    },
  }
}

const PLACES = [0, 1, 2, 3]
const COLUMNS = [
  'blockNumber',
  'blockTimestamp',
  'blockHash',
  'transactionHash',
  'transactionIndex',
  'logIndex',
  'address',
  ...PLACES.map(index => `topic${index}`),
  'data',
]

/** Reads the blocks that are kept, and spells the logs that they prove, both newest first. @param newest the first, as it is proven */
export function logReader({ filter, fromBlock, toBlock }: LogsSearch, format: RowFormat, newest: BlockClaim) {
  const search = searchBlocks(filter, toBlock)
  const { heading, lineOf } = rowWriter(COLUMNS, format)
  const counts = { blocks: 0, ruledOut: 0, receipts: 0, logs: 0 }
  let next = newest
  const spell = (log: BlockLog) =>
    lineOf({ ...log, ...Object.fromEntries(PLACES.map(index => [`topic${index}`, log.topics[index]])) })
  return {
    heading,
    counts,
    /** The block to go on with, as the last one proves it. */
    next: () => next,
    left: () => Number(next.number - fromBlock + 1n),
    /** @throws ProofError */
    rowsOf(block: unknown): string {
      const { header, logs, receiptCount } = search.verify(block, next)
      next = { number: header.number - 1n, hash: header.parentHash }
      // One after the range counts for nothing.
      if (header.number <= toBlock) {
        counts.blocks++
        counts.ruledOut += receiptCount === null ? 1 : 0
        counts.receipts += receiptCount ?? 0
        counts.logs += logs.length
      }
      return logs.toReversed().map(spell).join('')
    },
  }
}

function logsSubject(
  { filter, fromBlock, toBlock }: Search,
  network: ChosenNetwork,
  l2BlockNumber: bigint | undefined,
): Subject<VerifiedLogs<Trusted, StateScheme>> {
  const isFiltered = filter.address.length + filter.topics.length > 0
  return {
    stated: logsOf(network, {
      l2BlockNumber: l2BlockNumber ?? 'fromBundle',
      fromBlock,
      toBlock: toBlock ?? 'fromBundle',
      filter: isFiltered ? filter : 'fromBundle',
    }),
    fetch: ([l1, l2], options) =>
      recordLogs({ l1, l2, network, l2BlockNumber, ...options }, { filter, fromBlock, toBlock }),
    verifyArguments: ({ fromBlock, toBlock, filter }) => [
      '--from-block',
      `${fromBlock}`,
      '--to-block',
      `${toBlock}`,
      ...filter.address.flatMap(one => ['--address', one]),
      ...filter.topics.flatMap(choices => ['--topic', choices.join() || 'any']),
    ],
  }
}
