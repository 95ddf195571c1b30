import type { L1Block } from '../anchor/header.ts'
import { decodeArgument } from '../arguments.ts'
import { bytesToHex, type Hex } from '../bytes.ts'
import { isProofError, type ProofError } from '../errors.ts'
import { EndpointError, isMissing } from '../rpc/error.ts'
import {
  fetchAnchor,
  fetchL1Block,
  fetchNewest,
  fetchTimed,
  type L1Source,
  requireRoot,
  walkAnchors,
} from '../rpc/l1.ts'
import { orAbort } from '../rpc/provider.ts'
import { hashSchemeOf } from '../scheme/genuine.ts'
import type { Scheme } from '../scheme/scheme.ts'
import { createVerifier, type Verifier } from '../verifier/verifier.ts'
import { createCache } from './cache.ts'
import { refusedFor } from './error.ts'
import type { KnownCodes } from './known-codes.ts'
import type { ProviderView, VerifiedOptions } from './options.ts'
import { createProvenState, type ProvenState } from './proven-state.ts'
import { NOBODY } from './state-reader.ts'

/** A proven block with its state. */
export interface Held extends Omit<ProviderView, 'ageSeconds'> {
  readonly state: ProvenState
  /** The last finalized L2 block at the L1 block. */
  readonly newest: bigint
}

/**
 * The newest block that is proven as a block, with its header, transactions and logs: the state after a block holds the hashes
 * of those before it, not its own.
 */
export const newestIn = ({ l2BlockNumber }: Pick<Held, 'l2BlockNumber'>): bigint =>
  l2BlockNumber === 0n ? 0n : l2BlockNumber - 1n

/** What users see of it. */
export function describe({ l2BlockNumber, stateRoot, l1Block, timestamp }: Held): ProviderView {
  const since = timestamp ?? l1Block.timestamp
  const ageSeconds = Math.max(0, Math.floor(Date.now() / 1000) - Number(since))
  return { l2BlockNumber, stateRoot, l1Block: { ...l1Block }, timestamp, ageSeconds }
}

/** Where views come from. */
export type ViewSource = Pick<
  VerifiedOptions,
  'l1' | 'l2' | 'rollup' | 'schemeAt' | 'l1BlockHash' | 'method' | 'maxKeysPerRequest' | 'maxFinalizations' | 'signal'
> & {
  /** Shared by all views. */
  readonly codes: KnownCodes
}

export type Views = ReturnType<typeof createViews>

