import type { DecodedFilter } from '../../verify/blocks/filter.ts'
import type { BlockClaim } from '../../verify/blocks/header.ts'
import { searchBlocks } from '../../verify/blocks/logs.ts'
import type { Lines } from '../audit/lines.ts'
import type { RowFormat } from '../audit/rows.ts'
import { readKept } from '../snapshot/snapshot-check.ts'
import { addBlock, type LogsCounts, logWriter, NO_LOGS } from './logs.ts'

export interface LogsContent {
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
 * @returns the counts of what is proven
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
