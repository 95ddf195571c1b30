import { type Hex, isHex } from '../../base/bytes.ts'
import type { ProofErrorCode } from '../../base/error-meanings.ts'
import { ArgumentError, atPath, excerpt, isProofError, refusal } from '../../base/errors.ts'
import { encodeQuantity } from '../../base/hex.ts'
import { readOwn } from '../../base/json/known-fields.ts'
import { slotKey } from '../../verify/anchor/contract.ts'
import { ETH_PROOF_SHAPE, verifyEthProof } from '../../verify/anchor/eth-proof.ts'
import {
  decodeFinalizedStateLog,
  type FinalizedState,
  type FinalizedStateLog,
  finalizedStateTopics,
} from '../../verify/anchor/finalized-state.ts'
import { encodeHeader, type L1Block, verifyHeader } from '../../verify/anchor/header.ts'
import {
  anchorStorageKeys,
  type HeldValue,
  lineaLayout,
  type Rollup,
  type VerifiedAnchor,
  verifyAnchor,
} from '../../verify/anchor/rollup.ts'
import type { LogFilter } from '../../verify/blocks/receipts.ts'
import { type StateScheme, stateKind } from '../../verify/state/kind.ts'
import type { Endpoints } from '../sources/endpoints.ts'
import type { Work } from '../sources/pool.ts'
import { admitAnswer } from '../transport/admission.ts'
import {
  EndpointError,
  type Failure,
  isEndpointError,
  isGone,
  isMissing,
  isOfBlock,
  orFailure,
} from '../transport/error.ts'
import { BLOCKS_PER_REQUEST, HINT_MS, MAX_L1_PROOF_LENGTH, MAX_LOG_REQUESTS, MAX_LOGS } from '../transport/limits.ts'
import { type AnyProvider, callProvider } from '../transport/provider.ts'
import { redactorFor } from '../transport/redact.ts'
import { inTime } from '../transport/waiting.ts'
import { askLogs, inOrder } from './log-ranges.ts'

export interface L1Source {
  readonly l1: Endpoints
  readonly rollup: Rollup
  readonly signal: AbortSignal | undefined
  /** What the contract has to hold. Default: whichever it holds. */
  readonly holds?: HeldValue | undefined
  /** Says what counts if the contract holds a state root and a block hash of an L2 block. Default: an error. */
  readonly scheme?: StateScheme | undefined
}

/** The block tags that every L1 endpoint accepts. */
export type L1BlockTag = 'finalized' | 'safe' | 'latest'

/** An L2 block whose state root or hash the rollup contract holds, proven at an L1 block. */
export type Anchor = VerifiedAnchor & {
  readonly l2BlockNumber: bigint
  readonly currentL2BlockNumber: bigint
  readonly implementation: Hex
  /** The known fields of the `eth_getProof` answer. */
  readonly proof: unknown
  /** Proves the timestamp; undefined if the timestamp is not proven. */
  readonly finalizedState: FinalizedState | undefined
}

/** What `verify` makes of the proof of the rollup contract, from the first endpoint whose answer it accepts. */
export async function fetchProof<T>(
  { l1, rollup, signal }: L1Source,
  storageKeys: readonly Hex[],
  l1BlockNumber: bigint,
  verify: (proof: unknown) => T,
): Promise<T> {
  const params = [rollup.address, storageKeys, encodeQuantity(l1BlockNumber)]
  const outcome = await l1.run(async (provider, attempt) => {
    const redact = redactorFor(provider)
    const answer = await callProvider(provider, 'eth_getProof', params, attempt.signal)
    const limit = MAX_L1_PROOF_LENGTH * Math.ceil(storageKeys.length / 7)
    const proof = admitAnswer(answer, limit, redact, ETH_PROOF_SHAPE)
    try {
      return { value: atPath('l1.proof', () => verify(proof)) }
    } catch (error) {
      // Proven about what L1 holds, so any other endpoint would say the same.
      if (isProofError(error) && error.code.startsWith('ANCHOR_')) return { fact: error }
      throw error
    }
  }, signal)
  if ('fact' in outcome) throw outcome.fact
  return outcome.value
}

