import type { StateScheme, Trusted } from '../../entry/anchor.ts'
import { UsageError } from '../errors.ts'
import type { AskedFor } from '../files/output-file.ts'
import { optionsOf, recordOptions } from './declared.ts'
import { filterOf, filterOptions, rangeOptions } from './filter.ts'
import { describeRollup, networkOf } from './network.ts'
import { integerOf, parseOptions } from './parse.ts'
import { readRecordTrust } from './record-trust.ts'

export const logsOptions = { ...filterOptions, ...rangeOptions, ...optionsOf('l2-block', 'keep', 'check') }

/** What the options ask for. */
export type WantedLogs = ReturnType<typeof readWantedLogs>

/** @throws UsageError */
export function readWantedLogs(args: readonly string[]) {
  const { values } = parseOptions(args, { ...logsOptions, ...recordOptions })
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
  const [fromBlock, toBlock] = [integerOf(flags, 'from-block', 64), integerOf(flags, 'to-block', 64)]
  if (fromBlock === undefined) throw new UsageError('--from-block is needed: the first block of the range')
  if (toBlock !== undefined && toBlock < fromBlock) throw new UsageError('--to-block: it is before --from-block')
  const network = networkOf(flags)
  return {
    flags: { ...flags, output: path, force, json },
    ...{ path, keep, check, force, json, format, fromBlock, toBlock, network },
    filter: filterOf({ address, event, topic }),
    l2BlockNumber: integerOf(flags, 'l2-block', 64),
    trust: readRecordTrust(flags, network),
  }
}

/** What the state is verified against that holds the hash of the newest block. */
export const stateClaimOf = (
  { network: { rollup }, l2BlockNumber }: Pick<WantedLogs, 'network' | 'l2BlockNumber'>,
  trusted: Trusted,
  scheme: StateScheme,
) => ({ scheme, rollup, trusted, l2BlockNumber: l2BlockNumber ?? 'fromBundle' }) as const

/** The request for which the files must have been written, to be continued or reported. */
export function describeLogs({ filter, fromBlock, toBlock, trust, l2BlockNumber, ...wanted }: WantedLogs): AskedFor {
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
