import { type FinalizedState, finalizedStateTopics } from '../../verify/anchor/finalized-state.ts'
import type { L1Block } from '../../verify/anchor/header.ts'
import { atEndpoint, type Failure, orFailure } from '../transport/error.ts'
import { MAX_EMPTY_LOG_REQUESTS, MAX_LISTED } from '../transport/limits.ts'
import type { AnyProvider } from '../transport/provider.ts'
import { findPrevious, type L1Source, proveSample, readCurrent, type Sample, walkLogs } from './l1.ts'

/** A finalization that an endpoint named: a hint. Storage proves or refutes it. */
export interface Hint {
  readonly l2BlockNumber: bigint
  /** What the contract hashed, according to different endpoints. */
  readonly states: readonly FinalizedState[]
  readonly namedBy: readonly number[]
  /** All endpoints that listed finalizations with it, each of them to the newest. */
  readonly listedBy: readonly number[]
}

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

export interface Listing {
  readonly hints: readonly Hint[]
  /** What each endpoint came to, in the order in which they ended. */
  readonly outcomes: ReadonlyMap<number, Outcome>
}

/** What an endpoint lists; null for a list that is refuted. */
type Listed = ReadonlyMap<bigint, FinalizedState | null>
type Outcome = Listed | Failure | null

/**
 * From the contract's logs at all L1 endpoints. One whose logs lack the newest finalization, or that invented some before, is not
 * believed. If none has usable logs, the contract's storage at older L1 blocks is searched. One endpoint that lists everything is
 * enough, and more hints do no harm, because each is proven before it counts.
 *
 * @param inventors endpoints that named finalizations that never were
 */
export async function listFinalizations(
  source: L1Source,
  range: ListRange,
  inventors: ReadonlySet<number>,
): Promise<Listing> {
  const providers = [...source.l1.sources.entries()]
  const outcomes = new Map<number, Outcome>()
  for (const [index, provider] of providers) {
    if (inventors.has(index) && inventors.size < providers.length) continue
    outcomes.set(index, await listFromLogs(provider, source, range))
  }
  if (![...outcomes.values()].some(isList)) {
    // What lacks the newest finalization is refuted.
    const open = providers.filter(([index]) => outcomes.get(index) ?? null)
    for (const [index, provider] of open.length > 0 ? open : providers) {
      outcomes.delete(index)
      outcomes.set(index, await atEndpoint('L1', () => walkBack(provider, source, range)).catch(orFailure))
    }
  }
  return { hints: hintsOf(outcomes), outcomes }
}

const isList = (outcome: Outcome | undefined): outcome is Listed => outcome instanceof Map

function hintsOf(outcomes: ReadonlyMap<number, Outcome>): Hint[] {
  const found = [...outcomes].flatMap(([index, list]) => (isList(list) ? [{ index, list }] : []))
  const byIndex = found.sort((a, b) => a.index - b.index)
  const numbers = new Set(byIndex.flatMap(({ list }) => [...list.keys()]))
  return [...numbers]
    .sort((a, b) => (a < b ? -1 : 1))
    .map(l2BlockNumber => ({
      l2BlockNumber,
      states: byIndex.flatMap(({ list }) => list.get(l2BlockNumber) ?? []),
      namedBy: byIndex.filter(({ list }) => list.has(l2BlockNumber)).map(({ index }) => index),
      listedBy: byIndex.map(({ index }) => index),
    }))
}

/** From the newest logs back; null if they lack the newest finalization; the failure if they cannot be fetched. */
async function listFromLogs(
  provider: AnyProvider,
  source: L1Source,
  { after, newest, l1After, l1Block }: ListRange,
): Promise<Map<bigint, FinalizedState> | Failure | null> {
  const found = new Map<bigint, FinalizedState>()
  const oldest = l1After === null ? 0n : l1After + 1n
  let empty = 0
  for await (const { first, logs } of walkLogs(provider, source, [finalizedStateTopics], l1Block.number, oldest)) {
    if (!Array.isArray(logs)) return logs
    empty = logs.length === 0 ? empty + 1 : 0
    if (empty === MAX_EMPTY_LOG_REQUESTS) {
      if (!found.has(newest)) return null
      // Before the contract was deployed, its storage was zero.
      const at = first - 1n
      const current = at < 0n ? 0n : await readCurrent(provider, source, at).catch(orFailure)
      if (current === 0n || (typeof current === 'bigint' && current <= after)) break
      empty = 0
    }
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
): Promise<Listed> {
  const listed = new Map([[newest, null]])
  let sample: Sample | null = { at: l1Block.number, value: newest }
  while (newest !== after + 1n && listed.size <= MAX_LISTED) {
    sample = await findPrevious(provider, source, sample)
    if (sample === null || sample.value <= after) break
    // Otherwise, it could invent any number of them, of which each takes dozens of requests to find.
    await proveSample(source, l1Block, sample)
    listed.set(sample.value, null)
  }
  return listed
}
