import { type RecordedLogs, recordLogs } from '../../client/record/record-logs.ts'
import { verifyLogs } from '../../entry/blocks.ts'
import { refuseOverwrite } from '../files/output-file.ts'
import type { Subject } from '../files/recorded-file.ts'
import { describeLogs, stateClaimOf, type WantedLogs } from '../options/logs-options.ts'
import { trustedIn } from '../options/record-trust.ts'
import { formatLogs } from '../output/logs-report.ts'
import { kindOf } from '../words/evidence.ts'
import { readInputFile } from '../words/input-file.ts'

/** The subject of `logs --format bundle`: the logs of a range, with all evidence in one file. */
export function logsSubject(wanted: WantedLogs): Subject<RecordedLogs> {
  const { scheme, rollup, l2BlockNumber, filter, fromBlock, toBlock } = wanted
  return {
    keyCount: 0,
    askedFor: () => describeLogs(wanted),
    fetch: ([l1, l2], options) =>
      recordLogs({ l1, l2, scheme, rollup, l2BlockNumber, ...options }, { filter, fromBlock, toBlock }),
    async verifyExisting(bundle, trust, path) {
      if (readInputFile(bundle).kind !== 'logs evidence') throw refuseOverwrite(path, 'is not logs as evidence')
      const known = stateClaimOf({ ...wanted, scheme: kindOf(bundle, scheme) }, trustedIn(bundle, trust))
      return verifyLogs(bundle, { ...known, filter, fromBlock, toBlock: toBlock ?? 'fromBundle' })
    },
    format: ({ verified }, { verdict }, stream) => [
      formatLogs(verdict, verified, stream, rollup.implementation && 'user'),
    ],
    verifyArguments: ({ verified: { fromBlock, toBlock, filter } }) => [
      ...['--from-block', `${fromBlock}`, '--to-block', `${toBlock}`],
      ...filter.address.flatMap(one => ['--address', one]),
      ...filter.topics.flatMap(choices => ['--topic', choices.join() || 'any']),
    ],
  }
}
