import { createEvidence, type Evidence, type VerifiedEvidence, verifyEvidence } from '../anchor/evidence.ts'
import type { L1Block } from '../anchor/header.ts'
import type { Rollup } from '../anchor/rollup.ts'
import type { Hex } from '../bytes.ts'
import { decodeArgument, decodeKeys, verifyScheme } from '../proof/claim.ts'
import type { Scheme } from '../scheme/scheme.ts'
import { atEndpoint, RpcError } from './error.ts'
import { type ClientOptions, fetchAnswer, type KeptAnswer, verifyOptions } from './fetch.ts'
import { type Anchor, fetchAnchor, fetchL1Block, type L1BlockTag, type L1Source, walkAnchors } from './l1.ts'
import { type Provider, parseQuantity } from './provider.ts'

/** What to have evidence of. */
export interface EvidenceRequest {
  /** The one that the rollup uses at that block. */
  scheme: Scheme
  /** The contract whose roots you believe. */
  rollup: Rollup
  /** 20 bytes, any case. */
  address: Hex
  /** 32 bytes each. None when left out. */
  storageKeys?: readonly Hex[]
  /** The last block of a finalization. When left out, the newest one of which the L2 endpoint holds the proof. */
  l2BlockNumber?: bigint | undefined
}

/** How to record. */
export interface RecordOptions extends ClientOptions {
  /** From which to prove. `finalized` when left out. */
  l1Block?: bigint | L1BlockTag
  /** How many finalizations to try, from the newest back. 8 when left out. */
  maxFinalizations?: number
  /** What an earlier call handed to `onProgress`, to go on from there. */
  kept?: unknown
  /** Told of every step. */
  onProgress?: (progress: RecordProgress) => void
  /** Ends the recording. */
  signal?: AbortSignal
}

/** What was done. */
export type RecordProgress =
  | {
      /** The L1 block is there. */
      step: 'l1Block'
      /** From which all is proven. */
      l1Block: L1Block
    }
  | {
      /** The rollup contract has the state root of this L2 block; the L2 endpoint is asked for its proof. */
      step: 'l2Block'
      /** The last block of a finalization. */
      l2BlockNumber: bigint
    }
  | {
      /** The L2 endpoint does not hold the proof of this block. */
      step: 'notHeld'
      /** The last block of a finalization. */
      l2BlockNumber: bigint
    }
  | {
      /** The answer for some of the keys is there, and verified. */
      step: 'keys'
      /** For how many of them. */
      keyCount: number
      /** What to hand to a later call, to go on from here. */
      kept: KeptAnswer
    }

/** A bundle, and what it proves. */
export interface Recorded {
  /** JSON; verified. */
  bundle: Evidence
  /** What the bundle proves to whoever trusts the hash in its `l1Block`. Here the L1 endpoint alone says so. */
  evidence: Extract<VerifiedEvidence, { reach: 'l1BlockHash' }>
}

/**
 * Records an evidence bundle: finds the newest finalized L2 block whose proof the L2 endpoint holds, and fetches the L1
 * header, the proof of the rollup contract and the answer. Everything is verified when it comes, and the bundle as a whole
 * in the end. What is left to you is the L1 block hash: compare it with a source that you trust.
 *
 * @param l1 provider of the L1 on which the rollup is finalized
 * @param l2 provider of the rollup
 * @param request what to have evidence of
 * @param options from which L1 block, and how
 * @throws RpcError with the `layer` of the endpoint that failed: `NONE_HELD`, `L1_HISTORY_MISSING`, `L1_CONTRADICTION`, ...;
 * ProofError when what came does not verify, `CLAIM_INVALID` when the request itself is wrong
 *
 * @example
 * ```ts
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { createHttpProvider, recordEvidence } from 'rollup-state-proof/rpc'
 * import { addDemoBlocks, createService, demoWorld } from 'rollup-state-proof/service'
 *
 * const rollup = { name: 'devnet', address: '0x00000000000000000000000000000000000011ff' } as const
 * const service = createService({ genesis: demoWorld(poseidon2), rollup })
 * addDemoBlocks(service.chain)
 * const { url, l1Url } = await service.listen()
 *
 * const address = `0x${'b2'.repeat(20)}` as const
 * const [l1, l2] = [createHttpProvider(l1Url), createHttpProvider(url)]
 * const { evidence } = await recordEvidence(l1, l2, { scheme: poseidon2, rollup, address })
 * console.log(evidence.account?.balance, evidence.l2BlockNumber, evidence.l1Block.number) // 13n 8n 63n
 * await service.close()
 * ```
 */
