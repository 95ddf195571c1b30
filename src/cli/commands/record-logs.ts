import { type RecordedLogs, recordLogs } from '../../client/record/record-logs.ts'
import { verifyEvidence } from '../../entry/anchor.ts'
import { logsEvidence } from '../../entry/blocks.ts'
import { requireEvidence, type Subject } from '../files/recorded-file.ts'
import { stateClaimOf, type WantedLogs } from '../options/logs-options.ts'
import { trustedIn } from '../options/record-trust.ts'
import { formatLogs } from '../output/logs-report.ts'
import { kindOf } from '../words/evidence.ts'
import { sourceWords } from '../words/wording.ts'

/** The logs of a range, with all evidence in one file. */
export function logsSubject(wanted: WantedLogs): Subject<RecordedLogs> {
  const { network, l2BlockNumber, filter, fromBlock, toBlock } = wanted
  const { rollup, scheme } = network
  return {
    keyCount: 0,
    fetch: ([l1, l2], options) =>
      recordLogs({ l1, l2, network, l2BlockNumber, ...options }, { filter, fromBlock, toBlock }),
    async verifyExisting(bundle, trust, path) {
      requireEvidence(path, bundle, 'logs')
      const known = stateClaimOf(wanted, trustedIn(bundle, trust), kindOf(bundle, scheme))
      const claim = { kind: logsEvidence, ...known, filter, fromBlock, toBlock: toBlock ?? 'fromBundle' } as const
      return verifyEvidence(bundle, claim)
    },
    sources: (_, { source }) => (toBlock === undefined && source === 'file' ? { toBlock: 'bundle' } : {}),
    format: ({ verified }, { verdict, source }, stream) => {
      const stated = ['fromBlock', 'filter', ...(toBlock === undefined ? [] : ['toBlock'])]
      const other = source === 'file' ? sourceWords.bundle : 'the newest that can be proven'
      return [formatLogs(verdict, verified, stream, rollup.implementation && 'user', stated, other)]
    },
    verifyArguments: ({ verified: { fromBlock, toBlock, filter } }) => [
      ...['--from-block', `${fromBlock}`, '--to-block', `${toBlock}`],
      ...filter.address.flatMap(one => ['--address', one]),
      ...filter.topics.flatMap(choices => ['--topic', choices.join() || 'any']),
    ],
  }
}
