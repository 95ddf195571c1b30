import { parseBounded } from '../../base/json/parse.ts'
import type { DecodedFilter } from '../../verify/blocks/filter.ts'
import type { BlockClaim } from '../../verify/blocks/header.ts'
import { searchBlocks } from '../../verify/blocks/logs.ts'
import { safely } from '../../verify/verifier/safe.ts'
import type { RowFormat } from '../audit/rows.ts'
import type { RowProblem } from '../snapshot/problem.ts'
import type { Lines } from '../snapshot/snapshot-check.ts'
import { addBlock, type LogsCounts, logWriter, NO_LOGS } from './logs.ts'

/** The files of a search for logs, as lines, and what they must hold. */
export interface LogsContent {
  readonly filter: DecodedFilter
  readonly fromBlock: bigint
  readonly toBlock: bigint
  readonly format: RowFormat
  readonly rows: Lines
  /** The kept blocks, newest first. */
  readonly blocks: Lines
}

/**
 * Verifies the kept blocks of a search again, and compares its rows with what they prove. Nothing that the files say is believed.
 * Nothing is checked before a block that does not verify, because nothing proves the hash of the block before.
 *
 * @param newest the block to begin with, as it is proven
 * @returns null for each block that is verified, and what is wrong; then the counts of what is proven
 */
export async function* checkLogs(
  { filter, fromBlock, toBlock, format, rows, blocks }: LogsContent,
  newest: BlockClaim,
): AsyncGenerator<RowProblem | null, LogsCounts, undefined> {
  const search = searchBlocks(filter, toBlock)
  const { heading, lineOf } = logWriter(format)
  let [counts, row, next] = [NO_LOGS, 0, newest]
  if (heading !== '' && `${(await rows.next()).value}\n` !== heading) yield { kind: 'heading', place: 'rows' }
  while (next.number >= fromBlock) {
    const place = `block ${next.number}`
    const parts = readLine((await blocks.next()).value)
    if (typeof parts === 'string') {
      yield { kind: parts, place }
      return counts
    }
    const outcome = safely(() => search.verify(parts.content, next))
    if (!outcome.ok) {
      yield { kind: 'unverified', place, code: outcome.error.code, path: outcome.error.path }
      return counts
    }
    const { header, logs } = outcome.value
    for (const proven of logs.toReversed().map(lineOf)) {
      const found = (await rows.next()).value
      const kind = found === undefined ? 'row missing' : 'different'
      row++
      if (`${found}\n` !== proven) yield { kind, place: `row ${row}`, proven: proven.trimEnd() }
    }
    counts = addBlock(counts, outcome.value, toBlock)
    next = { number: header.number - 1n, hash: header.parentHash }
    yield null
  }
  if (!(await rows.next()).done) yield { kind: 'more rows', place: 'rows' }
  if (!(await blocks.next()).done) yield { kind: 'more', place: 'blocks' }
  return counts
}

/** What a line holds, or why nothing. */
function readLine(text: string | undefined): { readonly content: unknown } | 'missing' | 'unreadable' {
  if (text === undefined) return 'missing'
  try {
    return { content: parseBounded(text) }
  } catch {
    return 'unreadable'
  }
}
