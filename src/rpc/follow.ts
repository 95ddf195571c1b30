import type { FinalizedState } from '../anchor/finalized-state.ts'
import type { L1Block } from '../anchor/header.ts'
import type { Rollup } from '../anchor/rollup.ts'
import { bytesToHex, type Hex } from '../bytes.ts'
import { ProofError } from '../errors.ts'
import { createEvidence } from '../evidence/create.ts'
import type { Evidence, VerifiedEvidence } from '../evidence/types.ts'
import { verifyEvidence } from '../evidence/verify.ts'
import { decodeArgument, decodeKeys, verifyScheme } from '../proof/claim.ts'
import type { Scheme } from '../scheme/scheme.ts'
import { diagnoseWith } from './diagnose.ts'
import { createEndpoints } from './endpoints.ts'
import { atEndpoint, isFailure, isMissing, isPassing, type Layer, RpcError } from './error.ts'
import { type ClientOptions, fetchAnswer, verifyClientOptions } from './fetch.ts'
import { type Hint, listFinalizations } from './finalizations.ts'
import { type FollowState, type L1Mark, type Position, readState, writeState } from './follow-state.ts'
import { type Anchor, fetchAnchor, fetchL1Block, fetchNewest, type L1Source } from './l1.ts'
import { argumentInvalid, verifyFunction, verifySignal, verifyWhole } from './options.ts'
import { type Provider, type SendProvider, verifyProvider } from './provider.ts'
import { redactUrls } from './redact.ts'
import { sleep } from './waiting.ts'

/** An account and its slots to prove at every finalization. */
export interface FollowRequest {
  /** 20 bytes, in upper or lower case. */
  address: Hex
  /** 32 bytes each. Default: none. */
  storageKeys?: readonly Hex[]
}

/** What happened, for logs and metrics. */
export interface FollowEvent {
  /**
   * - `follow.poll`: it asked for the trusted L1 block hash. `l1.block.number` if the block is new.
   * - `follow.finalization`: it yields an item. `l2.block.number`, `l1.block.number`, and `l2.block.timestamp` if proven.
   * - `follow.request.failed`: an endpoint failed, or its answer was refused. `layer`, `endpoint.index`, `error.type`.
   * - `follow.logs.unusable`: the logs of an L1 endpoint lack the newest finalization. `endpoint.index`.
   * - `follow.hint.refused`: an endpoint named a finalization that never was. `l2.block.number`.
   * - `follow.proof.unavailable`: no L2 endpoint has the proofs of the block. `l2.block.number`.
   * - `follow.skipped`: no L2 endpoint has these proofs any longer, and `skipUnavailable` is set. `l2.block.number`.
   * - `follow.retry`: after a failure, it waits. `retry.count`, `retry.delay` in milliseconds, `error.type`.
   */
  name:
    | 'follow.poll'
    | 'follow.finalization'
    | 'follow.request.failed'
    | 'follow.logs.unusable'
    | 'follow.hint.refused'
    | 'follow.proof.unavailable'
    | 'follow.skipped'
    | 'follow.retry'
  /** In the style of OpenTelemetry: numbers are numbers, and `error.type` is the code of the error. */
  attributes: Readonly<Record<string, string | number>>
  /** What failed. It holds no URL and no API key. */
  error?: RpcError | ProofError
}

