import { recordLogs } from '../../client/record/record-logs.ts'
import type { StateScheme, Trusted } from '../../entry/anchor.ts'
import type { VerifiedLogs } from '../../entry/blocks.ts'
import type { Subject } from '../files/recorded-file.ts'
import { logsOf } from '../kinds/logs.ts'
import type { WantedLogs } from '../options/logs-options.ts'

/** The logs of a range, with all evidence in one file. */
export function logsSubject(wanted: WantedLogs): Subject<VerifiedLogs<Trusted, StateScheme>> {
  const { network, l2BlockNumber, filter, fromBlock, toBlock } = wanted
  const claim = { l2BlockNumber: l2BlockNumber ?? 'fromBundle', fromBlock, toBlock: toBlock ?? 'fromBundle' } as const
  return {
    kind: 'logs',
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
