import { readSelection } from '../../../provider/blocks/logs.ts'
import { invalidParams } from '../../../provider/error.ts'
import { MAX_LOGS } from '../../../provider/limits.ts'
import { params as read } from '../../../provider/params.ts'
import { decodeFilter, selectedBy } from '../../../verify/blocks/receipts.ts'
import type { ChainLog } from '../content.ts'
import { MAX_LOG_RANGE } from '../limits.ts'

/** Where {@link getLogs} finds logs, and how far it goes. */
export interface LogSource {
  /** The logs of these blocks, the first and the last included, oldest first, as JSON-RPC has them. */
  logsOf(from: bigint, to: bigint): Iterable<ChainLog>
  numberOf(block: unknown): bigint
}

/** The logs that a filter selects, oldest first. */
export function getLogs(filter: unknown, { logsOf, numberOf }: LogSource, maxRange = MAX_LOG_RANGE): ChainLog[] {
  const fields = read.fields('filter', filter, ['blockHash', 'fromBlock', 'toBlock', 'address', 'topics'])
  const { blockHash, fromBlock, toBlock } = fields
  if (blockHash !== undefined && (fromBlock !== undefined || toBlock !== undefined)) {
    throw invalidParams('filter: blockHash excludes fromBlock and toBlock')
  }
  const from = numberOf(blockHash === undefined ? (fromBlock ?? 'latest') : { blockHash })
  const to = blockHash === undefined ? numberOf(toBlock ?? 'latest') : from
  const isSelected = selectedBy(decodeFilter(readSelection(fields.address, fields.topics)))
  if (to < from) throw invalidParams('filter: fromBlock is after toBlock')
  if (to - from >= BigInt(maxRange)) throw invalidParams(`filter: at most ${maxRange} blocks at once`)
  const found: ChainLog[] = []
  for (const log of logsOf(from, to)) {
    if (!isSelected(log)) continue
    if (found.length === MAX_LOGS) throw invalidParams(`filter: more than ${MAX_LOGS} logs`)
    found.push(log)
  }
  return found
}
