import { decodeArgument } from '../../base/arguments.ts'
import { bytesToHex, type Hex } from '../../base/bytes.ts'
import type { ProofError } from '../../base/errors.ts'
import { type Hint, listFinalizations } from '../l1/finalizations.ts'
import { fetchAnchor, fetchL1Block, fetchNewest, invented, unless } from '../l1/l1.ts'
import { diagnoseWith } from '../transport/diagnose.ts'
import {
  abortedBy,
  EndpointError,
  isEndpointError,
  isFailure,
  isOfBlock,
  orFailure,
  patienceWith,
} from '../transport/error.ts'
import { FIRST_BACKOFF, MAX_BACKOFF } from '../transport/limits.ts'
import { redactUrls } from '../transport/redact.ts'
import { begin, sleep } from '../transport/waiting.ts'
import { beginAt, type Course, isAhead, newRange, type Observation, step, verifyLast } from './course.ts'
import { type FollowOptions, type Settings, verifyFollowOptions } from './follow-options.ts'
import { type Finalized, type FollowProgress, writeState } from './follow-state.ts'
import { type FollowedFinalization, fetchNamed, type Proven, prove, type View } from './proven.ts'

/** Waiting and randomness. Tests replace them. */
export interface Timing {
  wait(milliseconds: number, signal: AbortSignal): Promise<void>
  /** From 0 to 1. */
  random(): number
}

/**
 * Follows the finalizations of a rollup: an async iterator over all of them, or only the newest. It yields each once, in order,
 * proven from a trusted L1 block hash.
 *
 * Endpoints may be slow, fail, lag, limit or lie: it switches to the next one, waits longer each time, and tries again. It
 * throws when waiting does not help:
 *
 * - `L1_DISAGREEMENT` at once: the sources of the L1 block hash contradict each other, or what was trusted before, or the
 *   contract no longer names the finalization that was yielded last.
 * - `ANCHOR_IMPLEMENTATION_MISMATCH` at once: the contract has other code than the `implementation` that the rollup states.
 * - `BEACON_FORK_UNKNOWN` at once: the table of the network lacks the fork that all beacon endpoints are in.
 * - A refusal such as a ProofError, if every endpoint causes one in 8 consecutive rounds: minutes, with growing waits.
 * - `PROOF_UNAVAILABLE`, if every L2 endpoint has newer blocks but not the next one, or says that it is gone, in 8 rounds; if they
 *   only lack it, in 32, which take an hour or two.
 * - What nobody explains, and what has failed since the start, in 32 rounds. An endpoint that has worked and is down, in 288:
 *   most of a day.
 *
 * Guarantees: every item is proven, and newer than the one before. If the contract names the same newest block as before,
 * nothing was finalized, and that is proven. If there were several finalizations since the last poll, the logs of the L1
 * endpoints list them: one is missed only if every L1 endpoint omits it. An endpoint that omits the newest one is detected, and
 * what one invents alone is dropped with all that it invents. The list of an endpoint that fails is waited for, in up to 8
 * rounds: after that, it counts as omitting everything until it answers. Use L1 endpoints with different operators.
 *
 * When the rollup upgrades its contract to hold block hashes, it goes on without a restart and without another option: an item
 * whose `blockHash` is not undefined is proven with an Ethereum state. Whenever the code of the contract changes, even between two
 * runs, it reports `follow.implementation.changed`.
 *
 * Requests per poll: one while the L1 block hash stays the same (that of `finalizedBlockHash`), three for a new L1 block
 * without a finalization. With one L1 endpoint, a finalization takes five, and one per 100 keys of each request; with a block hash,
 * one more for the header.
 *
 * @param options the endpoints, the rollup, the source of the L1 block hash, and what to prove
 * @throws ArgumentError for options that are missing, unknown or wrong, before any request
 *
 * @example
 * ```ts
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { createHttpProvider, finalizedBlockHash, followFinalizations } from 'rollup-state-proof/rpc'
 * import { addDemoBlocks, createService, demoWorld } from 'rollup-state-proof-devnet'
 *
 * const rollup = { address: '0x00000000000000000000000000000000000011ff' } as const
 * const service = createService({ genesis: demoWorld(poseidon2), rollup })
 * addDemoBlocks(service.chain)
 * const { url, l1Url } = await service.listen()
 *
 * const [l1, l2] = [createHttpProvider(l1Url), createHttpProvider(url)]
 * const network = { rollup, scheme: poseidon2 } // on mainnet: lineaMainnet
 * const l1BlockHash = finalizedBlockHash(l1) // in production: from a source that you trust
 * const requests = [{ address: `0x${'b2'.repeat(20)}` }] as const
 * for await (const item of followFinalizations({ l1, l2, network, l1BlockHash, requests, fromL2BlockNumber: 4n })) {
 *   console.log(item.l2BlockNumber, item.verified[0]?.account?.balance)
 *   if (item.l2BlockNumber === 8n) break
 * }
 * // 4n 13n
 * // 8n 13n
 * await service.close()
 * ```
 */