/** The endpoints, the rollup and what to prove. */
export interface FollowOptions extends ClientOptions {
  /** One or more L1 endpoints: if one fails, the next is used. */
  l1: Provider | SendProvider | readonly (Provider | SendProvider)[]
  /** One or more endpoints of the rollup. */
  l2: Provider | SendProvider | readonly (Provider | SendProvider)[]
  /** The contract whose roots you trust. */
  rollup: Rollup
  /** The hash scheme of the rollup, or a function that returns it for an L2 block. */
  scheme: Scheme | ((l2BlockNumber: bigint) => Scheme)
  /**
   * Returns the hash of a recent finalized L1 block. Every proof rests on it. See `finalizedBlockHash`, `agreeingBlockHash` and
   * `followBeacon`, or ask a light client.
   */
  l1BlockHash: () => Promise<Hex> | Hex
  /** What to prove at every finalization. Default: only the state root. */
  requests?: readonly FollowRequest[]
  /** Start with the first finalization at or above this L2 block. Default: the newest. */
  from?: bigint
  /** The `state` of the last item that you acted on, to continue after it. `from` is then ignored. */
  state?: unknown
  /** Yield only the newest finalization that has proofs, not all of them. Default: false. */
  newestOnly?: boolean
  /** Skip a finalization whose proofs no L2 endpoint has any longer. Default: false, which throws. */
  skipUnavailable?: boolean
  /** Milliseconds between polls, give or take a tenth. Default: 60,000. */
  pollInterval?: number
  /** The longest pause after failures, in milliseconds. Pauses start at about a second and double. Default: 300,000. */
  maxBackoff?: number
  /** Called with every event. If it throws, the iteration ends with that error. */
  onEvent?: (event: FollowEvent) => void
  /** Aborts the iteration, which then throws the RpcError `ABORTED`. */
  signal?: AbortSignal
}

/** One finalization, proven. */
export interface FollowedFinalization {
  /** The last L2 block of the finalization. */
  l2BlockNumber: bigint
  /** Root of its state, 32 bytes. */
  stateRoot: Hex
  /**
   * Time of that block, in seconds since 1970; null if L1 does not prove it, because it was no longer the newest one, or no L1
   * endpoint serves the log.
   */
  finalizedTimestamp: bigint | null
  /** The last finalized L2 block at the L1 block. */
  currentL2BlockNumber: bigint
  /** The L1 block from which it is proven. */
  l1Block: L1Block
  /** What is proven for each request, in order. */
  states: Extract<VerifiedEvidence, { reach: 'l1BlockHash' }>[]
  /** One bundle per request, in order: anyone can verify the same values with it. */
  evidence: Evidence[]
  /** Save it once you have acted on the item. Pass it to a later call to continue with the next item. */
  state: FollowState
}

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
 * - `L1_DISAGREEMENT` at once: the sources of the L1 block hash contradict each other, or what was trusted before.
 * - A refusal such as a ProofError, if every endpoint causes one in 8 consecutive rounds.
 * - `PROOF_UNAVAILABLE`, if every L2 endpoint has newer blocks but not the next one, in 8 rounds.
 *
 * Guarantees: every item is proven, and newer than the one before. If the contract names the same newest block as before,
 * nothing was finalized, and that is proven. If there were several finalizations since the last poll, the logs of the L1
 * endpoints list them: one is missed only if every L1 endpoint omits it. An endpoint that omits the newest one is detected. Use
 * L1 endpoints with different operators.
 *
 * Requests per poll: one while the L1 block hash stays the same (that of `finalizedBlockHash`), three for a new L1 block
 * without a finalization. With one L1 endpoint, a finalization takes five, and one per 100 keys of each request.
 *
 * @param options the endpoints, the rollup, the source of the L1 block hash, and what to prove
 * @throws RpcError `ARGUMENT_INVALID`, ProofError `CLAIM_INVALID` for wrong options, before any request
 *
 * @example
 * ```ts
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { createHttpProvider, finalizedBlockHash, followFinalizations } from 'rollup-state-proof/rpc'
 * import { addDemoBlocks, createService, demoWorld } from 'rollup-state-proof/service'
 *
 * const rollup = { address: '0x00000000000000000000000000000000000011ff' } as const
 * const service = createService({ genesis: demoWorld(poseidon2), rollup })
 * addDemoBlocks(service.chain)
 * const { url, l1Url } = await service.listen()
 *
 * const [l1, l2] = [createHttpProvider(l1Url), createHttpProvider(url)]
 * const l1BlockHash = finalizedBlockHash(l1) // in production: from a source that you trust
 * const requests = [{ address: `0x${'b2'.repeat(20)}` }] as const
 * for await (const item of followFinalizations({ l1, l2, rollup, scheme: poseidon2, l1BlockHash, requests, from: 4n })) {
 *   console.log(item.l2BlockNumber, item.states[0]?.account?.balance)
 *   if (item.l2BlockNumber === 8n) break
 * }
 * // 4n 13n
 * // 8n 13n
 * await service.close()
 * ```
 */
