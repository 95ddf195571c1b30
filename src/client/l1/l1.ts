import { type Hex, isHex } from '../../base/bytes.ts'
import { ArgumentError, atPath, excerpt, isProofError, refusal } from '../../base/errors.ts'
import { encodeQuantity } from '../../base/hex.ts'
import { readOwn } from '../../base/json/known-fields.ts'
import { slotKey } from '../../verify/anchor/contract.ts'
import { ETH_PROOF_SHAPE, verifyEthProof } from '../../verify/anchor/eth-proof.ts'
import type { FinalizedState } from '../../verify/anchor/finalized-state.ts'
import { encodeHeader, type L1Block, verifyHeader } from '../../verify/anchor/header.ts'
import type { HeldValue } from '../../verify/anchor/rollup.ts'
import { anchorStorageKeys, type VerifiedAnchor, verifyAnchor } from '../../verify/anchor/verify.ts'
import { ETHEREUM, type StateScheme, stateKind } from '../../verify/state/kind.ts'
import type { Endpoints, Work } from '../sources/endpoints.ts'
import { type BlockSource, fetchHeader } from '../sources/headers.ts'
import { admitAnswer } from '../transport/admission.ts'
import { EndpointError, type Failure, isEndpointError } from '../transport/error.ts'
import { HINT_MS, MAX_L1_PROOF_LENGTH } from '../transport/limits.ts'
import type { OpenProvider } from '../transport/provider.ts'
import { inTime } from '../transport/waiting.ts'
import { type Contract, readFinalizedState } from './log-ranges.ts'

/** The block tags that every L1 endpoint accepts. */
export type L1BlockTag = 'finalized' | 'safe' | 'latest'

