import type { Hex } from '../../base/bytes.ts'
import type { FoundBlock } from '../../client/l1/logs.ts'
import type { BlockLog } from '../../verify/blocks/block.ts'
import type { DecodedFilter } from '../../verify/blocks/filter.ts'
import type { BlockClaim } from '../../verify/blocks/header.ts'
import { searchBlocks } from '../../verify/blocks/logs.ts'
import type { Lines } from '../audit/lines.ts'
import { type RowFormat, type RowStep, rowWriter } from '../audit/rows.ts'
import { readKept } from '../snapshot/snapshot.ts'

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
function addBlock(
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

/** The logs of a search, newest first: a step per block. The steps are the same however often the search was interrupted. */
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

interface LogsContent {
  readonly filter: DecodedFilter
  readonly fromBlock: bigint
  readonly toBlock: bigint
  readonly format: RowFormat
  /** The kept blocks, newest first. */
  readonly blocks: Lines
}

/**
 * Verifies the kept blocks of a search again, and yields the rows that they prove. Nothing that the files say is believed.
 *
 * @param newest the block to begin with, as it is proven
 * @throws ProofError; DocumentError if a block is missing or unreadable
 */
export async function* provenLogs(
  { filter, fromBlock, toBlock, format, blocks }: LogsContent,
  newest: BlockClaim,
): AsyncGenerator<string, LogsCounts, undefined> {
  const search = searchBlocks(filter, toBlock)
  const { heading, lineOf } = logWriter(format)
  let [counts, next] = [NO_LOGS, newest]
  if (heading !== '') yield heading
  while (next.number >= fromBlock) {
    const block = search.verify(readKept((await blocks.next()).value), next)
    yield* block.logs.toReversed().map(lineOf)
    counts = addBlock(counts, block, toBlock)
    next = { number: block.header.number - 1n, hash: block.header.parentHash }
  }
  return counts
}