export async function recordEvidence(
  l1: Provider,
  l2: Provider,
  request: EvidenceRequest,
  options: RecordOptions = {},
): Promise<Recorded> {
  const { scheme, rollup, address, storageKeys = [] } = request
  const { l1Block: l1BlockId = 'finalized', maxFinalizations = 8, kept, onProgress, signal, ...how } = options
  const source = { provider: l1, rollup, signal }
  // All of it before anybody is asked.
  verifyScheme(scheme)
  decodeArgument('rollup.address', rollup?.address, 20)
  decodeArgument('address', address, 20)
  decodeKeys(storageKeys)
  verifyOptions(how)

  const { block, l1Block } = await fetchL1Block(source, l1BlockId)
  onProgress?.({ step: 'l1Block', l1Block })

  /** The bundle for this block; null when the L2 endpoint does not hold it. */
  async function recordAt({ l2BlockNumber, stateRoot, proof }: Anchor): Promise<Evidence | null> {
    let hasBegun = false
    const onKept = (kept: KeptAnswer, keyCount: number) => {
      hasBegun = true
      onProgress?.({ step: 'keys', keyCount, kept })
    }
    const asked = { address, storageKeys, block: l2BlockNumber }
    const fetching = { ...how, trusted: { scheme, stateRoot }, kept, onKept, signal }
    try {
      const answer = await atEndpoint('L2', () => fetchAnswer(l2, asked, fetching))
      const parts = { scheme, rollup, l2BlockNumber, address, storageKeys, answer }
      return createEvidence({ ...parts, l1: { block, proof } })
    } catch (error) {
      // An endpoint that has begun to answer does hold the block.
      if (!hasBegun && request.l2BlockNumber === undefined && isNotHeld(error)) return null
      throw error
    }
  }

  async function* anchors(): AsyncGenerator<Anchor> {
    if (request.l2BlockNumber !== undefined) return yield await fetchAnchor(source, l1Block, request.l2BlockNumber)
    const begun = await fetchKept(source, l1Block, kept)
    if (begun) yield begun
    yield* walkAnchors(source, l1Block, maxFinalizations)
  }

  const tried: bigint[] = []
  for await (const anchor of anchors()) {
    const { l2BlockNumber } = anchor
    if (tried.includes(l2BlockNumber)) continue
    onProgress?.({ step: 'l2Block', l2BlockNumber })
    const bundle = await recordAt(anchor)
    if (bundle) {
      // Its parts were verified one by one; this is the judge of the whole.
      const trusted = { l1BlockHash: l1Block.hash }
      const claim = { scheme, rollup, trusted, l2BlockNumber, address, storageKeys }
      return { bundle, evidence: { ...verifyEvidence(bundle, claim), l1Block, l2BlockNumber, reach: 'l1BlockHash' } }
    }
    onProgress?.({ step: 'notHeld', l2BlockNumber })
    tried.push(l2BlockNumber)
  }
  throw new RpcError('NONE_HELD', { found: `tried ${tried.join(', ')}`, layer: 'L2' })
}

const isNotHeld = (error: unknown): boolean =>
  error instanceof RpcError && (error.code === 'BLOCK_MISSING' || error.code === 'BLOCK_NOT_FINALIZED')

/** The block of an earlier recording, for what it had is of no use at another one; null when that cannot be. */
async function fetchKept(source: L1Source, l1Block: L1Block, kept: unknown): Promise<Anchor | null> {
  try {
    // Whatever it is: what is not so throws.
    const l2BlockNumber = parseQuantity((kept as KeptAnswer).block)
    return await fetchAnchor(source, l1Block, l2BlockNumber)
  } catch (error) {
    if (error instanceof RpcError && error.layer === 'L1') throw error
    return null
  }
}
