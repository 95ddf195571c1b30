import { type FinalizedState, finalizedStateTopics } from '../anchor/finalized-state.ts'
import type { L1Block } from '../anchor/header.ts'
import { findPrevious, type L1Source, type Sample, walkLogs } from './l1.ts'
import { MAX_LISTED } from './limits.ts'
import type { AnyProvider } from './provider.ts'

/** A finalization that an endpoint named: a hint. Storage proves or refutes it. */
export interface Hint {
  /** The last block of the finalization. */
  readonly l2BlockNumber: bigint
  /** What the contract hashed, according to different endpoints. */
  readonly states: readonly FinalizedState[]
}

/** Which finalizations to list. */
export interface ListRange {
  /** Above this L2 block. */
  readonly after: bigint
  /** Up to this L2 block: the newest finalized one, which is proven. */
  readonly newest: bigint
  /** Above this L1 block; null if it is unknown. */
  readonly l1After: bigint | null
  /** Up to this L1 block. */
  readonly l1Block: L1Block
}

/**
 * Lists the finalizations in the range, oldest first, from the contract's logs at all L1 endpoints. An endpoint whose logs lack
 * the newest finalization is not believed. If no endpoint has usable logs, it searches the contract's storage at older L1
 * blocks. One endpoint that lists everything is enough. More hints do no harm, because each is proven before it counts.
 *
 * @param onUseless called with the index of each endpoint whose logs are unusable
 */
export async function listFinalizations(
  source: L1Source,
  range: ListRange,
  onUseless: (index: number) => void,
): Promise<Hint[]> {
  const found = new Map<bigint, FinalizedState[]>()
  for (const [index, provider] of source.l1.providers.entries()) {
    const states = await listFromLogs(provider, source, range)
    if (states === null) onUseless(index)
    for (const [number, state] of states ?? []) found.set(number, [...(found.get(number) ?? []), state])
  }
  if (found.size === 0) {
    const lists = await source.l1.each(provider => walkBack(provider, source, range))
    for (const number of lists.flat()) found.set(number, [])
  }
  return [...found]
    .map(([l2BlockNumber, states]) => ({ l2BlockNumber, states }))
    .sort((a, b) => (a.l2BlockNumber < b.l2BlockNumber ? -1 : 1))
}

/** From the newest logs back; null if they lack the newest finalization, or cannot be fetched. */
async function listFromLogs(
  provider: AnyProvider,
  source: L1Source,
  { after, newest, l1After, l1Block }: ListRange,
): Promise<Map<bigint, FinalizedState> | null> {
  const found = new Map<bigint, FinalizedState>()
  const oldest = l1After === null ? 0n : l1After + 1n
  for await (const logs of walkLogs(provider, source, [finalizedStateTopics], l1Block.number, oldest)) {
    if (logs === null) return null
    for (const { l2BlockNumber, finalizedState } of logs) {
      const isNew = l2BlockNumber > after && l2BlockNumber <= newest && !found.has(l2BlockNumber)
      if (isNew) found.set(l2BlockNumber, finalizedState)
    }
    const isBelow = logs.some(({ l2BlockNumber }) => l2BlockNumber <= after)
    if (isBelow || found.size > MAX_LISTED || (found.size > 0 && newest === after + 1n)) break
  }
  return found.has(newest) ? found : null
}

/** What the contract held at older L1 blocks, according to the endpoint. */
async function walkBack(
  provider: AnyProvider,
  source: L1Source,
  { after, newest, l1Block }: ListRange,
): Promise<bigint[]> {
  const numbers = [newest]
  if (newest === after + 1n) return numbers
  let sample: Sample | null = { at: l1Block.number, value: newest }
  while (numbers.length <= MAX_LISTED) {
    sample = await findPrevious(provider, source, sample)
    if (sample === null || sample.value <= after) break
    numbers.push(sample.value)
  }
  return numbers
}
