import type { Hex } from '../../base/bytes.ts'
import type { FoundBlock } from '../../client/l1/logs.ts'
import type { BlockLog } from '../../verify/blocks/block.ts'
import { type RowFormat, type RowStep, rowWriter } from '../audit/rows.ts'

const PLACES = [0, 1, 2, 3]
const COLUMNS = [
  ...['blockNumber', 'blockTimestamp', 'blockHash', 'transactionHash', 'transactionIndex', 'logIndex', 'address'],
  ...[...PLACES.map(index => `topic${index}`), 'data'],
]

export function logWriter(format: RowFormat) {
  const { heading, lineOf } = rowWriter(COLUMNS, format)
  const topicsOf = ({ topics }: BlockLog) => Object.fromEntries(PLACES.map(index => [`topic${index}`, topics[index]]))
  return { heading, lineOf: (log: BlockLog): string => lineOf({ ...log, ...topicsOf(log) }) }
}

export type LogsCounts = Readonly<Record<'blocks' | 'ruledOut' | 'receipts' | 'logs', number>>

export const NO_LOGS: LogsCounts = { blocks: 0, ruledOut: 0, receipts: 0, logs: 0 }

/** Adds a block. One after the range counts for nothing. */
export function addBlock(
  counts: LogsCounts,
  { header, logs, receiptCount }: Omit<FoundBlock, 'parts'>,
  toBlock: bigint,
): LogsCounts {
  if (header.number > toBlock) return counts
  return {
    blocks: counts.blocks + 1,
    ruledOut: counts.ruledOut + (receiptCount === null ? 1 : 0),
    receipts: counts.receipts + (receiptCount ?? 0),
    logs: counts.logs + logs.length,
  }
}

/** How far a search is. Plain JSON. */
export interface LogsProgress {
  /** The block to go on with, as the last one proves it. */
  readonly next: { readonly number: string; readonly hash: Hex }
  readonly counts: LogsCounts
}

/**
 * The logs of a search, newest first: a step per block. The steps are the same however often the search was interrupted.
 *
 * @param counts of an interrupted search
 * @throws what `blocks` throws
 */
export async function* logSteps(
  blocks: AsyncIterable<FoundBlock>,
  { format, toBlock }: { readonly format: RowFormat; readonly toBlock: bigint },
  counts = NO_LOGS,
): AsyncGenerator<RowStep<LogsProgress>> {
  const { lineOf } = logWriter(format)
  for await (const { parts, ...block } of blocks) {
    const { header, logs } = block
    counts = addBlock(counts, block, toBlock)
    const next = { number: `${header.number - 1n}`, hash: header.parentHash }
    const rows = logs.toReversed().map(lineOf).join('')
    yield { rows, kept: `${JSON.stringify(parts)}\n`, progress: { next, counts } }
  }
}
