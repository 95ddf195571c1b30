import type { ProofError } from '../../base/errors.ts'
import { abortedBy, EndpointError, isEndpointError, isFailure, patienceWith } from '../transport/error.ts'
import { FIRST_BACKOFF, MAX_BACKOFF } from '../transport/limits.ts'
import { sleep } from '../transport/waiting.ts'
import { type FollowOptions, type FollowRequest, type Settings, verifyFollowOptions } from './follow-options.ts'
import { createFollower, type FollowedFinalization } from './follower.ts'

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
export function followFinalizations<const Requests extends readonly FollowRequest[] = []>(
  options: FollowOptions<Requests>,
): AsyncGenerator<FollowedFinalization<Requests>, void, void> {
  const finalizations = followWith(options, { wait: sleep, random: Math.random })
  // There is one state per request.
  return finalizations as AsyncGenerator<FollowedFinalization<Requests>, void, void>
}

export function followWith(options: FollowOptions, timing: Timing): AsyncGenerator<FollowedFinalization, void, void> {
  const settings = verifyFollowOptions(options)
  const next = createFollower(settings)
  return repeat(settings, timing, async () => (await next())?.item ?? null)
}

/** Yields what `next` returns, again and again. Waits when it returns null, and longer after each failure. */
export async function* repeat<T extends object>(
  settings: Settings,
  timing: Timing,
  next: () => Promise<T | null>,
): AsyncGenerator<T, void, void> {
  const { pollInterval, onEvent } = settings
  const signal = settings.signal ?? new AbortController().signal
  const wait = (milliseconds: number) =>
    timing.wait(milliseconds, signal).catch(error => {
      throw signal.aborted ? abortedBy(signal) : error
    })
  /** In a row, and which part of all patience they have taken. */
  let [failures, spent] = [0, 0]
  let hasWorked = false
  for (;;) {
    if (signal.aborted) throw abortedBy(signal)
    let item: T | null
    try {
      item = await next()
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
    ;[failures, spent] = [0, 0]
    hasWorked = true
    if (item === null) await wait(Math.round(pollInterval * (0.9 + timing.random() / 5)))
    else yield item
  }
}

/** What ends a follower that waited for the proofs of an L2 block: that they do not come. */
function lastOf(error: EndpointError | ProofError): EndpointError | ProofError {
  if (!isEndpointError(error) || error.code !== 'BLOCK_MISSING' || error.layer !== 'L2') return error
  return new EndpointError('PROOF_UNAVAILABLE', { ...error, cause: error.cause })
}