export interface L1Source extends Contract {
  readonly l1: Endpoints
  /** What the contract has to hold. Default: whichever it holds. */
  readonly holds?: HeldValue | undefined
  /** Says what counts if the contract holds a state root and a block hash of an L2 block. Default: an error. */
  readonly scheme?: StateScheme | undefined
}

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
    const answer = await provider.call('eth_getProof', params, attempt.signal)
    const limit = MAX_L1_PROOF_LENGTH * Math.ceil(storageKeys.length / 7)
    const proof = admitAnswer(answer, limit, provider.redact, ETH_PROOF_SHAPE)
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
export const fetchL1Block = ({ l1, signal }: Pick<L1Source, 'l1' | 'signal'>, id: bigint | L1BlockTag | Hex) =>
  l1.run<{ block: unknown; l1Block: L1Block }>(async (provider, attempt) => {
    const wanted = typeof id === 'bigint' ? encodeQuantity(id) : id
    const isHash = wanted === id && id.startsWith('0x')
    const method = isHash ? 'eth_getBlockByHash' : 'eth_getBlockByNumber'
    const block = await provider.call(method, [wanted, false], attempt.signal)
    if (block === null) throw new EndpointError('BLOCK_MISSING', { found: `no block ${id}`, layer: 'L1' })
    const l1Block = atPath('l1.header', () => {
      const header = encodeHeader(block)
      const hasKey = provider.redact.isInHex(header)
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
 * @param hint with which to prove the timestamp
 * @throws ProofError `ANCHOR_NO_ROOT` if the block is not the last one of a finalization, and what `verifyAnchor` throws
 */
export async function fetchAnchor(source: L1Source, l1Block: L1Block, l2BlockNumber: bigint, hint?: FinalizedState) {
  const { rollup, holds, scheme } = source
  const keys = anchorStorageKeys({ rollup, l2BlockNumber, finalizedState: hint })
  const claim = { l1StateRoot: l1Block.stateRoot, rollup, l2BlockNumber, holds, finalizedState: hint }
  const verify = (proof: unknown): VerifiedAnchor => {
    try {
      return verifyAnchor(proof, claim)
    } catch (error) {
      if (scheme === undefined || !isProofError(error) || error.code !== 'ANCHOR_AMBIGUOUS') throw error
      return verifyAnchor(proof, { ...claim, holds: stateKind(scheme).held })
    }
  }
  return fetchProof<Anchor>(source, keys, l1Block.number, proof => {
    const { currentL2BlockNumber, implementation, ...proven } = verify(proof)
    // The keys ask for both. Nobody could tell otherwise whether the block is the newest, and whether the code has changed.
    if (currentL2BlockNumber === undefined || implementation === undefined) {
      throw new EndpointError('ANSWER_MALFORMED', { found: 'too few slots' })
    }
    return { l2BlockNumber, proof, finalizedState: hint, currentL2BlockNumber, implementation, ...proven }
  })
}

/** With the timestamp, if one of these hints at it is right. */
export async function fetchHinted(
  source: L1Source,
  l1Block: L1Block,
  l2BlockNumber: bigint,
  hints: readonly FinalizedState[],
): Promise<Anchor> {
  for (const hint of hints) {
    const anchor = await unless('ANCHOR_FINALIZED_STATE_MISMATCH', fetchAnchor(source, l1Block, l2BlockNumber, hint))
    if (anchor !== null) return anchor
  }
  return fetchAnchor(source, l1Block, l2BlockNumber)
}

/**
 * With the timestamp, if the block is the newest, the layout has slots for it, and an endpoint serves the log. If the hints are wrong,
 * or the contract has another layout, what is proven without a hint stays proven.
 */
export async function fetchTimestamp(source: L1Source, l1Block: L1Block, anchor: Anchor): Promise<Anchor> {
  const isNewest = anchor.l2BlockNumber === anchor.currentL2BlockNumber
  return (isNewest && (await fetchTimed(source, l1Block, anchor.l2BlockNumber))) || anchor
}

/** The anchor of the newest finalization with its timestamp; null if that cannot be proven. */
export async function fetchTimed(source: L1Source, l1Block: L1Block, l2BlockNumber: bigint): Promise<Anchor | null> {
  if (source.rollup.layout.finalizedState === undefined) return null
  const work: Work<OpenProvider, Anchor | null> = async (provider, { signal }) => {
    const own = { ...source, signal }
    const hint = await readFinalizedState(provider, own, l1Block.number, l2BlockNumber)
    return hint && unless('ANCHOR_FINALIZED_STATE_MISMATCH', fetchAnchor(own, l1Block, l2BlockNumber, hint))
  }
  const fetchFirst = async (signal: AbortSignal): Promise<Anchor | null> => {
    for await (const one of source.l1.each(work, { signal, atOnce: 1 })) {
      if ('error' in one) throw one.error
      if (one.value !== null) return one.value
    }
    return null
  }
  return unless('TIMEOUT', inTime(HINT_MS, fetchFirst, source.signal))
}

export const unless = <T>(code: Failure['code'], work: Promise<T>): Promise<T | null> =>
  work.catch(error => {
    if ((isProofError(error) || isEndpointError(error)) && error.code === code) return null
    throw error
  })

/** `currentL2BlockNumber` at an L1 block. Not proven. */
export async function readCurrent(provider: OpenProvider, { rollup, signal }: Contract, at: bigint | 'finalized') {
  const { address, layout } = rollup
  const params = [address, slotKey(layout.currentL2BlockNumber), typeof at === 'bigint' ? encodeQuantity(at) : at]
  const value = await provider.call('eth_getStorageAt', params, signal)
  const current = typeof value === 'string' && /^0x[0-9a-f]{1,64}$/i.test(value) ? BigInt(value) : null
  if (current !== null && current < 1n << 64n) return current
  throw new EndpointError('ANSWER_MALFORMED', { found: 'something that is not the number of a block', layer: 'L1' })
}

/** The last finalized L2 block, proven. @param isTrusted whether no endpoint can have invented the L1 block */
export async function fetchNewest(source: L1Source, { stateRoot, number }: L1Block, isTrusted = true): Promise<bigint> {
  const { address, layout } = source.rollup
  const storageKeys = [slotKey(layout.currentL2BlockNumber)]
  const claim = { l1StateRoot: stateRoot, address, storageKeys }
  const { storage } = await fetchProof(source, storageKeys, number, proof => verifyEthProof(proof, claim))
  const newest = BigInt(storage[0]?.value ?? 0)
  if (newest < 1n << 64n) return newest
  const expected = 'a rollup contract that keeps currentL2BlockNumber in this slot'
  throw isTrusted
    ? new ArgumentError({ path: 'rollup', expected })
    : contradiction(`L1 block ${number} lacks ${expected}`)
}

export const invented = (l2BlockNumber: bigint): EndpointError =>
  contradiction(`it named L2 block ${l2BlockNumber}, of which the contract has neither root nor hash`)

export const contradiction = (found: string) => new EndpointError('L1_CONTRADICTION', { found, layer: 'L1' })

/**
 * The root of the state after an L2 block, and the kind of that state: L1 decides both. If it holds the hash of the block, the header
 * is the one with that hash, whatever the caller's scheme is: that one is about state roots.
 *
 * @throws ProofError `ANCHOR_NO_ROOT` if L1 holds a state root, and the caller's kind takes the hash; EndpointError
 */
export async function openAnchor(source: BlockSource, anchor: Anchor, stated: StateScheme) {
  const { l2BlockNumber: number, stateRoot, blockHash } = anchor
  const { name, scheme, held } = stateKind(blockHash === undefined ? stated : ETHEREUM)
  if (blockHash !== undefined) {
    const { header, block } = await fetchHeader(source, { hash: blockHash, number })
    return { scheme, stateRoot: header.stateRoot, header, block }
  }
  if (held === 'stateRoot') return { scheme, stateRoot, header: undefined, block: undefined }
  throw refusal('ANCHOR_NO_ROOT', `the hash of L2 block ${number}, because the scheme is '${name}'`, 'its state root')
}
