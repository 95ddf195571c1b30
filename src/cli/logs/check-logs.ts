import { parseBounded } from '../../base/json/parse.ts'
import type { DecodedFilter } from '../../verify/blocks/filter.ts'
import type { BlockClaim } from '../../verify/blocks/header.ts'
import { searchBlocks } from '../../verify/blocks/logs.ts'
import { safely } from '../../verify/verifier/safe.ts'
import type { RowFormat } from '../snapshot/snapshot.ts'
import { addBlock, type LogsCounts, logWriter, NO_LOGS } from './logs.ts'

/** The files of a search for logs, as lines, and what they must hold. */
export interface LogsContent {
  readonly filter: DecodedFilter
  readonly fromBlock: bigint
  readonly toBlock: bigint
  readonly format: RowFormat
  /** null for a line that is too long. */
  readonly rows: AsyncIterator<string | null>
  /** The kept blocks, newest first; null for a line that is too long. */
  readonly blocks: AsyncIterator<string | null>
}

export type LogProblem =
  /** `proven` is the row that the block proves. */
  | { readonly kind: 'different'; readonly row: number; readonly proven: string }
  | { readonly kind: 'row missing'; readonly row: number; readonly proven: string }
  | { readonly kind: 'more rows' }
  | { readonly kind: 'heading' }
  | { readonly kind: 'more blocks' }
  /** Nothing before it can be checked, because nothing proves the hash of the block before. */
  | { readonly kind: 'block missing' | 'block unreadable'; readonly block: bigint }
  | { readonly kind: 'block refused'; readonly block: bigint; readonly code: string; readonly path: string }

/** A step of a check: how far it is, or what is wrong. */
export type LogsStep = { readonly counts: LogsCounts } | { readonly problem: LogProblem }

/**
 * Verifies the kept blocks of a search again, and compares its rows with what they prove. Nothing that the files say is believed.
 *
 * @param newest the block to begin with, as it is proven
 * @returns the counts of what is proven
 */
export async function* checkLogs(
  { filter, fromBlock, toBlock, format, rows, blocks }: LogsContent,
  newest: BlockClaim,
): AsyncGenerator<LogsStep, LogsCounts, undefined> {
  const search = searchBlocks(filter, toBlock)
  const { heading, textOf } = logWriter(format)
  let [counts, row, next] = [NO_LOGS, 0, newest]
  if (heading !== undefined && (await rows.next()).value !== heading) yield { problem: { kind: 'heading' } }
  while (next.number >= fromBlock) {
    const parts = readLine((await blocks.next()).value)
    const block = next.number
    if (typeof parts === 'string') {
      yield { problem: { kind: parts, block } }
      return counts
    }
    const outcome = safely(() => search.verify(parts.content, next))
    if (!outcome.ok) {
      yield { problem: { kind: 'block refused', block, code: outcome.error.code, path: outcome.error.path } }
      return counts
    }
    const { header, logs } = outcome.value
    for (const proven of logs.toReversed().map(textOf)) {
      row++
      const found = (await rows.next()).value
      if (found !== proven) yield { problem: { kind: found === undefined ? 'row missing' : 'different', row, proven } }
    }
    counts = addBlock(counts, outcome.value, toBlock)
    next = { number: header.number - 1n, hash: header.parentHash }
    yield { counts }
  }
  if (!(await rows.next()).done) yield { problem: { kind: 'more rows' } }
  if (!(await blocks.next()).done) yield { problem: { kind: 'more blocks' } }
  return counts
}

/** What a line holds, or why nothing. */
function readLine(
  text: string | null | undefined,
): { readonly content: unknown } | 'block missing' | 'block unreadable' {
  if (text === undefined) return 'block missing'
  try {
    return { content: parseBounded(text ?? '') }
  } catch {
    return 'block unreadable'
  }
}
