import { invalid, readItems } from '../../base/arguments.ts'
import { bytesToHex, type Hex } from '../../base/bytes.ts'
import { ArgumentError, isProofError } from '../../base/errors.ts'
import { encodeQuantity } from '../../base/hex.ts'
import { hexOf, optional, unread } from '../../base/json/decoders.ts'
import { decodeKeys, readHex, readOptions, verifyFunction, verifyUint, verifyWhole } from '../../base/options.ts'
import type { L1Block } from '../../verify/anchor/header.ts'
import { quantityOf, reader } from '../../verify/evidence/fields.ts'
import { createBundle } from '../../verify/evidence/kinds/state.ts'
import { verifyEvidence } from '../../verify/evidence/verify.ts'
import { createLister, type Hint } from '../l1/finalizations.ts'
import { fetchAnchor, fetchHinted, fetchL1Block, fetchNewest, invented, openAnchor, unless } from '../l1/l1.ts'
import { verifyHashSource } from '../l1/l1-block-hash.ts'
import { readNetwork } from '../network/network.ts'
import { type OnFailure, openEndpoints } from '../sources/endpoints.ts'
import { fetchState, verifyClientOptions } from '../sources/fetch.ts'
import { diagnoseWith } from '../transport/diagnose.ts'
import {
  abortedBy,
  EndpointError,
  isEndpointError,
  isFailure,
  isGone,
  isOfBlock,
  patienceWith,
} from '../transport/error.ts'
import {
  FIRST_BACKOFF,
  MAX_BACKOFF,
  MAX_INTERVAL,
  MAX_LAGGING_ROUNDS,
  MAX_MISSING_ROUNDS,
} from '../transport/limits.ts'
import { redactUrls } from '../transport/redact.ts'
import { begin, sleep, verifySignal } from '../transport/waiting.ts'
import type { FollowedFinalization, FollowOptions, FollowProgress, FollowRequest } from './types.ts'

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

/** Waiting, and a number from 0 to 1. Tests replace them. */
const TIMING = { wait: sleep, random: Math.random }
export type Timing = typeof TIMING

export function followWith(options: FollowOptions, timing?: Timing): AsyncGenerator<FollowedFinalization, void, void> {
  const settings = verifyFollowOptions(options)
  return follow(settings, async (_view, _l2BlockNumber, proving) => proving, timing)
}

/** The options, checked, and what was opened with them. */
export type Settings = ReturnType<typeof verifyFollowOptions>

/** What all followers take. */
const SOURCES = ['l1', 'l2', 'network', 'l1BlockHash', 'maxKeysPerRequest', 'signal']
export const FOLLOWING = [...SOURCES, 'fromL2BlockNumber', 'resumeFrom', 'pollIntervalMs', 'onEvent']

export function verifyFollowOptions(options: FollowOptions) {
  const own = readOptions('', options, [...FOLLOWING, 'requests', 'skipUnavailable'])
  const { l1BlockHash, requests = [], fromL2BlockNumber: from, resumeFrom = null, onEvent, signal } = own
  const { skipUnavailable = false, pollIntervalMs = 60_000, maxKeysPerRequest } = own
  const network = readNetwork(own.network)
  verifyHashSource(l1BlockHash)
  if (from !== undefined) verifyUint('fromL2BlockNumber', from, 64)
  if (typeof skipUnavailable !== 'boolean') throw invalid('skipUnavailable', 'true or false', skipUnavailable)
  verifyWhole('pollIntervalMs', pollIntervalMs, 1, MAX_INTERVAL)
  verifyFunction('onEvent', onEvent)
  verifySignal(signal)
  const onFailure: OnFailure = (layer, index, error) => {
    const attributes = { layer, 'endpoint.index': index, 'error.type': error.code }
    onEvent?.({ name: 'follow.request.failed', attributes, error })
  }
  const l1 = openEndpoints('l1', own.l1, 'L1', { onFailure, signal })
  const checked = { l1BlockHash, from, skipUnavailable, pollIntervalMs, onEvent, signal }
  return {
    ...network,
    ...checked,
    l1,
    l2: openEndpoints('l2', own.l2, 'L2', { onFailure, signal }),
    lister: createLister({ ...network, l1, signal }),
    requests: readItems('requests', requests, readRequest),
    begun: readProgress(resumeFrom, network.rollup.address),
    how: verifyClientOptions({ rollup: network.rollup, maxKeysPerRequest }),
  }
}