export function followFinalizations(options: FollowOptions): AsyncGenerator<FollowedFinalization, void, void> {
  return followWith(options, { wait: sleep, random: Math.random })
}

/** {@link followFinalizations} with another {@link Timing}. */
export function followWith(options: FollowOptions, timing: Timing): AsyncGenerator<FollowedFinalization, void, void> {
  return follow(verifyFollowOptions(options), timing)
}

const FIRST_BACKOFF = 1_000
/** Maximum rounds in which every endpoint fails for a reason that does not pass. With growing waits, they take minutes. */
const MAX_REFUSED_ROUNDS = 8

async function* follow(settings: Settings, timing: Timing): AsyncGenerator<FollowedFinalization, void, void> {
  const { pollInterval, maxBackoff, onEvent } = settings
  const signal = settings.signal ?? new AbortController().signal
  const follower = createFollower(settings)
  const wait = async (milliseconds: number) => {
    try {
      await timing.wait(milliseconds, signal)
    } catch (error) {
      throw signal.aborted ? new RpcError('ABORTED') : error
    }
  }
  let [failures, refusals] = [0, 0]
  for (;;) {
    if (signal.aborted) throw new RpcError('ABORTED')
    let item: FollowedFinalization | null
    try {
      item = await follower.next()
    } catch (error) {
      if (!isFailure(error)) throw error
      failures++
      refusals = isPassing(error) ? 0 : refusals + 1
      if (refusals >= MAX_REFUSED_ROUNDS) throw error
      const most = Math.min(maxBackoff, FIRST_BACKOFF * 2 ** Math.min(failures - 1, 30))
      const delay = Math.round(most * (0.5 + timing.random() / 2))
      const attributes = { 'retry.count': failures, 'retry.delay': delay, 'error.type': error.code }
      onEvent?.({ name: 'follow.retry', attributes, error })
      await wait(delay)
      continue
    }
    failures = 0
    refusals = 0
    if (item === null) await wait(Math.round(pollInterval * (0.9 + timing.random() / 5)))
    else yield item
  }
}

/** A trusted L1 block, and what the contract held there. */
interface View {
  /** As the endpoint sent it. */
  readonly block: unknown
  readonly l1Block: L1Block
  readonly newest: bigint
}