export const followFinalizations = (options: FollowOptions): AsyncGenerator<FollowedFinalization, void, void> =>
  followWith(options, { wait: sleep, random: Math.random })

export function followWith(options: FollowOptions, timing: Timing): AsyncGenerator<FollowedFinalization, void, void> {
  const following = follow(verifyFollowOptions(options), timing, async () => {})
  async function* items() {
    for await (const { proven, progress } of following) yield { ...proven, progress }
  }
  return items()
}

/** What else is read of a finalization, while it is proven. */
type Read<T> = (view: View, l2BlockNumber: bigint, proving: Promise<Proven>) => Promise<T>

interface Followed<T> {
  readonly proven: Proven
  readonly value: T
  readonly progress: FollowProgress
}

/** Looks at L1, proves what is new, and waits: for something new, or longer after each failure. */
export async function* follow<T>(
  settings: Settings,
  timing: Timing,
  read: Read<T>,
): AsyncGenerator<Followed<T>, void, void> {
  const { rollup, skipUnavailable, pollInterval, onEvent } = settings
  const signal = settings.signal ?? new AbortController().signal
  let course = beginAt(settings.position)
  let view: View | null = null
  /** In a row, and which part of all patience they have taken. */
  let [failures, spent, hasWorked] = [0, 0, false]

  function take(seen: Observation): void {
    const { course: next, events = [], failure } = step(course, seen, skipUnavailable)
    course = next
    for (const event of events) onEvent?.(event)
    if (failure !== undefined) throw failure
  }
  function worked(): void {
    ;[failures, spent, hasWorked] = [0, 0, true]
  }
  const wait = (milliseconds: number) =>
    timing.wait(Math.round(milliseconds), signal).catch(error => {
      throw signal.aborted ? abortedBy(signal) : error
    })

  for (;;) {
    try {
      if (signal.aborted) throw abortedBy(signal)
      const polled = await poll(settings, course, view)
      if (polled !== null) {
        take(polled.seen)
        // What has failed before has changed nothing.
        view = polled.view
      }
      for (let [hint] = course.pending; view !== null && hint !== undefined; [hint] = course.pending) {
        if (signal.aborted) throw abortedBy(signal)
        const { seen, done } = await observe(settings, view, hint, course.pending.at(-1), read)
        // The states of older L1 blocks are soon gone.
        if (seen.kind === 'unread') view = null
        take(seen)
        if (done === undefined) continue
        worked()
        const { last, ...item } = done
        yield { ...item, progress: writeState(rollup.address, { last, mark: course.mark }) }
      }
    } catch (error) {
      // It is proven that L1 holds no hash, for a caller who takes hashes only.
      if (!isFailure(error) || error.code === 'ANCHOR_NO_ROOT') throw error
      spent += 1 / patienceWith(error, hasWorked)
      // The sum of fractions is a little less than it should be.
      if (spent > 0.999) throw lastOf(error)
      const most = Math.min(MAX_BACKOFF, FIRST_BACKOFF * 2 ** Math.min(failures++, 30))
      const delay = Math.round(most * (0.5 + timing.random() / 2))
      const attributes = { 'retry.count': failures, 'retry.delay': delay, 'error.type': error.code }
      onEvent?.({ name: 'follow.retry', attributes, error })
      await wait(delay)
      continue
    }
    worked()
    await wait(pollInterval * (0.9 + timing.random() / 5))
  }
}