function readRequest(request: FollowRequest) {
  const { address, storageKeys = [] } = readOptions('', request, ['address', 'storageKeys'])
  return { address: readHex('address', address, 20), storageKeys: decodeKeys(storageKeys).map(bytesToHex) }
}

type L1Mark = Pick<L1Block, 'number' | 'hash'>

/** A finalization that was proven, and what the contract holds for it: the hash of the block or, without one, the root of the state. */
interface Finalized {
  readonly l2BlockNumber: bigint
  readonly stateRoot: Hex | undefined
  readonly blockHash: Hex | undefined
  /** The code of the contract then. */
  readonly implementation: Hex
}

/** How far a follower is, as data: every step makes a new one. */
interface Course {
  /** What was yielded last. */
  readonly last: Finalized | null
  /** The newest L1 block that was looked at. */
  readonly trusted: L1Mark | null
  /** Everything finalized up to this L1 block was yielded, or is to be. */
  readonly listedTo: bigint | null
  /** Not yielded yet, oldest first. */
  readonly pending: readonly Hint[]
}

const FIELDS = ['version', 'rollup', 'l2BlockNumber', 'stateRoot', 'blockHash', 'implementation', 'l1Block'] as const

/** Where to begin. @param progress null for a new one @throws ArgumentError if it is none, or one of another rollup */
function readProgress(progress: unknown, rollup: Hex): Course {
  const begun = { last: null, trusted: null, listedTo: null, pending: [] }
  if (progress === null) return begun
  const invalid = (found: string) => new ArgumentError({ path: 'resumeFrom', found })
  const foreign = invalid('it is not what followFinalizations handed out')
  const bytes = (length: number) => hexOf(reader, length)
  try {
    const field = reader.fieldsOf(progress, FIELDS)
    if (field('version', reader.number) !== 1) throw invalid('it is of another version')
    if (field('rollup', bytes(20)) !== rollup) throw invalid('it is of another rollup')
    const [stateRoot, blockHash] = [field('stateRoot', optional(bytes(32))), field('blockHash', optional(bytes(32)))]
    if ((stateRoot === undefined) === (blockHash === undefined)) throw foreign
    const [l2BlockNumber, implementation] = [field('l2BlockNumber', quantityOf(64)), field('implementation', bytes(20))]
    const fieldOfL1 = reader.fieldsOf(field('l1Block', unread), ['number', 'hash'])
    const trusted = { number: fieldOfL1('number', quantityOf(64)), hash: fieldOfL1('hash', bytes(32)) }
    return { ...begun, last: { l2BlockNumber, stateRoot, blockHash, implementation }, trusted }
  } catch (error) {
    throw isProofError(error) ? foreign : error
  }
}

/** An L1 block from which everything is proven. */
export interface View {
  readonly block: unknown
  readonly l1Block: L1Block
  /** The last finalized L2 block, proven. */
  readonly newest: bigint
}

/** What becomes of a finalization: whatever else is to be read of it may be read while it is proven. */
type Read<T> = (view: View, l2BlockNumber: bigint, proving: Promise<FollowedFinalization>) => Promise<T>