function createFollower(settings: Settings): { next(): Promise<FollowedFinalization | null> } {
  const { rollup, rollupAddress, schemeAt, requests, newestOnly, skipUnavailable, signal, onEvent } = settings
  const source = { rollup, signal }
  const onFailure = (layer: Layer, index: number, error: RpcError | ProofError) => {
    const attributes = { layer, 'endpoint.index': index, 'error.type': error.code }
    onEvent?.({ name: 'follow.request.failed', attributes, error })
  }
  const l1 = createEndpoints('L1', settings.l1, onFailure)
  const l2 = createEndpoints('L2', settings.l2, onFailure)

  /** The L2 block that was yielded last. */
  let last: bigint | null = settings.position?.l2BlockNumber ?? null
  /** Everything finalized up to this L1 block has been yielded. */
  let mark: L1Mark | null = settings.position?.mark ?? null
  /** The newest trusted L1 block. */
  let trusted: L1Mark | null = mark
  let view: View | null = null
  /** Not yielded yet, oldest first: all that was finalized after `mark` and up to `listed`. */
  let pending: Hint[] = []
  let listed: L1Mark | null = mark
  /** The anchors at the L1 block of the view. */
  const anchors = new Map<bigint, Anchor | null>()
  /** Whether the endpoints have been polled since the last wait. */
  let isFresh = false

  const eventOf = (name: FollowEvent['name'], l2BlockNumber: bigint) =>
    onEvent?.({ name, attributes: { 'l2.block.number': Number(l2BlockNumber) } })

  async function poll(): Promise<void> {
    const hash = await trustedHash(settings.l1BlockHash)
    if (hash === view?.l1Block.hash) {
      onEvent?.({ name: 'follow.poll', attributes: {} })
      return
    }
    const { block, l1Block } = await l1.run(provider => fetchL1Block({ provider, signal }, hash))
    onEvent?.({ name: 'follow.poll', attributes: { 'l1.block.number': Number(l1Block.number) } })
    // A source that lags behind the last trusted block has nothing new.
    if (trusted !== null && l1Block.number < trusted.number) return
    if (trusted !== null && l1Block.number === trusted.number && l1Block.hash !== trusted.hash) {
      const found = `L1 block ${l1Block.number} had the hash ${trusted.hash}, and has the hash ${l1Block.hash} now`
      throw new RpcError('L1_DISAGREEMENT', { found, layer: 'L1' })
    }
    const newest = await l1.run(provider => fetchNewest({ ...source, provider }, l1Block))
    const known = pending.at(-1)?.l2BlockNumber ?? last
    if (known !== null && newest < known) {
      const found = `L2 block ${known} was final at ${nameOf(trusted)}, and at ${nameOf(l1Block)} only ${newest} is`
      throw new RpcError('L1_DISAGREEMENT', { found, layer: 'L1' })
    }
    if (known === null || newest > known) {
      const { from } = settings
      const begin = from === undefined ? newest - 1n : from - 1n
      const range = { after: known ?? begin, newest, l1After: listed?.number ?? null, l1Block }
      if (range.newest > range.after) {
        const useless = (index: number) =>
          onEvent?.({ name: 'follow.logs.unusable', attributes: { 'endpoint.index': index } })
        pending = [...pending, ...(await listFinalizations(l1, source, range, useless))]
      }
    }
    // A failure above has changed nothing.
    view = { block, l1Block, newest }
    trusted = { number: l1Block.number, hash: l1Block.hash }
    // If `from` is ahead of the chain, nothing is listed yet, and nothing is missed.
    listed = trusted
    if (pending.length === 0) mark = trusted
    anchors.clear()
  }

  /** What the contract says about the finalization; null if it never took place. */
  async function anchorOf({ l1Block, newest }: View, { l2BlockNumber, states }: Hint): Promise<Anchor | null> {
    const known = anchors.get(l2BlockNumber)
    if (known !== undefined) return known
    const isNewest = l2BlockNumber === newest && (rollup.layout === undefined || rollup.layout.finalizedState)
    const anchor = await l1.run(provider =>
      fetchProven({ ...source, provider }, l1Block, l2BlockNumber, isNewest ? states : []),
    )
    anchors.set(l2BlockNumber, anchor)
    return anchor
  }

  /** Everything that is proven about one finalization. @throws RpcError `BLOCK_MISSING` if no L2 endpoint holds it */
  async function prove({ block, l1Block, newest }: View, anchor: Anchor): Promise<Omit<FollowedFinalization, 'state'>> {
    const { l2BlockNumber, stateRoot, proof, finalizedState, finalizedTimestamp } = anchor
    const scheme = verifyScheme(schemeAt(l2BlockNumber))
    const evidence: Evidence[] = []
    const states: FollowedFinalization['states'] = []
    for (const { address, storageKeys } of requests) {
      const asked = { address, storageKeys, block: l2BlockNumber }
      const how = { ...settings.how, trusted: { scheme, stateRoot }, signal }
      const answer = await l2.run(provider => atEndpoint('L2', () => fetchAnswer(provider, asked, how)))
      const claim = { scheme, rollup, l2BlockNumber, address, storageKeys }
      const bundle = createEvidence({ ...claim, answer, l1: { block, proof, finalizedState } })
      // The parts were verified one by one. This verifies the whole.
      const proven = verifyEvidence(bundle, { ...claim, trusted: { l1BlockHash: l1Block.hash } })
      if (proven.reach !== 'l1BlockHash') throw new RpcError('L1_CONTRADICTION', { found: 'another kind of bundle' })
      evidence.push(bundle)
      states.push(proven)
    }
    const times = { finalizedTimestamp, currentL2BlockNumber: newest }
    return { l2BlockNumber, stateRoot, ...times, l1Block, states, evidence }
  }

  async function tryProve(at: View, hint: Hint): Promise<FollowedFinalization | 'missing' | 'refuted'> {
    const { l2BlockNumber } = hint
    const anchor = await anchorOf(at, hint)
    if (anchor === null) {
      eventOf('follow.hint.refused', l2BlockNumber)
      return 'refuted'
    }
    try {
      const proven = await prove(at, anchor)
      const rest = pending.filter(other => other.l2BlockNumber > l2BlockNumber)
      const position: Position = { l2BlockNumber, mark: rest.length === 0 ? listed : mark }
      return { ...proven, state: writeState(rollupAddress, position) }
    } catch (error) {
      if (!isMissing(error)) throw error
      eventOf('follow.proof.unavailable', l2BlockNumber)
      return 'missing'
    }
  }

  function handOut(item: FollowedFinalization): FollowedFinalization {
    const { l2BlockNumber, finalizedTimestamp, l1Block } = item
    last = l2BlockNumber
    pending = pending.filter(other => other.l2BlockNumber > l2BlockNumber)
    if (pending.length === 0) mark = listed
    const timestamp = finalizedTimestamp === null ? {} : { 'l2.block.timestamp': Number(finalizedTimestamp) }
    const blocks = { 'l2.block.number': Number(l2BlockNumber), 'l1.block.number': Number(l1Block.number) }
    onEvent?.({ name: 'follow.finalization', attributes: { ...blocks, ...timestamp } })
    return item
  }

  const drop = ({ l2BlockNumber }: Hint) => {
    pending = pending.filter(other => other.l2BlockNumber !== l2BlockNumber)
    if (pending.length === 0) mark = listed
  }

  async function nextOf(at: View): Promise<FollowedFinalization | null> {
    for (;;) {
      const [oldest] = pending
      const first = newestOnly ? pending.at(-1) : oldest
      if (first === undefined) return null
      const tried = await tryProve(at, first)
      if (typeof tried === 'object') return handOut(tried)
      if (tried === 'refuted') {
        drop(first)
        continue
      }
      // A lagging endpoint catches up. One that holds a newer block does not, unless several nodes share its URL.
      const others = newestOnly ? pending.slice(0, -1).reverse() : pending.slice(1)
      for (const hint of newestOnly ? others : others.slice(-1)) {
        const other = await tryProve(at, hint)
        if (typeof other !== 'object') continue
        if (newestOnly) return handOut(other)
        if (!skipUnavailable) throw gone(first.l2BlockNumber, hint.l2BlockNumber)
        eventOf('follow.skipped', first.l2BlockNumber)
        drop(first)
        break
      }
      if (newestOnly || pending[0] === first) {
        throw new RpcError('BLOCK_MISSING', { found: `L2 block ${first.l2BlockNumber}`, layer: 'L2' })
      }
    }
  }

  return {
    async next() {
      try {
        if (!isFresh) await poll()
        isFresh = true
        const item = view && (await nextOf(view))
        if (item === null) isFresh = false
        return item
      } catch (error) {
        isFresh = false
        throw error
      }
    },
  }
}

