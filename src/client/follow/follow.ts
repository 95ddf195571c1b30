import type { Hex } from '../../base/bytes.ts'
import type { L1Block } from '../../verify/anchor/header.ts'
import type { BlockHeader } from '../../verify/blocks/header.ts'
import { createBundle, type EvidenceBundle, type VerifiedEvidence } from '../../verify/evidence/kinds/state.ts'
import type { Trusted } from '../../verify/evidence/trusted.ts'
import { verifyEvidence } from '../../verify/evidence/verify.ts'
import type { StateScheme } from '../../verify/state/kind.ts'
import { createLister, fetchNamed, type Hint } from '../l1/finalizations.ts'
import { invented, openAnchor, unless } from '../l1/l1.ts'
import { fetchState } from '../sources/fetch.ts'
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
import { begin, sleep } from '../transport/waiting.ts'
import { type FollowOptions, type FollowProgress, type Settings, verifyFollowOptions, writeState } from './options.ts'
import { poll, type View } from './poll.ts'

/** One finalization, proven. */
export interface FollowedFinalization {
  /** The last L2 block of the finalization. */
  l2BlockNumber: bigint
  /** Root of its state, 32 bytes: of a tree with a hash scheme, or of an Ethereum state if there is a `blockHash`. */
  stateRoot: Hex
  /** Hash of the block, 32 bytes, if that is what L1 holds. The state is then that of Ethereum. */
  blockHash: Hex | undefined
  /** The block with this hash. */
  l2Block: BlockHeader | undefined
  /**
   * Time of that block, in seconds since 1970, which its header proves. If L1 holds its state root, undefined unless L1 proves it: it
   * was no longer the newest one, or no L1 endpoint serves the log.
   */
  finalizedTimestamp: bigint | undefined
  /** The last finalized L2 block at the L1 block. */
  currentL2BlockNumber: bigint
  /** The L1 block from which it is proven. */
  l1Block: L1Block
  /** The code of the contract, 20 bytes, lower case; zero if the contract is no proxy (EIP-1967). */
  implementation: Hex
  /** What is proven for each request, in order. */
  verified: VerifiedEvidence<Extract<Trusted, { l1BlockHash: Hex }>, bigint, readonly Hex[], StateScheme>[]
  /** One bundle per request, in order: anyone can verify the same values with it. */
  bundles: EvidenceBundle<StateScheme>[]
  /** Save it once you have acted on the item. Pass it to a later call to continue with the next item. */
  progress: FollowProgress
}

/** One finalization, before it is handed out. */
export type Proven = Omit<FollowedFinalization, 'progress'>

/** What is proven of a finalization, and of the accounts that are asked for. Null if the contract has nothing of it, which is proven too. */
async function prove(settings: Settings, view: View, hint: Hint): Promise<Proven | null> {
  const { l2, rollup, requests, how, signal } = settings
  const { block, l1Block, newest } = view
  const anchor = await unless('ANCHOR_NO_ROOT', fetchNamed(settings, l1Block, newest, hint))
  if (anchor === null) return null
  const { l2BlockNumber, blockHash, proof, finalizedState, implementation } = anchor
  const { scheme, stateRoot, header: l2Block, block: sentBlock } = await openAnchor(settings, anchor, settings.scheme)
  const finalizedTimestamp = l2Block?.timestamp ?? anchor.finalizedTimestamp
  const held = { l2BlockNumber, stateRoot, blockHash, l2Block, finalizedTimestamp, implementation }
  const [bundles, verified]: [Proven['bundles'], Proven['verified']] = [[], []]
  for (const { address, storageKeys } of requests) {
    const asked = { address, storageKeys, l2BlockNumber }
    const { answer } = await fetchState(l2, { ...asked, scheme, stateRoot }, { ...how, signal })
    const claim = { ...asked, scheme, rollup }
    const bundle = createBundle({ ...claim, answer, l2Block: sentBlock, l1: { block, proof, finalizedState } })
    // The parts were verified one by one. This verifies the whole.
    verified.push(verifyEvidence(bundle, { ...claim, trusted: { l1BlockHash: l1Block.hash } }))
    bundles.push(bundle)
  }
  return { ...held, currentL2BlockNumber: newest, l1Block, verified, bundles }
}

/** Waiting, and a number from 0 to 1. Tests replace them. */
const TIMING = { wait: sleep, random: Math.random }
export type Timing = typeof TIMING

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
export function followFinalizations(options: FollowOptions): AsyncGenerator<FollowedFinalization, void, void> {
  return followWith(options)
}

export function followWith(options: FollowOptions, timing?: Timing): AsyncGenerator<FollowedFinalization, void, void> {
  return follow(verifyFollowOptions(options), async () => item => item, timing)
}

/** What else is read of a finalization, while it is proven, and what the item becomes with it. */
type Read<T> = (
  view: View,
  l2BlockNumber: bigint,
  proving: Promise<Proven>,
) => Promise<(item: FollowedFinalization) => T>

/** Looks at L1, proves what is new, and waits: for something new, or longer after each failure. */
export async function* follow<T>(settings: Settings, read: Read<T>, timing = TIMING): AsyncGenerator<T, void, void> {
  const signal = settings.signal ?? new AbortController().signal
  const patience = createPatience(settings, timing)
  const lister = createLister(settings)
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
        const proving = prove(settings, view, hint)
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
          const itemOf = await reading.catch(orFailure)
          if (isFailure(itemOf)) {
            // It took place, but what it holds does not fit to it. Perhaps another one is hidden: L1 is to list them anew.
            view = null
            course = { ...course, pending: [], listedTo: null }
            throw itemOf
          }
          const { stateRoot, blockHash, implementation } = proven
          const last = { l2BlockNumber, stateRoot: blockHash ? undefined : stateRoot, blockHash, implementation }
          course = { ...keeping(one => one.l2BlockNumber > l2BlockNumber), last, missingRounds: 0 }
          patience.worked()
          yield itemOf({ ...proven, progress: writeState(settings.rollup.address, last, view.l1Block) })
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

/** Why to wait for the proofs of the next finalization, or to end. Null to skip it. */
async function failureOf(settings: Settings, view: View, course: Settings['begun'], error: EndpointError) {
  const { pending, missingRounds } = course
  const { skipUnavailable } = settings
  const [hint, newest] = [pending[0], pending.at(-1)]
  // A lagging endpoint catches up. One that holds a newer block does not, unless several nodes share its URL.
  const ahead = newest && newest !== hint ? await prove(settings, view, newest).catch(orMissing) : null
  const isHeld = ahead !== null && !isEndpointError(ahead)
  // One miss may be that of a node that lags behind the others at its URL. Once some are gone, so are their neighbours.
  const most = isHeld || isGone(error) ? MAX_MISSING_ROUNDS : MAX_LAGGING_ROUNDS
  if (skipUnavailable && missingRounds + 1 >= most) return null
  const found = `L2 block ${hint?.l2BlockNumber}${isHeld ? `, while ${newest?.l2BlockNumber} is held` : ''}`
  const code = isHeld && !skipUnavailable ? 'PROOF_UNAVAILABLE' : error.code
  return new EndpointError(code, { ...error, found, layer: 'L2', cause: error })
}

function orMissing(error: unknown): EndpointError {
  if (isEndpointError(error) && isOfBlock(error)) return error
  throw error
}
