import type { ProofError } from '../../base/errors.ts'
import { type FinalizedState, finalizedStateTopics } from '../../verify/anchor/finalized-state.ts'
import type { L1Block } from '../../verify/anchor/header.ts'
import { atEndpoint, type EndpointError, orFailure } from '../transport/error.ts'
import { MAX_EMPTY_LOG_REQUESTS, MAX_LISTED } from '../transport/limits.ts'
import type { AnyProvider } from '../transport/provider.ts'
import { fetchAnchor, findPrevious, invented, type L1Source, readCurrent, type Sample, unless, walkLogs } from './l1.ts'

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
  /** What each endpoint came to, in the order in which they ended: its list, its failure, or null for a list that is refuted. */
  readonly outcomes: ReadonlyMap<number, Listed | EndpointError | ProofError | null>
  /** The endpoints whose logs are unusable. */
  readonly useless: readonly number[]
}

type Listed = ReadonlyMap<bigint, FinalizedState | null>

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
  const providers = source.l1.sources
  const outcomes = new Map<number, Listed | EndpointError | ProofError | null>()
  const useless: number[] = []
  const note = (index: number, outcome: Listed | EndpointError | ProofError | null) => {
    outcomes.delete(index)
    outcomes.set(index, outcome)
  }
  for (const [index, provider] of providers.entries()) {
    if (inventors.has(index) && inventors.size < providers.length) continue
    const outcome = await listFromLogs(provider, source, range)
    if (!(outcome instanceof Map)) useless.push(index)
    note(index, outcome)
  }
  if (![...outcomes.values()].some(one => one instanceof Map)) {
    // What lacks the newest finalization is refuted.
    const open = [...outcomes].flatMap(([index, outcome]) => (outcome === null ? [] : [index]))
    for (const index of open.length > 0 ? open : [...providers.keys()]) {
      // There are as many.
      const provider = providers[index] as AnyProvider
      note(index, await atEndpoint('L1', () => walkBack(provider, source, range)).catch(orFailure))
    }
  }
  const found = new Map([...outcomes].flatMap(([index, one]) => (one instanceof Map ? [[index, one] as const] : [])))
  return { hints: hintsOf(found), outcomes, useless }
}

function hintsOf(found: ReadonlyMap<number, Listed>): Hint[] {
  const listedBy = [...found.keys()].sort((a, b) => a - b)
  const numbers = new Set([...found.values()].flatMap(list => [...list.keys()]))
  return [...numbers]
    .sort((a, b) => (a < b ? -1 : 1))
    .map(l2BlockNumber => ({
      l2BlockNumber,
      states: [...found.values()].map(list => list.get(l2BlockNumber)).filter(state => state != null),
      namedBy: listedBy.filter(index => found.get(index)?.has(l2BlockNumber)),
      listedBy,
    }))
}

/** From the newest logs back; null if they lack the newest finalization; the failure if they cannot be fetched. */
async function listFromLogs(
  provider: AnyProvider,
  source: L1Source,
  { after, newest, l1After, l1Block }: ListRange,
): Promise<Map<bigint, FinalizedState> | EndpointError | ProofError | null> {
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
  const numbers = [newest]
  const listed = () => new Map(numbers.map(number => [number, null]))
  if (newest === after + 1n) return listed()
  let sample: Sample | null = { at: l1Block.number, value: newest }
  while (numbers.length <= MAX_LISTED) {
    sample = await findPrevious(provider, source, sample)
    if (sample === null || sample.value <= after) break
    // Otherwise, it could invent any number of them, of which each takes dozens of requests to find.
    const anchor = await unless('ANCHOR_NO_ROOT', fetchAnchor(source, l1Block, sample.value))
    if (anchor === null && sample.value !== 0n) throw invented(sample.value)
    numbers.push(sample.value)
  }
  return listed()
}