const gone = (missing: bigint, held: bigint) =>
  new RpcError('PROOF_UNAVAILABLE', { found: `L2 block ${missing}, while ${held} is held`, layer: 'L2' })

const nameOf = (block: L1Mark | null): string =>
  block === null ? 'the start' : `L1 block ${block.number} (${block.hash})`

/** With the timestamp, if one of the hints is right. null if the contract has no root of the block, which is proven too. */
async function fetchProven(
  source: L1Source,
  l1Block: L1Block,
  l2BlockNumber: bigint,
  states: readonly FinalizedState[],
): Promise<Anchor | null> {
  for (const state of [...states, undefined]) {
    try {
      return await fetchAnchor(source, l1Block, l2BlockNumber, state)
    } catch (error) {
      if (!(error instanceof ProofError)) throw error
      if (error.code === 'ANCHOR_NO_ROOT') return null
      if (error.code !== 'ANCHOR_FINALIZED_STATE_MISMATCH') throw error
    }
  }
  return null
}

/** @throws RpcError, or ProofError `CLAIM_INVALID` if it is not a hash */
async function trustedHash(source: FollowOptions['l1BlockHash']): Promise<Hex> {
  let hash: unknown
  try {
    hash = await source()
  } catch (error) {
    throw diagnoseWith(redactUrls, error)
  }
  return bytesToHex(decodeArgument('l1BlockHash', hash, 32))
}

