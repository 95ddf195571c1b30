import type { L1Block } from '../anchor/header.ts'
import { decodeArgument } from '../arguments.ts'
import { bytesToHex, type Hex } from '../bytes.ts'
import { isProofError } from '../errors.ts'
import { EndpointError, isMissing } from '../rpc/error.ts'
import { type Anchor, fetchAnchor, fetchL1Block, fetchTimestamp, type L1Source, walkAnchors } from '../rpc/l1.ts'
import { orAbort } from '../rpc/provider.ts'
import { hashSchemeOf } from '../scheme/genuine.ts'
import type { Scheme } from '../scheme/scheme.ts'
import { createVerifier, type Verifier } from '../verifier/verifier.ts'
import { createCache } from './cache.ts'
import { NOBODY } from './call-request.ts'
import { refusedFor } from './error.ts'
import type { ProviderView, VerifiedOptions } from './options.ts'
import { createProvenState, type ProvenState } from './proven-state.ts'

/** A proven block with its state. */
export interface Held extends Omit<ProviderView, 'ageSeconds'> {
  readonly state: ProvenState
}

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
>

export type Views = ReturnType<typeof createViews>

export function createViews(source: ViewSource) {
  const { l1, l2, rollup, schemeAt, method, maxKeysPerRequest, maxFinalizations, signal } = source
  const l1Source: L1Source = { l1, rollup, signal }
  // There are two schemes. A `schemeAt` that creates a new object each time must not fill the memory.
  const verifiers = createCache<Scheme, Verifier>(2)

  function stateOf(block: bigint, stateRoot: Hex): ProvenState {
    const scheme = hashSchemeOf(schemeAt(block))
    const verifier = verifiers.get(scheme) ?? createVerifier(scheme)
    verifiers.set(scheme, verifier, 1)
    return createProvenState({ l2, block, stateRoot, method, maxKeysPerRequest, scheme, verifier })
  }

  /** At this finalization; null if the L2 endpoint does not have its proofs. */
  async function hold(current: Held | null, l1Block: L1Block, anchor: Anchor): Promise<Held | null> {
    const { l2BlockNumber, stateRoot } = anchor
    const same = current?.l2BlockNumber === l2BlockNumber ? current : null
    if (same !== null) verifySame(`L2 block ${l2BlockNumber}`, 'root', same.stateRoot, stateRoot)
    const state = same?.state ?? stateOf(l2BlockNumber, stateRoot)
    if (same === null && !(await isHeld(state))) return null
    // Keep a proven timestamp, because L1 holds it only for the newest finalization.
    const timestamp = same?.timestamp ?? (await fetchTimestamp(l1Source, l1Block, anchor)).finalizedTimestamp
    return { l2BlockNumber, stateRoot, l1Block, timestamp, state }
  }

  return {
    /**
     * The newest view, or `current` if nothing newer is proven.
     *
     * @throws the error with which an endpoint's answer is refused; EndpointError `L1_DISAGREEMENT` if a final block has changed
     */
    async find(current: Held | null): Promise<Held> {
      const hash = bytesToHex(decodeArgument('l1BlockHash', await orAbort(source.l1BlockHash, signal), 32))
      const { l1Block } = await fetchL1Block(l1Source, hash)
      const { number } = l1Block
      if (current !== null && number < current.l1Block.number) return current
      if (number === current?.l1Block.number)
        verifySame(`L1 block ${number}`, 'hash', current.l1Block.hash, l1Block.hash)
      const tried: bigint[] = []
      for await (const anchor of walkAnchors(l1Source, l1Block, maxFinalizations)) {
        if (current !== null && anchor.l2BlockNumber < current.l2BlockNumber) return current
        const held = await hold(current, l1Block, anchor)
        if (held !== null) return held
        tried.push(anchor.l2BlockNumber)
      }
      if (current !== null) return current
      throw new EndpointError('PROOF_UNAVAILABLE', { found: `tried ${tried.join(', ')}`, layer: 'L2' })
    },
    /** The view of another block, if L1 holds its state root. @throws ProviderError `BLOCK_UNPROVEN` */
    async findAt({ l1Block }: Held, l2BlockNumber: bigint): Promise<Held> {
      try {
        const { stateRoot } = await fetchAnchor(l1Source, l1Block, l2BlockNumber)
        const state = stateOf(l2BlockNumber, stateRoot)
        return { l2BlockNumber, stateRoot, l1Block, timestamp: undefined, state }
      } catch (error) {
        const isUnproven = isProofError(error) && ['ANCHOR_NO_ROOT', 'ANCHOR_BLOCK_AHEAD'].includes(error.code)
        if (isUnproven) throw refusedFor('BLOCK_UNPROVEN', { cause: error })
        throw error
      }
    },
  }
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
