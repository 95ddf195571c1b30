import { decodeArgument } from '../../base/arguments.ts'
import { bytesToHex, type Hex } from '../../base/bytes.ts'
import { createLister, type Hint, type Lister } from '../l1/finalizations.ts'
import { fetchAnchor, fetchL1Block, fetchNewest, invented, unless } from '../l1/l1.ts'
import { diagnoseWith } from '../transport/diagnose.ts'
import {
  abortedBy,
  EndpointError,
  isEndpointError,
  isFailure,
  isGone,
  isOfBlock,
  orFailure,
  patienceWith,
} from '../transport/error.ts'
import { FIRST_BACKOFF, MAX_BACKOFF, MAX_LAGGING_ROUNDS, MAX_MISSING_ROUNDS } from '../transport/limits.ts'
import { redactUrls } from '../transport/redact.ts'
import { begin, sleep } from '../transport/waiting.ts'
import { type FollowOptions, type Settings, verifyFollowOptions } from './follow-options.ts'
import { type Course, isAhead, newRange, verifyLast, writeState } from './follow-state.ts'
import { type FollowedFinalization, type Proven, prove, type View } from './proven.ts'

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
 * - `ANCHOR_IMPLEMENTATION_MISMATCH`: the contract has other code than the rollup states. `BEACON_FORK_UNKNOWN`: the network
 *   lacks a fork. Both at once.
 * - A refusal such as a ProofError, if every endpoint causes one in 8 rounds in a row: minutes, with growing waits.
 * - `PROOF_UNAVAILABLE`, if every L2 endpoint has newer blocks but not the next one, or says that it is gone, in 8 rounds; if they
 *   only lack it, in 32: an hour or two.
 * - What nobody explains, or has failed since the start, in 32 rounds. An endpoint that has worked and is down, in 288: most of a day.
 *
 * Every item is proven, and newer than the one before. The logs of the L1 endpoints list what was finalized since: one
 * finalization is missed only if every L1 endpoint omits it. One that omits the newest is detected. What one invents alone is
 * dropped with all that it invents. A list that fails is waited for in up to 8 rounds. Use L1 endpoints with different operators.
 *
 * It goes on when the contract begins to hold block hashes: an item with a `blockHash` is proven with an Ethereum state.
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
    for await (const [item] of following) yield item
  }
  return items()
}

/** What else is read of a finalization, while it is proven. */
type Read<T> = (view: View, l2BlockNumber: bigint, proving: Promise<Proven>) => Promise<T>

/** Looks at L1, proves what is new, and waits: for something new, or longer after each failure. */
export async function* follow<T>(
  settings: Settings,
  timing: Timing,
  read: Read<T>,
): AsyncGenerator<[FollowedFinalization, T], void, void> {
  const signal = settings.signal ?? new AbortController().signal
  const lister = createLister(settings)
  const patience = createPatience(settings, timing)
  let course = settings.begun
  let view: View | null = null
  const keeping = (isKept: (hint: Hint) => boolean) => ({ ...course, pending: course.pending.filter(isKept) })

  for (;;) {
    let delay = settings.pollIntervalMs * (0.9 + timing.random() / 5)
    try {
      if (signal.aborted) throw abortedBy(signal)
      const seen = await poll(settings, lister, course, view)
      if (seen !== null) ({ course, view } = seen)
      for (let [hint] = course.pending; view !== null && hint !== undefined; [hint] = course.pending) {
        if (signal.aborted) throw abortedBy(signal)
        const { l2BlockNumber } = hint
        const proving = begin(prove(settings, view, hint))
        const known = proving.then(proven => proven ?? Promise.reject(invented(l2BlockNumber)))
        const reading = begin(read(view, l2BlockNumber, begin(known)))
        const proven = await proving.catch(orMissing)
        if (proven === null) {
          lister.refute(hint)
          course = keeping(one => one !== hint && lister.believes(one))
        } else if (isEndpointError(proven)) {
          const failure = await failureOf(settings, view, course, proven)
          course = { ...course, missingRounds: course.missingRounds + 1 }
          if (failure !== null) throw failure
          settings.onEvent?.({ name: 'follow.skipped', attributes: { 'l2.block.number': Number(l2BlockNumber) } })
          course = keeping(one => one !== hint)
        } else {
          const value = await reading.catch(orFailure)
          if (isFailure(value)) {
            // It took place, but what it holds does not fit to it. Perhaps another one is hidden: L1 is to list them anew.
            view = null
            course = { ...course, pending: [], listedTo: null }
            throw value
          }
          const { stateRoot, blockHash, implementation } = proven
          const last = { l2BlockNumber, stateRoot: blockHash ? undefined : stateRoot, blockHash, implementation }
          course = { ...keeping(one => one.l2BlockNumber > l2BlockNumber), last, missingRounds: 0 }
          patience.worked()
          yield [{ ...proven, progress: writeState(settings.rollup.address, last, view.l1Block) }, value]
        }
      }
      patience.worked()
    } catch (error) {
      delay = patience.after(error)
    }
    await timing.wait(Math.round(delay), signal).catch(error => {
      throw signal.aborted ? abortedBy(signal) : error
    })
  }
}