type Settings = ReturnType<typeof verifyFollowOptions>

/** Checks everything before the first request. */
function verifyFollowOptions(options: FollowOptions) {
  const own = verifyClientOptions(options, [
    ...['method', 'maxKeysPerRequest', 'l1', 'l2', 'rollup', 'scheme', 'l1BlockHash', 'requests', 'from', 'state'],
    ...['newestOnly', 'skipUnavailable', 'pollInterval', 'maxBackoff', 'onEvent', 'signal'],
  ])
  const { rollup, scheme, l1BlockHash, requests = [], from, state, method, maxKeysPerRequest, onEvent, signal } = own
  const { newestOnly = false, skipUnavailable = false, pollInterval = 60_000, maxBackoff = 300_000 } = own
  const rollupAddress = bytesToHex(decodeArgument('rollup.address', rollup?.address, 20))
  if (typeof l1BlockHash !== 'function') throw argumentInvalid('l1BlockHash', 'a function', l1BlockHash)
  if (from !== undefined && (typeof from !== 'bigint' || from < 0n || from >= 1n << 64n)) {
    throw argumentInvalid('from', 'a bigint from 0 to 2^64 - 1', from)
  }
  for (const [name, value] of Object.entries({ newestOnly, skipUnavailable })) {
    if (typeof value !== 'boolean') throw argumentInvalid(name, 'true or false', value)
  }
  verifyWhole('pollInterval', pollInterval, 1, 2 ** 30)
  verifyWhole('maxBackoff', maxBackoff, 1, 2 ** 30)
  verifyFunction('onEvent', onEvent)
  verifySignal(signal)
  if (typeof scheme !== 'function') verifyScheme(scheme)
  if (!Array.isArray(requests)) throw argumentInvalid('requests', 'an array', requests)
  return {
    l1: providersOf('l1', own.l1),
    l2: providersOf('l2', own.l2),
    rollup,
    rollupAddress,
    schemeAt: typeof scheme === 'function' ? scheme : () => scheme,
    l1BlockHash,
    requests: requests.map(({ address, storageKeys = [] }: FollowRequest, index) => ({
      address: bytesToHex(decodeArgument(`requests[${index}].address`, address, 20)),
      storageKeys: decodeKeys(storageKeys).map(bytesToHex),
    })),
    from,
    position: state === undefined ? null : readState(state, rollupAddress),
    ...{ newestOnly, skipUnavailable, pollInterval, maxBackoff, onEvent, signal },
    how: { method, maxKeysPerRequest },
  }
}

function providersOf(name: string, given: FollowOptions['l1']): readonly (Provider | SendProvider)[] {
  const isList = (value: FollowOptions['l1']): value is readonly (Provider | SendProvider)[] => Array.isArray(value)
  const providers = isList(given) ? [...given] : [given]
  if (providers.length === 0) throw argumentInvalid(name, 'at least one provider', given)
  for (const [index, provider] of providers.entries())
    verifyProvider(provider, isList(given) ? `${name}[${index}]` : name)
  return providers
}
