import { isProofError } from '../../base/errors.ts'
import type { FinalizedState } from '../../verify/anchor/finalized-state.ts'
import type { L1Block } from '../../verify/anchor/header.ts'
import { allOf, only, type Work } from '../sources/endpoints.ts'
import {
  EndpointError,
  type Failure,
  isEndpointError,
  isMissing,
  isOfBlock,
  isPassing,
  isWrong,
  orFailure,
} from '../transport/error.ts'
import { BLOCKS_PER_REQUEST, MAX_EMPTY_LOG_REQUESTS, MAX_LIST_ROUNDS, MAX_LISTED } from '../transport/limits.ts'
import type { OpenProvider } from '../transport/provider.ts'
import { type Anchor, contradiction, fetchAnchor, invented, type L1Source, readCurrent, unless } from './l1.ts'
import { allowedBlocks, walkLogs } from './log-ranges.ts'

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

type Listed = ReadonlyMap<bigint, FinalizedState | undefined>

/** Lists finalizations, and remembers which endpoints not to believe, and which to wait for no longer. */
export function createLister(source: L1Source) {
  const { l1, signal } = source
  const inventors = new Set<number>()
  /** How many lists in a row each has failed to send. */
  const failedLists = new Map<number, number>()

  return {
    /**
     * From the contract's logs at all L1 endpoints, oldest first. One whose logs lack the newest finalization, or that invented some
     * before, is not believed. One endpoint that lists everything is enough, and more hints do no harm, because each is proven
     * before it counts.
     *
     * @throws the failure of an endpoint that is waited for because it may list more; if none has answered, of any
     */
    async list(range: ListRange): Promise<Hint[]> {
      const isAlone = inventors.size === l1.sources.length
      const work: Work<OpenProvider, Listed | null> = async (provider, own, index) =>
        inventors.has(index) && !isAlone ? null : listFinalizations(provider, { ...source, signal: own.signal }, range)
      const { values, failures } = await allOf(l1.each(work, { signal }))
      const lists = [...values].flatMap(([index, list]) => (list === null ? [] : [{ index, list }]))
      for (const { index } of lists) failedLists.delete(index)
      for (const index of failures.keys()) failedLists.set(index, (failedLists.get(index) ?? 0) + 1)
      if (lists.length === 0) throw l1.failed(failures)
      for (const [index, error] of failures) {
        const isAwaited = isPassing(error) && (failedLists.get(index) ?? 0) < MAX_LIST_ROUNDS
        // One finalization hides no other if it comes right after the last.
        if (isAwaited && range.newest > range.after + 1n) throw error
      }
      return hintsOf(lists.sort((a, b) => a.index - b.index))
    },
    /** The contract has nothing of it: whoever named it has invented it. */
    refute({ l2BlockNumber, namedBy }: Hint): void {
      for (const index of namedBy) {
        inventors.add(index)
        l1.blame(index, invented(l2BlockNumber))
      }
    },
    /** Not what only inventors named, if another endpoint listed it too. */
    believes: ({ namedBy, listedBy }: Hint): boolean =>
      namedBy.some(index => !inventors.has(index)) || listedBy.every(index => inventors.has(index)),
  }
}

function hintsOf(lists: readonly { readonly index: number; readonly list: Listed }[]): Hint[] {
  const numbers = new Set(lists.flatMap(({ list }) => [...list.keys()]))
  const listedBy = lists.map(({ index }) => index)
  return [...numbers]
    .sort((a, b) => (a < b ? -1 : 1))
    .map(l2BlockNumber => ({
      l2BlockNumber,
      states: lists.flatMap(({ list }) => list.get(l2BlockNumber) ?? []),
      namedBy: lists.filter(({ list }) => list.has(l2BlockNumber)).map(({ index }) => index),
      listedBy,
    }))
}

