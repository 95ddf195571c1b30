import type { BlockLog } from '../../blocks/block.ts'
import { bloomTest, decodeFilter, type LogFilter, selectedBy } from '../../blocks/filter.ts'
import type { BlockHeader } from '../../blocks/header.ts'
import type { Hex } from '../../bytes.ts'
import { fetchLogs } from '../../rpc/blocks.ts'
import { CONTENTS_AT_ONCE } from '../../rpc/limits.ts'
import { inAdvance } from '../../rpc/waiting.ts'
import { refusedFor } from '../error.ts'
import { MAX_LOGS, MAX_LOGS_LENGTH } from '../limits.ts'
import type { VerifiedOptions } from '../options.ts'
import type { Pace } from '../pace.ts'
import { params } from '../params.ts'
import { newestIn } from '../view.ts'
import { type BlockRange, rangeIn, readLogRequest } from './filter.ts'
import { type BlockView, type KnownBlocks, oldestIn, unprovenBlock } from './known-blocks.ts'
import type { Locator } from './locate.ts'
import { spellLogs } from './spell.ts'

/** Characters of a log as JSON, besides its data. */
const LOG_LENGTH = 900
/** Characters of a log as JSON at most, or of a hash. */
export const lengthOf = (one: BlockLog | Hex): number => LOG_LENGTH + (typeof one === 'string' ? 0 : one.data.length)

/** The result of `eth_getLogs`. */
export async function getLogs(
  search: LogSearch,
  { numberOf }: Locator,
  view: BlockView,
  given: unknown,
  pace: Pace,
  isForWallet: boolean,
): Promise<unknown> {
  const { filter, blocks: wanted } = readLogRequest(params.take(given, 1, 1)[0], isForWallet)

  async function rangeOf(): Promise<BlockRange> {
    if (typeof wanted !== 'string') return rangeIn(wanted, newestIn(view))
    const number = await numberOf(view, wanted, pace)
    if (number !== null) return { from: number, to: number }
    throw refusedFor('BLOCK_UNPROVEN', { found: 'No proven block has this hash.' })
  }
  return spellLogs(await search(view, filter, await rangeOf(), pace))
}

/** Searches a range of blocks. @throws ProviderError `PARAMS_INVALID`, `BLOCK_UNPROVEN`, `LIMIT_REACHED` */
export type LogSearch = (
  view: BlockView,
  filter: LogFilter,
  range: BlockRange,
  pace: Pace,
) => Promise<readonly BlockLog[]>

/**
 * The logs of a range that a filter selects. They are complete: each header of the range is proven, each block whose filter admits
 * the logs is read in full, and the filter of a header, which its hash commits to, is that of its logs.
 */
export async function searchLogs(
  { l2 }: Pick<VerifiedOptions, 'l2'>,
  blocks: KnownBlocks,
  ...[view, filter, { from, to }, pace]: Parameters<LogSearch>
): Promise<readonly BlockLog[]> {
  const [isPossible, isSelected] = [bloomTest(filter), selectedBy(decodeFilter(filter))]
  // Before the others are asked for in vain.
  if (from < oldestIn(view)) throw unprovenBlock(view, from)

  const candidates: BlockHeader[] = []
  for await (const header of blocks.walk(view, from, to, pace)) {
    await pace.pause()
    if (isPossible(header.logsBloom)) candidates.push(header)
  }
  candidates.reverse()
  if (candidates.length > 0) await pace.beSlow()
  const read = async (index: number, signal: AbortSignal) => {
    await pace.pause()
    // The index is one of theirs.
    return fetchLogs({ l2, signal }, candidates[index] as BlockHeader, isSelected)
  }
  const { logs, add } = collectLogs()
  for await (const found of inAdvance(candidates.length, CONTENTS_AT_ONCE, read, pace.signal)) add(found)
  return logs
}

/** Collects logs up to the bounds of an answer. @throws ProviderError `LIMIT_REACHED` */
export function collectLogs() {
  const logs: BlockLog[] = []
  let length = 0
  return {
    logs,
    add(more: readonly BlockLog[]): void {
      for (const log of more) {
        logs.push(log)
        length += lengthOf(log)
      }
      if (logs.length <= MAX_LOGS && length <= MAX_LOGS_LENGTH) return
      const found = `There are more than ${MAX_LOGS} logs, or ${MAX_LOGS_LENGTH} characters of them: ask for fewer blocks.`
      throw refusedFor('LIMIT_REACHED', { found })
    },
  }
}
