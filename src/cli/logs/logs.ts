import type { Hex } from '../../base/bytes.ts'
import type { FoundBlock } from '../../client/l1/logs.ts'
import type { BlockLog } from '../../verify/blocks/block.ts'
import type { BlockClaim } from '../../verify/blocks/header.ts'
import type { RowFormat } from '../snapshot/snapshot.ts'

/** How logs are written as rows, without a line feed. */
export function logWriter(format: RowFormat) {
  const isCsv = format === 'csv'
  return {
    /** undefined if the format has none. */
    heading: isCsv ? COLUMNS.join(',') : undefined,
    textOf({ topics, data, ...log }: BlockLog): string {
      const { blockNumber, blockTimestamp, blockHash, transactionHash, transactionIndex, logIndex, address } = log
      const place = [blockNumber, blockTimestamp, blockHash, transactionHash, transactionIndex, logIndex, address].map(
        String,
      )
      // Nothing needs quotes: there are only numbers and hexadecimal.
      if (isCsv) return [...place, ...PLACES.map(index => topics[index] ?? ''), data].join(',')
      return JSON.stringify({ ...Object.fromEntries(NAMES.map((name, index) => [name, place[index]])), topics, data })
    },
  }
}

const NAMES = [
  'blockNumber',
  'blockTimestamp',
  'blockHash',
  'transactionHash',
  'transactionIndex',
  'logIndex',
  'address',
]
const PLACES = [0, 1, 2, 3]
const COLUMNS = [...NAMES, ...PLACES.map(index => `topic${index}`), 'data']

/** How much was searched and found. */
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

/** Where the logs go. */
export interface LogsSink {
  /** Whether the blocks are kept. */
  readonly keepsBlocks: boolean
  /** Adds whole lines, and then notes the progress. What was added after the last progress is dropped before the next run. */
  save(rows: string, kept: string, progress: LogsProgress): Promise<void>
}

/** Progress is saved after so many milliseconds, when so many characters wait to be written, and whenever the search ends. */
const [SAVE_INTERVAL, CHARACTERS_PER_SAVE] = [2_000, 2 ** 22]

/**
 * Passes the logs of a search on, newest first, piece by piece. The pieces make up the same whole however often the search was
 * interrupted.
 *
 * @param begun of an interrupted search
 * @returns the counts of the whole search
 * @throws what `blocks` and `sink` throw
 */
export async function writeLogs(
  blocks: AsyncIterable<FoundBlock>,
  { format, toBlock }: { readonly format: RowFormat; readonly toBlock: bigint },
  begun: LogsProgress | undefined,
  sink: LogsSink,
): Promise<LogsCounts> {
  const { heading, textOf } = logWriter(format)
  let counts = begun?.counts ?? NO_LOGS
  let [rows, kept, savedAt] = [begun === undefined && heading !== undefined ? `${heading}\n` : '', '', Date.now()]
  let next: BlockClaim | undefined
  const save = async () => {
    if (next === undefined) return
    const [{ number, hash }, ...lines] = [next, rows, kept] as const
    ;[rows, kept, savedAt, next] = ['', '', Date.now(), undefined]
    await sink.save(...lines, { next: { number: `${number}`, hash }, counts })
  }
  try {
    for await (const { parts, ...block } of blocks) {
      const { header, logs } = block
      counts = addBlock(counts, block, toBlock)
      for (const log of logs.toReversed()) rows += `${textOf(log)}\n`
      if (sink.keepsBlocks) kept += `${JSON.stringify(parts)}\n`
      next = { number: header.number - 1n, hash: header.parentHash }
      const isDue = Date.now() - savedAt >= SAVE_INTERVAL || Date.now() < savedAt
      if (isDue || rows.length + kept.length > CHARACTERS_PER_SAVE) await save()
    }
  } finally {
    // Whatever ended it, what is verified is kept.
    await save()
  }
  return counts
}