/** From the newest back. @throws EndpointError `L1_CONTRADICTION` if the endpoint's logs lack the newest finalization */
async function listFinalizations(provider: OpenProvider, source: L1Source, range: ListRange): Promise<Listed> {
  const { after, newest, l1After, l1Block } = range
  const found = new Map<bigint, FinalizedState | undefined>()
  const oldest = l1After === null ? 0n : l1After + 1n
  let empty = 0
  for await (const { first, logs } of walkBack(provider, source, { l1Block, oldest })) {
    const { size } = found
    for (const { l2BlockNumber, finalizedState } of logs) {
      const isNew = l2BlockNumber > after && l2BlockNumber <= newest && !found.has(l2BlockNumber)
      if (isNew) found.set(l2BlockNumber, finalizedState)
    }
    const isBelow = logs.some(({ l2BlockNumber }) => l2BlockNumber <= after)
    if (isBelow || found.size > MAX_LISTED || (found.size > 0 && newest === after + 1n)) break
    empty = found.size === size ? empty + 1 : 0
    if (empty < MAX_EMPTY_LOG_REQUESTS) continue
    if (!found.has(newest)) break
    // Before the contract was deployed, its storage was zero.
    const current = await readCurrent(provider, source, first).catch(orFailure)
    if (current === 0n || (typeof current === 'bigint' && current <= after)) break
    empty = 0
  }
  if (found.has(newest)) return found
  throw contradiction('its logs lack the newest finalization')
}

/**
 * Yields the last blocks of up to `most` finalizations from `first` back, all proven at `l1Block`. Each endpoint goes back on its own,
 * so one that hides finalizations hides nothing that another one tells.
 */
export async function* walkAnchors(source: L1Source, l1Block: L1Block, most: number, first: bigint | Anchor) {
  const { l1, signal } = source
  let known = typeof first === 'bigint' ? await fetchAnchor(source, l1Block, first) : first
  yield known
  const searches = new Map(l1.sources.map(provider => [provider, searchBack(provider, source, l1Block)]))
  const findBelow = async (provider: OpenProvider): Promise<Anchor | null> => {
    const below = await searches.get(provider)?.(known.l2BlockNumber)
    if (below === undefined) return null
    const anchor = await unless('ANCHOR_NO_ROOT', fetchAnchor({ ...source, l1: only(provider) }, l1Block, below))
    if (anchor === null) throw invented(below)
    return anchor
  }
  for (let count = 1; count < most; count++) {
    const { values, failures } = await allOf(l1.each(findBelow, { signal }))
    const anchors = [...values.values()].filter(anchor => anchor !== null)
    if (anchors.length === 0 && failures.size > 0) throw l1.failed(failures)
    const [next] = anchors.sort((a, b) => (a.l2BlockNumber > b.l2BlockNumber ? -1 : 1))
    if (next === undefined) return
    known = next
    yield known
  }
}

/**
 * What `use` makes of the first finalization for which it returns no failure. Whoever cannot be reached for two is not asked for more.
 *
 * @throws EndpointError `PROOF_UNAVAILABLE` if all of them are missing; otherwise, the first reason. What `use` throws
 */
export async function stepBack<T extends object>(
  anchors: AsyncGenerator<Anchor>,
  use: (anchor: Anchor) => Promise<T | Failure>,
  otherwise: T | null = null,
): Promise<T> {
  const failures = new Map<bigint, Failure>()
  const besides = (isIt: (error: unknown) => boolean) => [...failures.values()].filter(failure => !isIt(failure))
  while (besides(isOfBlock).length < 2) {
    // What fails on the way to an earlier one says less than why the first one failed.
    const { value: anchor, done } = await anchors.next().catch(error => Promise.reject(besides(isMissing)[0] ?? error))
    if (done) break
    if (failures.has(anchor.l2BlockNumber)) continue
    const outcome = await use(anchor)
    if (!isEndpointError(outcome) && !isProofError(outcome)) return outcome
    failures.set(anchor.l2BlockNumber, outcome)
  }
  if (otherwise !== null) return otherwise
  const [first] = failures.values()
  const about = isEndpointError(first) ? first : {}
  const found = `tried ${[...failures.keys()].join(', ')}`
  throw besides(isMissing)[0] ?? new EndpointError('PROOF_UNAVAILABLE', { ...about, found, layer: 'L2' })
}

/** The newest finalization below another one, according to an endpoint, which is asked for nothing twice. None of it is proven. */
function searchBack(provider: OpenProvider, source: L1Source, l1Block: L1Block) {
  let ends: readonly bigint[] = []
  let left = l1Block.number
  return async (known: bigint): Promise<bigint | undefined> => {
    ends = ends.filter(end => end < known)
    if (ends.length > 0) return ends[0]
    let asked = 0
    for await (const { first, logs } of walkBack(provider, source, { l1Block, newest: left, oldest: 0n })) {
      left = first - 1n
      const below = logs.map(({ l2BlockNumber }) => l2BlockNumber).filter(end => end < known)
      ends = below.sort((a, b) => (a > b ? -1 : 1))
      if (ends.length > 0 || ++asked === MAX_EMPTY_LOG_REQUESTS) break
    }
    return ends[0]
  }
}

