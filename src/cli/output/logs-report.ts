import type { StateScheme, Trusted } from '../../entry/anchor.ts'
import type { VerifiedLogs } from '../../entry/blocks.ts'
import { headerOf } from '../../verify/evidence/chain.ts'
import type { Output } from '../command.ts'
import type { Source } from '../words/claim.ts'
import type { Verdict } from '../words/verdict.ts'
import { count, headRows, implementationRow, type Row, sourceWords } from '../words/wording.ts'
import { paint } from './paint.ts'
import { formatProven } from './report.ts'
import { formatTable } from './table.ts'

/** How many logs are printed: \`--json\` prints all. */
const MAX_PRINTED = 20

/** @param pinnedBy who stated the implementation @param stated what the user stated @param other who states the rest, in words */
export function formatLogs(
  verdict: Verdict,
  verified: VerifiedLogs<Trusted, StateScheme>,
  stream: Output,
  pinnedBy: Source | undefined,
  stated: readonly string[],
  other = sourceWords.bundle,
): string {
  const { logs, l2BlockNumber, stateRoot, fromBlock, toBlock, filter } = verified
  const { blockCount, ruledOutCount, receiptCount } = verified
  // With a slot or without, the hash leads to the newest block.
  const isHashed = headerOf(verified) !== undefined
  const said = (name: 'fromBlock' | 'toBlock' | 'filter') => (stated.includes(name) ? sourceWords.user : other)
  const rows: Row[] = [
    ...headRows(verified),
    ['L2 block', `${l2BlockNumber}`, isHashed ? 'L1 holds its hash' : 'its state holds the hash of the newest block'],
    ['L2 state root', stateRoot],
    ...(verified.trustedInput === 'l2StateRoot' ? [] : [implementationRow(verified, pinnedBy)]),
    ['from block', `${fromBlock}`, said('fromBlock')],
    ['to block', `${toBlock}`, said('toBlock')],
    ['contracts', filter.address.join(' ') || 'any', said('filter')],
    ...filter.topics.map((choices, index): Row => [`topic ${index}`, choices.join(' ') || 'any', said('filter')]),
    ['blocks', `${blockCount}`, `${ruledOutCount} of them ruled out by their headers`],
    ['receipts', `${receiptCount}`, 'verified'],
  ]
  const shown = logs
    .slice(0, MAX_PRINTED)
    .map(({ blockNumber, logIndex, address, topics, data, transactionHash }) => [
      ...[`block ${blockNumber}, log ${logIndex}`, address, `${topics.length} topics`, data, `in ${transactionHash}`],
    ])
  return [
    formatProven(
      verdict,
      `these blocks have exactly ${count(logs.length, 'log')} that the filter selects`,
      rows,
      stream,
    ),
    ...(shown.length === 0 ? [] : [paint(stream, 'bold', 'Logs'), formatTable(shown, stream)]),
    ...(logs.length > MAX_PRINTED ? [`  … and ${logs.length - MAX_PRINTED} more. --json prints all.`] : []),
  ].join('\n')
}
