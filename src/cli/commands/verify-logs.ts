import { type StateScheme, type Trusted, verifyEvidence } from '../../entry/anchor.ts'
import { type LogsClaim, logsEvidence } from '../../entry/blocks.ts'
import { filterOf, isFilterStated } from '../options/filter.ts'
import { blockClaimOf, trustedOf } from '../options/flags.ts'
import { networkSource } from '../options/network.ts'
import { integerOf } from '../options/parse.ts'
import { formatLogs } from '../output/logs-report.ts'
import { constantSources } from '../words/evidence.ts'
import { reportOnEvidence, statedBy, type VerifyFile } from './verify-evidence.ts'

/** Verifies logs as evidence. */
export const verify: VerifyFile = async (bundle, flags, found) => {
  const { addresses, event, topic } = flags
  const filter = { ...(addresses.length > 0 && { address: addresses }), event, topic }
  const claim: LogsClaim<Trusted, StateScheme> = {
    kind: logsEvidence,
    ...{ ...blockClaimOf(flags, found), trusted: await trustedOf(flags) },
    fromBlock: integerOf(flags, 'from-block', 64) ?? 'fromBundle',
    toBlock: integerOf(flags, 'to-block', 64) ?? 'fromBundle',
    filter: isFilterStated(filter) ? filterOf(filter) : 'fromBundle',
  }
  const names = ['l2BlockNumber', 'fromBlock', 'toBlock', 'filter'] as const
  const stated = names.filter(name => claim[name] !== 'fromBundle')
  const by = networkSource(flags)
  return reportOnEvidence({
    parts: {
      ...{ rollup: by, scheme: found === undefined ? by : 'lengths' },
      ...Object.fromEntries(names.map(name => [name, statedBy(claim[name])])),
      ...constantSources(claim, by),
    },
    verify: () => verifyEvidence(bundle, claim),
    asked: ['logs', 'of the blocks and filter that the bundle names'],
    format: (verdict, verified, stream) =>
      formatLogs(verdict, verified, stream, claim.rollup.implementation && 'user', stated),
  })
}