/** How long to wait after a failure, and how often. */
function createPatience({ onEvent }: Settings, { random }: Timing) {
  /** In a row, and which part of all patience they have taken. */
  let [failures, spent, hasWorked] = [0, 0, false]
  return {
    worked(): void {
      ;[failures, spent, hasWorked] = [0, 0, true]
    },
    /** @throws what does not pass */
    after(error: unknown): number {
      // It is proven that L1 holds no hash, for a caller who takes hashes only.
      if (!isFailure(error) || error.code === 'ANCHOR_NO_ROOT') throw error
      spent += 1 / patienceWith(error, hasWorked)
      // The sum of fractions is a little less than it should be.
      if (spent > 0.999) {
        const isLacking = isEndpointError(error) && error.code === 'BLOCK_MISSING' && error.layer === 'L2'
        throw isLacking ? new EndpointError('PROOF_UNAVAILABLE', { ...error, cause: error.cause }) : error
      }
      const most = Math.min(MAX_BACKOFF, FIRST_BACKOFF * 2 ** Math.min(failures++, 30))
      const delay = Math.round(most * (0.5 + random() / 2))
      const attributes = { 'retry.count': failures, 'retry.delay': delay, 'error.type': error.code }
      onEvent?.({ name: 'follow.retry', attributes, error })
      return delay
    },
  }
}

/** The L1 block that is trusted now, and what L1 lists up to it; null if it shows nothing new. */
async function poll(
  settings: Settings,
  lister: Lister,
  course: Course,
  before: View | null,
): Promise<{ readonly view: View; readonly course: Course } | null> {
  const { last, trusted } = course
  const { onEvent } = settings
  const hash = await trustedHash(settings.l1BlockHash)
  if (hash === before?.l1Block.hash) return null
  const { block, l1Block } = await fetchL1Block(settings, hash)
  const number = Number(l1Block.number)
  if (!isAhead(course, l1Block)) {
    const attributes = { 'l1.block.number': number, 'l1.block.newest': Number(trusted?.number) }
    onEvent?.({ name: 'follow.l1.behind', attributes })
    return null
  }
  const asking =
    last && fetchAnchor({ ...settings, holds: last.blockHash ? 'blockHash' : 'stateRoot' }, l1Block, last.l2BlockNumber)
  const anchor = asking && (await unless('ANCHOR_BLOCK_AHEAD', unless('ANCHOR_NO_ROOT', asking)))
  const newest = anchor?.currentL2BlockNumber ?? (await fetchNewest(settings, l1Block))
  const range = newRange(course, l1Block, newest, settings.from)
  if (last !== null) verifyLast(course, last, l1Block, anchor)
  const hints = range ? await lister.list(range) : []
  const implementation = anchor?.implementation
  if (last && implementation && implementation !== last.implementation) {
    const code = { 'implementation.old': last.implementation, 'implementation.new': implementation }
    onEvent?.({ name: 'follow.implementation.changed', attributes: { 'l1.block.number': number, ...code } })
  }
  const next = {
    ...course,
    last: last && implementation ? { ...last, implementation } : last,
    trusted: l1Block,
    listedTo: l1Block.number,
    pending: [...course.pending, ...hints],
  }
  return { view: { block, l1Block, newest }, course: next }
}

/** Why to wait for the proofs of the next finalization, or to end. Null to skip it. */
async function failureOf(
  settings: Settings,
  view: View,
  { pending, missingRounds }: Course,
  error: EndpointError,
): Promise<EndpointError | null> {
  const { skipUnavailable } = settings
  const [hint, newest] = [pending[0], pending.at(-1)]
  // A lagging endpoint catches up. One that holds a newer block does not, unless several nodes share its URL.
  const isHeld = newest !== undefined && newest !== hint && (await hasProofs(settings, view, newest))
  // One miss may be that of a node that lags behind the others at its URL. Once some are gone, so are their neighbours.
  const most = isHeld || isGone(error) ? MAX_MISSING_ROUNDS : MAX_LAGGING_ROUNDS
  if (skipUnavailable && missingRounds + 1 >= most) return null
  const found = `L2 block ${hint?.l2BlockNumber}${isHeld ? `, while ${newest.l2BlockNumber} is held` : ''}`
  const code = isHeld && !skipUnavailable ? 'PROOF_UNAVAILABLE' : error.code
  return new EndpointError(code, { ...error, found, layer: 'L2', cause: error })
}

async function hasProofs(settings: Settings, view: View, hint: Hint): Promise<boolean> {
  const proven = await prove(settings, view, hint).catch(orMissing)
  return proven !== null && !isEndpointError(proven)
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