/** Looks at L1, proves what is new, and waits: for something new, or longer after each failure. */
export async function* follow<T>(settings: Settings, read: Read<T>, timing = TIMING): AsyncGenerator<T, void, void> {
  const signal = settings.signal ?? new AbortController().signal
  const { lister } = settings
  const patience = createPatience(settings, timing)
  let course = settings.begun
  let view: View | null = null
  const keeping = (isKept: (hint: Hint) => boolean) => ({ ...course, pending: course.pending.filter(isKept) })

  for (;;) {
    let delay = settings.pollIntervalMs * (0.9 + timing.random() / 5)
    try {
      if (signal.aborted) throw abortedBy(signal)
      const seen = await poll(settings, course, view)
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
          // A lagging endpoint catches up. One that holds a newer block does not, unless several nodes share its URL.
          const newest = course.pending.at(-1)
          const ahead = newest && newest !== hint ? await prove(settings, view, newest).catch(orMissing) : null
          patience.missed(proven, l2BlockNumber, isEndpointError(ahead) ? null : ahead)
          settings.onEvent?.({ name: 'follow.skipped', attributes: { 'l2.block.number': Number(l2BlockNumber) } })
          course = keeping(one => one !== hint)
        } else {
          const item = await reading.catch(error => {
            // It took place, but what it holds does not fit to it. Perhaps another one is hidden: L1 is to list them anew.
            view = null
            course = { ...course, pending: [], listedTo: null }
            throw error
          })
          const { stateRoot, blockHash, implementation } = proven
          const last = { l2BlockNumber, stateRoot, blockHash, implementation }
          course = { ...keeping(one => one.l2BlockNumber > l2BlockNumber), last }
          patience.proved()
          yield item
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

/** The L1 block that is trusted now, and what L1 lists up to it; null if it shows nothing new. */
async function poll(settings: Settings, course: Course, before: View | null) {
  const { last, trusted } = course
  const { l1BlockHash, lister, onEvent } = settings
  const ask = async (): Promise<unknown> => l1BlockHash()
  const answer = await ask().catch(error => Promise.reject(diagnoseWith(redactUrls, error)))
  const hash = readHex('l1BlockHash', answer, 32)
  if (hash === before?.l1Block.hash) return null
  const { block, l1Block } = await fetchL1Block(settings, hash)
  const { number } = l1Block
  if (number === trusted?.number && hash !== trusted.hash) {
    throw disagreement(`L1 block ${number} had the hash ${trusted.hash}, and has the hash ${hash} now`)
  }
  if (trusted && number < trusted.number) {
    const attributes = { 'l1.block.number': Number(number), 'l1.block.newest': Number(trusted.number) }
    onEvent?.({ name: 'follow.l1.behind', attributes })
    return null
  }
  const holds = last?.blockHash ? 'blockHash' : 'stateRoot'
  const asking = last && fetchAnchor({ ...settings, holds }, l1Block, last.l2BlockNumber)
  const anchor = asking && (await unless('ANCHOR_BLOCK_AHEAD', unless('ANCHOR_NO_ROOT', asking)))
  const newest = anchor?.currentL2BlockNumber ?? (await fetchNewest(settings, l1Block))
  const known = course.pending.at(-1)?.l2BlockNumber ?? last?.l2BlockNumber
  if (known !== undefined && newest < known) throw undone(trusted, known, l1Block, `only ${newest} is`)
  const held = anchor?.blockHash ?? anchor?.stateRoot
  if (last && held !== (last.blockHash ?? last.stateRoot)) {
    const what = last.blockHash === undefined ? 'root' : 'hash'
    const now = held ? `its ${what} is ${held}` : `the contract has no ${what} of it`
    // The L1 block is of another chain.
    throw undone(trusted, last.l2BlockNumber, l1Block, now)
  }
  const after = known ?? (settings.from ?? newest) - 1n
  // If `from` is ahead of the chain, nothing is listed yet, and nothing is missed.
  const hints = newest > after ? await lister.list({ after, newest, l1After: course.listedTo, l1Block }) : []
  const implementation = anchor?.implementation
  if (last && implementation && implementation !== last.implementation) {
    const code = { 'implementation.old': last.implementation, 'implementation.new': implementation }
    onEvent?.({ name: 'follow.implementation.changed', attributes: { 'l1.block.number': Number(number), ...code } })
  }
  const next: Course = {
    ...course,
    last: last && implementation ? { ...last, implementation } : last,
    trusted: l1Block,
    listedTo: number,
    pending: [...course.pending, ...hints],
  }
  return { view: { block, l1Block, newest }, course: next }
}

function undone(trusted: L1Mark | null, l2BlockNumber: bigint, l1Block: L1Block, now: string): EndpointError {
  const nameOf = ({ number, hash }: L1Mark) => `L1 block ${number} (${hash})`
  const before = trusted === null ? 'the start' : nameOf(trusted)
  return disagreement(`L2 block ${l2BlockNumber} was final at ${before}, and at ${nameOf(l1Block)} ${now}`)
}

const disagreement = (found: string) => new EndpointError('L1_DISAGREEMENT', { found, layer: 'L1' })

/** A finalization, and the accounts that are asked for, proven. Null if the contract has nothing of it, which is proven too. */
async function prove(
  settings: Settings,
  { block, l1Block, newest }: View,
  { l2BlockNumber, states }: Hint,
): Promise<FollowedFinalization | null> {
  const { l2, rollup, requests, how, signal } = settings
  // L1 proves the time of the newest one only.
  const isTimed = l2BlockNumber === newest && rollup.layout.finalizedState !== undefined
  const hints = isTimed ? states : []
  const anchor = await unless('ANCHOR_NO_ROOT', fetchHinted(settings, l1Block, l2BlockNumber, hints))
  if (anchor === null) return null
  const { blockHash, proof, finalizedState, implementation } = anchor
  const { scheme, stateRoot, header: l2Block, block: sentBlock } = await openAnchor(settings, anchor, settings.scheme)
  const finalizedTimestamp = l2Block?.timestamp ?? anchor.finalizedTimestamp
  const bundles: FollowedFinalization['bundles'] = []
  const verified: FollowedFinalization['verified'] = []
  for (const { address, storageKeys } of requests) {
    const asked = { address, storageKeys, l2BlockNumber }
    const { answer } = await fetchState(l2, { ...asked, scheme, stateRoot }, { ...how, signal })
    const claim = { ...asked, scheme, rollup }
    const bundle = createBundle({ ...claim, answer, l2Block: sentBlock, l1: { block, proof, finalizedState } })
    // The parts were verified one by one. This verifies the whole.
    verified.push(verifyEvidence(bundle, { ...claim, trusted: { l1BlockHash: l1Block.hash } }))
    bundles.push(bundle)
  }
  const progress: FollowProgress = {
    version: 1,
    rollup: rollup.address,
    l2BlockNumber: encodeQuantity(l2BlockNumber),
    ...(anchor.stateRoot && { stateRoot }),
    ...(blockHash && { blockHash }),
    implementation,
    l1Block: { number: encodeQuantity(l1Block.number), hash: l1Block.hash },
  }
  const held = { l2BlockNumber, stateRoot, blockHash, l2Block, finalizedTimestamp, implementation }
  return { ...held, currentL2BlockNumber: newest, l1Block, verified, bundles, progress }
}

/** How long to wait after a failure, how often, and when waiting is of no use. */
function createPatience({ onEvent, skipUnavailable }: Settings, { random }: Timing) {
  /** In a row, and which part of all patience they have taken. */
  let [failures, spent, hasWorked] = [0, 0, false]
  /** In a row, without the proofs of the next finalization. */
  let missingRounds = 0
  const worked = () => {
    ;[failures, spent, hasWorked] = [0, 0, true]
  }
  return {
    worked,
    proved(): void {
      missingRounds = 0
      worked()
    },
    /** Returns if the finalization is to be skipped. @param ahead a newer one with proofs @throws why to wait for its proofs, or to end */
    missed(error: EndpointError, l2BlockNumber: bigint, ahead: Finalized | null): void {
      // One miss may be that of a node that lags behind the others at its URL. Once some are gone, so are their neighbours.
      const most = ahead !== null || isGone(error) ? MAX_MISSING_ROUNDS : MAX_LAGGING_ROUNDS
      if (++missingRounds >= most && skipUnavailable) return
      const found = `L2 block ${l2BlockNumber}${ahead ? `, while ${ahead.l2BlockNumber} is held` : ''}`
      const code = ahead && !skipUnavailable ? 'PROOF_UNAVAILABLE' : error.code
      throw new EndpointError(code, { ...error, found, layer: 'L2', cause: error })
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

function orMissing(error: unknown): EndpointError {
  if (isEndpointError(error) && isOfBlock(error)) return error
  throw error
}
