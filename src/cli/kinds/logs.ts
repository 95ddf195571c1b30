import { plural } from '../../base/errors.ts'
import { type StateScheme, type Trusted, verifyEvidence } from '../../entry/anchor.ts'
import { type LogsClaim, logsEvidence, type VerifiedLogs } from '../../entry/blocks.ts'
import { filterOf } from '../options/filter.ts'
import { type ChosenNetwork, networkOf } from '../options/network.ts'
import { formatTable } from '../output/table.ts'
import { paint } from '../output/verdict.ts'
import { type Row, sourceWords } from '../words/wording.ts'
import { type EvidenceFlags, partsOf, type Stated } from './evidence.ts'

const MAX_PRINTED = 20

type Claim = Pick<LogsClaim<Trusted, StateScheme>, 'l2BlockNumber' | 'fromBlock' | 'toBlock' | 'filter'>

export const logsOf = (network: ChosenNetwork, claim: Claim): Stated<VerifiedLogs<Trusted, StateScheme>> => ({
  network,
  parts: other => partsOf(claim, other),
  asked: ['logs', 'of the blocks and filter that the bundle names'],
  verify: (bundle, head) => verifyEvidence(bundle, { kind: logsEvidence, rollup: network.rollup, ...claim, ...head }),
  tell({ logs, fromBlock, toBlock, filter, blockCount, ruledOutCount, receiptCount }, other) {
    const parts = partsOf(claim, other)
    const said = (name: keyof Claim) => sourceWords[parts[name]]
    const shown = logs
      .slice(0, MAX_PRINTED)
      .map(({ blockNumber, logIndex, address, topics, data, transactionHash }) => [
        `block ${blockNumber}, log ${logIndex}`,
        address,
        plural(topics.length, 'topic'),
        data,
        `in ${transactionHash}`,
      ])
    return {
      what: `these blocks have exactly ${plural(logs.length, 'log')} that the filter selects`,
      rows: [
        ['from block', `${fromBlock}`, said('fromBlock')],
        ['to block', `${toBlock}`, said('toBlock')],
        ['contracts', filter.address.join(' ') || 'any', said('filter')],
        ...filter.topics.map((choices, index): Row => [`topic ${index}`, choices.join(' ') || 'any', said('filter')]),
        ['blocks', `${blockCount}`, `${ruledOutCount} of them ruled out by their headers`],
        ['receipts', `${receiptCount}`, 'verified'],
      ],
      more: stream => [
        ...(shown.length === 0 ? [] : [paint(stream, 'bold', 'Logs'), formatTable(shown, stream)]),
        ...(logs.length > MAX_PRINTED ? [`  … and ${logs.length - MAX_PRINTED} more. --json prints all.`] : []),
      ],
    }
  },
})

export function statedIn(flags: EvidenceFlags) {
  const { addresses, event, topic } = flags
  const isStated = addresses.length > 0 || event !== undefined || topic !== undefined
  return logsOf(networkOf(flags), {
    l2BlockNumber: flags['l2-block'] ?? 'fromBundle',
    fromBlock: flags['from-block'] ?? 'fromBundle',
    toBlock: flags['to-block'] ?? 'fromBundle',
    filter: isStated ? filterOf({ address: addresses, event, topic }) : 'fromBundle',
  })
}
