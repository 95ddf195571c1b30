import { type StateScheme, type Trusted, verifyEvidence } from '../../entry/anchor.ts'
import { type LogsClaim, logsEvidence } from '../../entry/blocks.ts'
import { isArgumentError, safely } from '../../entry/index.ts'
import { type Flags, optionsOf } from '../options/declared.ts'
import { blockClaimOf, trustedOf } from '../options/flags.ts'
import { type FilterFlags, filterOf, filterOptions, isFilterStated, rangeOptions } from '../options/logs-options.ts'
import { integerOf, requireOnly } from '../options/parse.ts'
import { formatLogs } from '../output/logs-report.ts'
import { describeSources, reportOnError, type VerdictReport } from '../output/report.ts'
import type { Source } from '../words/claim.ts'
import { constantSources } from '../words/evidence.ts'
import { type PartSources, verdictOf } from '../words/verdict.ts'
import { agesOf } from '../words/wording.ts'

/** What the user states about evidence. */
export interface EvidenceFlags extends Flags, Pick<FilterFlags, 'event' | 'topic'> {
  readonly addresses: readonly string[]
  readonly 'from-block'?: string | undefined
  readonly 'to-block'?: string | undefined
  readonly message?: string | undefined
  readonly timeout?: string | undefined
}

const allowed = {
  ...{ ...filterOptions, ...rangeOptions },
  ...optionsOf('network', 'implementation', 'l2-block', 'checkpoint', 'l1-block-hash', 'l1-state-root', 'state-root'),
}

/** Verifies logs as evidence. @throws UsageError */
export function verifyLogsFile(bundle: unknown, flags: EvidenceFlags, found: StateScheme | undefined): VerdictReport {
  const { addresses, address: _, ...others } = flags
  requireOnly(others, allowed, 'logs as evidence')
  const { event, topic } = others
  const filter = { ...(addresses.length > 0 && { address: addresses }), event, topic }
  const claim: LogsClaim<Trusted, StateScheme> = {
    kind: logsEvidence,
    ...{ ...blockClaimOf(flags, found), trusted: trustedOf(flags) },
    fromBlock: integerOf(flags, 'from-block', 64) ?? 'fromBundle',
    toBlock: integerOf(flags, 'to-block', 64) ?? 'fromBundle',
    filter: isFilterStated(filter) ? filterOf(filter) : 'fromBundle',
  }
  const { l2BlockNumber, fromBlock, toBlock } = claim
  const of = (value: unknown): Source => (value === 'fromBundle' ? 'bundle' : 'user')
  const parts: PartSources = {
    ...{ l2BlockNumber: of(l2BlockNumber), fromBlock: of(fromBlock), toBlock: of(toBlock), filter: of(claim.filter) },
    ...constantSources(claim, 'user'),
  }
  const sources = describeSources({
    ...{ trusted: 'user', scheme: found === undefined ? 'user' : 'lengths', rollup: 'user' },
    ...parts,
  })
  const outcome = safely(() => verifyEvidence(bundle, claim))
  if (!outcome.ok) {
    if (isArgumentError(outcome.error)) throw outcome.error
    return reportOnError(outcome.error, { sources }, [['logs', 'of the blocks and filter that the bundle names']])
  }
  const verified = outcome.value
  const verdict = verdictOf(true, { ...parts, network: 'user' })
  const names = ['fromBlock', 'toBlock', 'filter'] as const
  const stated = names.filter(name => claim[name] !== 'fromBundle')
  const format: VerdictReport['format'] = stream =>
    `${formatLogs(verdict, verified, stream, claim.rollup.implementation && 'user', stated)}\n`
  return { verdict, json: { sources, ...verified, ...agesOf(verified) }, format }
}