/** Unless the block was requested by hash, only the endpoint's word says that its hash is one of L1. */
export const fetchL1Block = (
  { l1, signal }: Pick<L1Source, 'l1' | 'signal'>,
  id: bigint | L1BlockTag | Hex,
): Promise<{ block: unknown; l1Block: L1Block }> =>
  l1.run(async (provider, attempt) => {
    const wanted = typeof id === 'bigint' ? encodeQuantity(id) : id
    const isHash = wanted === id && id.startsWith('0x')
    const method = isHash ? 'eth_getBlockByHash' : 'eth_getBlockByNumber'
    const block = await callProvider(provider, method, [wanted, false], attempt.signal)
    if (block === null) throw new EndpointError('BLOCK_MISSING', { found: `no block ${wanted}`, layer: 'L1' })
    const l1Block = atPath('l1.header', () => {
      const header = encodeHeader(block)
      const hasKey = redactorFor(provider).isInHex(header)
      if (hasKey) throw refusal('HEADER_MALFORMED', 'a header', 'the API key of the endpoint')
      const hash: unknown = isHash ? id : readOwn(Object(block), 'hash')
      if (isHex(hash, 32)) return verifyHeader(header, hash)
      throw refusal('HEADER_HASH_MISMATCH', 'the hash of the block', typeof hash === 'string' ? excerpt(hash) : 'none')
    })
    if (typeof id !== 'bigint' || l1Block.number === id) return { block, l1Block }
    throw contradiction(`block ${l1Block.number} for block ${id}`)
  }, signal)

/**
 * What L1 holds for an L2 block decides which it is: a state root or a block hash.
 *
 * @param finalizedState a hint with which to prove the timestamp
 * @throws ProofError `ANCHOR_NO_ROOT` if the block is not the last one of a finalization, and what `verifyAnchor` throws
 */
export async function fetchAnchor(
  source: L1Source,
  l1Block: L1Block,
  l2BlockNumber: bigint,
  finalizedState?: FinalizedState,
): Promise<Anchor> {
  const { rollup, holds, scheme } = source
  const keys = anchorStorageKeys({ rollup, l2BlockNumber, finalizedState })
  const claim = { l1StateRoot: l1Block.stateRoot, rollup, l2BlockNumber, holds, finalizedState }
  const verify = (proof: unknown): VerifiedAnchor => {
    try {
      return verifyAnchor(proof, claim)
    } catch (error) {
      if (scheme === undefined || !isProofError(error) || error.code !== 'ANCHOR_AMBIGUOUS') throw error
      return verifyAnchor(proof, { ...claim, holds: stateKind(scheme).held })
    }
  }
  return fetchProof(source, keys, l1Block.number, proof => {
    const { currentL2BlockNumber, implementation, ...proven } = verify(proof)
    // The keys ask for both. Nobody could tell otherwise whether the block is the newest, and whether the code has changed.
    if (currentL2BlockNumber === undefined || implementation === undefined) {
      throw new EndpointError('ANSWER_MALFORMED', { found: 'too few slots' })
    }
    return { l2BlockNumber, proof, finalizedState, currentL2BlockNumber, implementation, ...proven }
  })
}

/**
 * With the timestamp, if the block is the newest, the layout has slots for it, and an endpoint serves the log. If the hints are wrong,
 * or the contract has another layout, what is proven without a hint stays proven.
 */
export async function fetchTimestamp(source: L1Source, l1Block: L1Block, anchor: Anchor): Promise<Anchor> {
  const { l2BlockNumber, currentL2BlockNumber } = anchor
  const timed = l2BlockNumber === currentL2BlockNumber ? await fetchTimed(source, l1Block, l2BlockNumber) : null
  return timed ?? anchor
}

/** The anchor of the newest finalization with its timestamp; null if that cannot be proven. */
export async function fetchTimed(source: L1Source, l1Block: L1Block, l2BlockNumber: bigint): Promise<Anchor | null> {
  const { finalizedState: isKept } = source.rollup.layout ?? lineaLayout
  if (isKept === undefined) return null
  const work: Work<AnyProvider, Anchor | null> = async (provider, { signal }) => {
    const own = { ...source, signal }
    const hint = await fetchFinalizedState(provider, own, l1Block.number, l2BlockNumber)
    return hint && fetchHinted(own, l1Block, l2BlockNumber, hint)
  }
  const fetchFirst = async (signal: AbortSignal): Promise<Anchor | null> => {
    for await (const one of source.l1.each(work, { signal, atOnce: 1 })) {
      if ('error' in one) throw one.error
      if (one.value !== null) return one.value
    }
    return null
  }
  return inTime(HINT_MS, fetchFirst, source.signal).catch(error => {
    if (isEndpointError(error) && error.code === 'TIMEOUT') return null
    throw error
  })
}

export async function unless<T>(code: ProofErrorCode, work: Promise<T>): Promise<T | null> {
  try {
    return await work
  } catch (error) {
    if (isProofError(error) && error.code === code) return null
    throw error
  }
}

const fetchHinted = (...args: Required<Parameters<typeof fetchAnchor>>): Promise<Anchor | null> =>
  unless('ANCHOR_FINALIZED_STATE_MISMATCH', fetchAnchor(...args))