export function createViews(source: ViewSource) {
  const { l1, l2, rollup, schemeAt, method, maxKeysPerRequest, maxFinalizations, signal, codes } = source
  const l1Source: L1Source = { l1, rollup, signal }
  // There are two schemes. A `schemeAt` that creates a new object each time must not fill the memory.
  const verifiers = createCache<Scheme, Verifier>(2)

  function stateOf(block: bigint, stateRoot: Hex): ProvenState {
    const scheme = hashSchemeOf(schemeAt(block))
    const verifier = verifiers.get(scheme) ?? createVerifier(scheme)
    verifiers.set(scheme, verifier, 1)
    return createProvenState({ l2, block, stateRoot, method, maxKeysPerRequest, scheme, verifier, codes })
  }

  /** The last finalized L2 block at this L1 block, and the view as it is proven from there. */
  async function look(current: Held | null, l1Block: L1Block): Promise<{ newest: bigint; kept: Held | null }> {
    if (current === null) return { newest: await fetchNewest(l1Source, l1Block), kept: null }
    const { l2BlockNumber, stateRoot, newest } = current
    if (l1Block === current.l1Block) return { newest, kept: current }
    const anchor = await fetchAnchor(l1Source, l1Block, l2BlockNumber).then(requireRoot).catch(orUnproven)
    if (isProofError(anchor)) return { newest: await fetchNewest(l1Source, l1Block), kept: current }
    verifySame(`L2 block ${l2BlockNumber}`, 'root', stateRoot, anchor.stateRoot)
    const { currentL2BlockNumber } = anchor
    return { newest: currentL2BlockNumber, kept: { ...current, l1Block, newest: currentL2BlockNumber } }
  }

  /** The newest finalization whose proofs the L2 endpoint has; otherwise what is kept, if nothing is above it. */
  async function walk(kept: Held | null, l1Block: L1Block, newest: bigint): Promise<Held> {
    const tried: bigint[] = []
    for await (const anchor of walkAnchors(l1Source, l1Block, maxFinalizations, newest)) {
      const { l2BlockNumber, stateRoot } = requireRoot(anchor)
      if (kept !== null && l2BlockNumber <= kept.l2BlockNumber) return kept
      const state = stateOf(l2BlockNumber, stateRoot)
      if (await isHeld(state)) return { l2BlockNumber, stateRoot, l1Block, newest, timestamp: undefined, state }
      tried.push(l2BlockNumber)
    }
    if (kept !== null) return kept
    throw new EndpointError('PROOF_UNAVAILABLE', { found: `tried ${tried.join(', ')}`, layer: 'L2' })
  }

  return {
    /**
     * The newest view, or `current` if nothing newer is proven.
     *
     * @throws the error with which an endpoint's answer is refused; EndpointError `L1_DISAGREEMENT` if a final block has changed
     */
    async find(current: Held | null): Promise<Held> {
      // Meanwhile, L2 says which chain it serves. If that fails, it is asked again by what needs it.
      if (current === null) l2.run(async () => {}).catch(() => {})
      const hash = bytesToHex(decodeArgument('l1BlockHash', await orAbort(source.l1BlockHash, signal), 32))
      const l1Block = hash === current?.l1Block.hash ? current.l1Block : (await fetchL1Block(l1Source, hash)).l1Block
      const { number } = l1Block
      if (current !== null && number < current.l1Block.number) return current
      if (number === current?.l1Block.number) verifySame(`L1 block ${number}`, 'hash', current.l1Block.hash, hash)

      const { newest, kept } = await look(current, l1Block)
      if (kept !== null && newest < kept.l2BlockNumber) return kept
      if (kept?.l2BlockNumber === newest && kept.timestamp !== undefined) return kept
      // L1 proves the timestamp of the newest finalization only. Waited for last, so that an earlier error counts.
      const timed = fetchTimed(l1Source, l1Block, newest)
      timed.catch(() => {})
      const found = kept?.l2BlockNumber === newest ? kept : await walk(kept, l1Block, newest)
      if (found.l2BlockNumber !== newest) return found
      return { ...found, timestamp: (await timed)?.finalizedTimestamp }
    },
    /** The view of another block, if L1 holds its state root. @throws ProviderError `BLOCK_UNPROVEN` */
    async findAt({ l1Block, newest }: Held, l2BlockNumber: bigint): Promise<Held> {
      const anchor = await fetchAnchor(l1Source, l1Block, l2BlockNumber).then(requireRoot).catch(orUnproven)
      if (isProofError(anchor)) throw refusedFor('BLOCK_UNPROVEN', { cause: anchor })
      const state = stateOf(l2BlockNumber, anchor.stateRoot)
      return { l2BlockNumber, stateRoot: anchor.stateRoot, l1Block, newest, timestamp: undefined, state }
    },
  }
}

/** For `catch`: that L1 holds no root of the block, as a value. Anything else is thrown again. */
function orUnproven(error: unknown): ProofError {
  if (isProofError(error) && ['ANCHOR_NO_ROOT', 'ANCHOR_BLOCK_AHEAD'].includes(error.code)) return error
  throw error
}

/** What is final never changes. */
function verifySame(block: string, what: string, before: Hex, now: Hex): void {
  if (before === now) return
  const found = `${block} had the ${what} ${before}, and has the ${what} ${now} now`
  throw new EndpointError('L1_DISAGREEMENT', { found, layer: 'L1' })
}

/** Asks for the default sender of calls, which most of them read. */
async function isHeld(state: ProvenState): Promise<boolean> {
  try {
    await state.getAccount(NOBODY)
    return true
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}