/** Finalizations that an endpoint names: all that reached L1 from block `first` on, up to those that were named before. */
interface Piece {
  readonly first: bigint
  readonly logs: readonly { readonly l2BlockNumber: bigint; readonly finalizedState?: FinalizedState }[]
}

interface WalkRange {
  readonly l1Block: L1Block
  /** Default: `l1Block`. */
  readonly newest?: bigint
  readonly oldest: bigint
  /** The L2 block that is sought. Finalizations above it may be left out. */
  readonly sought?: bigint
}

/**
 * Finalizations, newest first, according to an endpoint: from the logs of the contract. Where it serves none, or so few blocks at once
 * that it would be asked very often, from what the contract held at older L1 blocks, if the endpoint has their states.
 */
export async function* walkBack(provider: OpenProvider, source: L1Source, range: WalkRange): AsyncGenerator<Piece> {
  const { l1Block, newest = l1Block.number, oldest } = range
  let left = newest
  let refusal: Failure | undefined
  const logs = () => walkLogs(provider, source, { first: oldest, last: left })
  try {
    for await (const piece of logs()) {
      yield piece
      left = piece.first - 1n
      if (allowedBlocks(provider) < BLOCKS_PER_REQUEST) break
    }
  } catch (error) {
    if (isPassing(error) || isWrong(error)) throw error
    refusal = orFailure(error)
  }
  if (left < oldest && refusal === undefined) return
  try {
    return yield* walkStates(provider, source, { ...range, newest: left })
  } catch (error) {
    const failure = orFailure(error)
    // Who is only busy is waited for. That it lacks old states says less than why it serves no logs.
    if (refusal !== undefined) throw isPassing(failure) && !isMissing(failure) ? failure : refusal
  }
  yield* logs()
}

/** `currentL2BlockNumber` at an L1 block. */
interface Sample {
  readonly at: bigint
  readonly value: bigint
}

/** In doubling steps back, the first of 32 blocks, and then by bisection: at most 64 requests for each finalization. */
async function* walkStates(provider: OpenProvider, source: L1Source, range: WalkRange): AsyncGenerator<Piece, void> {
  const { l1Block, newest = l1Block.number, oldest, sought } = range
  let sample: Sample | null = { at: newest, value: await readCurrent(provider, source, newest) }
  let least = sought ?? sample.value
  /** Two L1 blocks in a row between which the contract went on from less than `least`. It may not have, from `oldest` on. */
  async function findStep(newest: Sample): Promise<{ before: Sample | null; after: Sample }> {
    let after = newest
    let before: Sample | null = null
    for (let distance = 32n; before === null || after.at - before.at > 1n; distance *= 2n) {
      if (before === null && after.at <= oldest) break
      const back: bigint = newest.at > oldest + distance ? newest.at - distance : oldest
      const at: bigint = before === null ? back : (before.at + after.at) / 2n
      const value = await readCurrent(provider, source, at)
      if (value > after.value || (before !== null && value < before.value)) {
        const when = before === null ? `before ${after.value}` : `between ${before.value} and ${after.value}`
        throw contradiction(`L2 block ${value} was finalized ${when}`)
      }
      if (value < least) before = { at, value }
      else after = { at, value }
    }
    return { before, after }
  }
  while (sample !== null) {
    const { before, after } = await findStep(sample)
    // Otherwise, it could invent any number of them, of which each takes dozens of requests to find.
    const anchor = await unless('ANCHOR_NO_ROOT', fetchAnchor(source, l1Block, after.value))
    // Before the contract was deployed, its storage was zero.
    if (anchor === null && after.value === 0n) return
    if (anchor === null) throw invented(after.value)
    // Others may have come in the same block.
    const block = { first: after.at, last: after.at }
    const beside = await walkLogs(provider, source, block).next().catch(orFailure)
    // An endpoint that is only busy may name them later.
    if (beside instanceof Error && isPassing(beside) && !isOfBlock(beside)) throw beside
    const named = 'value' in beside && beside.value ? beside.value.logs : []
    yield { first: after.at, logs: [...named, { l2BlockNumber: after.value }] }
    sample = before
    // Whoever seeks one needs the end of that before it, but not when it came.
    least = sought === undefined && before !== null ? before.value : after.value
  }
}