/** With the timestamp, if it is the newest one, whose time L1 proves, and one of the hints is right. */
export async function fetchNamed(
  source: L1Source,
  l1Block: L1Block,
  newest: bigint,
  { l2BlockNumber, states }: { readonly l2BlockNumber: bigint; readonly states: readonly FinalizedState[] },
): Promise<Anchor> {
  const { finalizedState } = source.rollup.layout ?? lineaLayout
  for (const hint of finalizedState && l2BlockNumber === newest ? states : []) {
    const anchor = await fetchHinted(source, l1Block, l2BlockNumber, hint)
    if (anchor !== null) return anchor
  }
  return fetchAnchor(source, l1Block, l2BlockNumber)
}

/**
 * A hint, which `verifyAnchor` proves; null if the endpoint serves no logs, or none of this finalization.
 *
 * @throws EndpointError `ABORTED` and nothing else
 */
export async function fetchFinalizedState(
  provider: AnyProvider,
  source: L1Source,
  l1BlockNumber: bigint,
  l2BlockNumber: bigint,
): Promise<FinalizedState | null> {
  const topics = [finalizedStateTopics, slotKey(l2BlockNumber)]
  const oldest = l1BlockNumber - MAX_LOG_REQUESTS * BLOCKS_PER_REQUEST + 1n
  try {
    for await (const { logs } of walkLogs(provider, source, topics, l1BlockNumber, oldest > 0n ? oldest : 0n)) {
      // If there are several, the newest counts.
      const log = logs.find(log => log.l2BlockNumber === l2BlockNumber)
      if (log) return log.finalizedState
    }
  } catch (error) {
    orFailure(error)
  }
  return null
}

/**
 * The contract's logs of finalizations, newest first, one list per request, from `first` on. They are hints.
 *
 * @throws EndpointError `L1_HISTORY_MISSING` if the endpoint says that it has older ones no more
 */
export async function* walkLogs(
  provider: AnyProvider,
  { rollup, signal }: L1Source,
  topics: NonNullable<LogFilter['topics']>,
  newest: bigint,
  oldest: bigint,
): AsyncGenerator<{ first: bigint; logs: FinalizedStateLog[] }, void> {
  const filter = { address: rollup.address, topics }
  const range = { first: oldest, last: newest }
  try {
    for await (const { first, logs } of askLogs(provider, filter, range, { signal, isBackwards: true })) {
      if (!Array.isArray(logs) || logs.length > MAX_LOGS) {
        throw new EndpointError('ANSWER_MALFORMED', { found: 'no logs', layer: 'L1' })
      }
      const decoded = inOrder(logs).map(decodeFinalizedStateLog)
      yield { first, logs: decoded.filter(log => log !== undefined).reverse() }
    }
  } catch (error) {
    if (!isEndpointError(error) || !isOfPast(error)) throw error
    throw new EndpointError('L1_HISTORY_MISSING', { ...error, layer: 'L1', cause: error })
  }
}

/** A public endpoint asks for a key when it is asked for old blocks, and for nothing else. */
const isOfPast = (error: EndpointError) => isGone(error) || /archive/i.test(error.said ?? '')

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

/** The last finalized L2 block, proven. */
export async function fetchNewest(source: L1Source, { stateRoot, number }: L1Block): Promise<bigint> {
  const { address, layout = lineaLayout } = source.rollup
  const storageKeys = [slotKey(layout.currentL2BlockNumber)]
  const claim = { l1StateRoot: stateRoot, address, storageKeys }
  const { storage } = await fetchProof(source, storageKeys, number, proof => verifyEthProof(proof, claim))
  const newest = BigInt(storage[0]?.value ?? 0)
  if (newest < 1n << 64n) return newest
  const expected = 'a rollup contract that keeps currentL2BlockNumber in this slot'
  throw new ArgumentError({ path: 'rollup', expected })
}

/** `currentL2BlockNumber` at an L1 block. Not proven. */
export async function readCurrent(
  provider: AnyProvider,
  { rollup, signal }: L1Source,
  at: bigint | L1BlockTag,
): Promise<bigint> {
  const { address, layout = lineaLayout } = rollup
  const params = [address, slotKey(layout.currentL2BlockNumber), typeof at === 'bigint' ? encodeQuantity(at) : at]
  const value = await callProvider(provider, 'eth_getStorageAt', params, signal)
  const current = typeof value === 'string' && /^0x[0-9a-f]{1,64}$/i.test(value) ? BigInt(value) : null
  if (current !== null && current < 1n << 64n) return current
  throw new EndpointError('ANSWER_MALFORMED', { found: 'something that is not the number of a block', layer: 'L1' })
}

export const invented = (l2BlockNumber: bigint): EndpointError =>
  contradiction(`it named L2 block ${l2BlockNumber}, of which the contract has neither root nor hash`)

export const contradiction = (found: string) => new EndpointError('L1_CONTRADICTION', { found, layer: 'L1' })