/** What ends a follower that waited for the proofs of an L2 block: that they do not come. */
function lastOf(error: EndpointError | ProofError): EndpointError | ProofError {
  if (!isEndpointError(error) || error.code !== 'BLOCK_MISSING' || error.layer !== 'L2') return error
  return new EndpointError('PROOF_UNAVAILABLE', { ...error, cause: error.cause })
}

/** The L1 block that is trusted now, and what L1 lists up to it; null if it shows nothing new. */
async function poll(
  settings: Settings,
  course: Course,
  before: View | null,
): Promise<{ readonly view: View; readonly seen: Observation } | null> {
  const { last, trusted } = course
  const hash = await trustedHash(settings.l1BlockHash)
  if (hash === before?.l1Block.hash) return null
  const { block, l1Block } = await fetchL1Block(settings, hash)
  if (!isAhead(course, l1Block)) {
    const attributes = { 'l1.block.number': Number(l1Block.number), 'l1.block.newest': Number(trusted?.number) }
    settings.onEvent?.({ name: 'follow.l1.behind', attributes })
    return null
  }
  const asking =
    last && fetchAnchor({ ...settings, holds: last.blockHash ? 'blockHash' : 'stateRoot' }, l1Block, last.l2BlockNumber)
  const anchor = asking && (await unless('ANCHOR_BLOCK_AHEAD', unless('ANCHOR_NO_ROOT', asking)))
  const newest = anchor?.currentL2BlockNumber ?? (await fetchNewest(settings, l1Block))
  const range = newRange(course, l1Block, newest, settings.from)
  if (last !== null) verifyLast(course, last, l1Block, anchor)
  const found = range && { range, listing: await listFinalizations(settings, range, course.inventors) }
  const seen = { kind: 'listing', l1Block, implementation: anchor?.implementation, found } as const
  return { view: { block, l1Block, newest }, seen }
}

/** Proves a finalization. @param newest the last one that is known */
async function observe<T>(
  settings: Settings,
  view: View,
  hint: Hint,
  newest: Hint | undefined,
  read: Read<T>,
): Promise<{
  readonly seen: Observation
  readonly done?: Omit<Followed<T>, 'progress'> & { readonly last: Finalized }
}> {
  const { l2BlockNumber } = hint
  const naming = begin(fetchNamed(settings, view, hint))
  const proving = begin(
    naming.then(anchor => (anchor === null ? Promise.reject(invented(l2BlockNumber)) : prove(settings, view, anchor))),
  )
  const reading = begin(read(view, l2BlockNumber, proving))
  const anchor = await naming
  if (anchor === null) return { seen: { kind: 'refuted', hint } }
  const proven = await proving.catch(orMissing)
  if (isEndpointError(proven)) {
    // A lagging endpoint catches up. One that holds a newer block does not, unless several nodes share its URL.
    const isHeld = newest !== undefined && newest !== hint && (await hasProofs(settings, view, newest))
    return { seen: { kind: 'missing', hint, error: proven, newer: isHeld ? newest.l2BlockNumber : null } }
  }
  const { stateRoot, blockHash, implementation } = anchor
  const last = { l2BlockNumber, stateRoot, blockHash, implementation }
  const value = await reading.catch(orFailure)
  if (isFailure(value)) return { seen: { kind: 'unread', error: value } }
  return { seen: { kind: 'proven', last }, done: { proven, value, last } }
}

async function hasProofs(settings: Settings, view: View, hint: Hint): Promise<boolean> {
  const anchor = await fetchNamed(settings, view, hint)
  return anchor !== null && !isEndpointError(await prove(settings, view, anchor).catch(orMissing))
}

function orMissing(error: unknown): EndpointError {
  if (isEndpointError(error) && isOfBlock(error)) return error
  throw error
}

/** @throws EndpointError, or ArgumentError if it is not a hash */
async function trustedHash(source: FollowOptions['l1BlockHash']): Promise<Hex> {
  let hash: unknown
  try {
    hash = await source()
  } catch (error) {
    throw diagnoseWith(redactUrls, error)
  }
  return bytesToHex(decodeArgument('l1BlockHash', hash, 32))
}
