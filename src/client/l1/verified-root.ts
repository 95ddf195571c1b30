import type { Hex } from '../../base/bytes.ts'
import { readHex, readOptions, verifyUint } from '../../base/options.ts'
import type { L1Block } from '../../verify/anchor/header.ts'
import { type HeldValue, type Rollup, readHeld, readRollup } from '../../verify/anchor/rollup.ts'
import type { VerifiedAnchor } from '../../verify/anchor/verify.ts'
import { type Endpoint, openEndpoints } from '../sources/endpoints.ts'
import { verifySignal } from '../transport/waiting.ts'
import { fetchAnchor, fetchL1Block, fetchNewest, fetchTimestamp } from './l1.ts'

/** Which state root or block hash to fetch, and what it is proven from. */
export interface VerifiedRootOptions<Held extends HeldValue = HeldValue> {
  /** One or more L1 endpoints, none of which is trusted. If one fails or lies, the next is asked. */
  l1: Endpoint | readonly Endpoint[]
  /** The contract whose roots and hashes you trust. */
  rollup: Rollup
  /** Hash of a finalized L1 block that you trust, 32 bytes: from `finalizedBlockHash` or `beaconBlockHash`. */
  l1BlockHash: Hex
  /** The last block of a finalization. Default: the newest finalized one. */
  l2BlockNumber?: bigint | undefined
  /** What the contract is to hold for the block. Default: whichever it holds; an error if it holds both. */
  holds?: Held | undefined
  /** Aborts the requests. */
  signal?: AbortSignal | undefined
}

/**
 * What the rollup contract is proven to hold: a state root, or a block hash since version 9 of the contract. The compiler knows
 * which if the options say so.
 */
export type VerifiedRoot<Held extends HeldValue = HeldValue> = VerifiedAnchor<Held> & {
  /** The L2 block of the root. */
  l2BlockNumber: bigint
  /** The L1 block from which it is proven. */
  l1Block: L1Block
  /** The last finalized L2 block at that L1 block. */
  currentL2BlockNumber: bigint
  /** The code behind the proxy, 20 bytes, lower case; zero if the contract is no proxy (EIP-1967). */
  implementation: Hex
}

/**
 * Fetches an L2 state root, and proves it from an L1 block hash that you trust: what `verifyProof` needs, without any L2
 * endpoint. Where the contract holds a block hash, it fetches that: what `verifyBlockHeader` needs.
 *
 * @param options the L1 endpoints, the rollup, and the L1 block hash
 * @throws EndpointError if no endpoint answers as it should; `ABORTED` with the signal's reason as its `cause`. ProofError
 * `ANCHOR_NO_ROOT` if the block is not the last one of a finalization, `ANCHOR_BLOCK_AHEAD`, `ANCHOR_NO_CONTRACT`,
 * `ANCHOR_IMPLEMENTATION_MISMATCH`, and what `verifyAnchor` throws if no answer verifies. ArgumentError
 *
 * @example
 * ```ts
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { fetchVerifiedRoot, finalizedBlockHash } from 'rollup-state-proof/rpc'
 * import { addDemoBlocks, createService, demoWorld } from 'rollup-state-proof-devnet'
 *
 * const rollup = { address: '0x00000000000000000000000000000000000011ff' } as const
 * const service = createService({ genesis: demoWorld(poseidon2), rollup })
 * addDemoBlocks(service.chain)
 * const { l1Url } = await service.listen()
 *
 * const l1BlockHash = await finalizedBlockHash(l1Url)() // in production: from a source that you trust
 * const { l2BlockNumber, stateRoot, blockHash } = await fetchVerifiedRoot({ l1: l1Url, rollup, l1BlockHash })
 * console.log(l2BlockNumber, stateRoot?.length, blockHash) // 8n 66 undefined
 * await service.close()
 * ```
 */
export async function fetchVerifiedRoot<Held extends HeldValue = HeldValue>(
  options: VerifiedRootOptions<Held>,
): Promise<VerifiedRoot<Held>> {
  const own = readOptions('', options, ['l1', 'rollup', 'l1BlockHash', 'l2BlockNumber', 'holds', 'signal'])
  const { holds, signal } = own
  verifySignal(signal)
  const hash = readHex('l1BlockHash', own.l1BlockHash, 32)
  const wanted = own.l2BlockNumber === undefined ? undefined : verifyUint('l2BlockNumber', own.l2BlockNumber, 64)
  const rollup = readRollup(own.rollup)
  readHeld(holds, rollup.layout)
  const source = { l1: openEndpoints('l1', own.l1, 'L1', { signal }), rollup, holds, signal }
  const { l1Block } = await fetchL1Block(source, hash)
  const anchor = await fetchAnchor(source, l1Block, wanted ?? (await fetchNewest(source, l1Block)))
  const { proof: _, finalizedState: __, ...proven } = await fetchTimestamp(source, l1Block, anchor)
  // It is what the options say, if they say so.
  return { ...proven, l1Block } as VerifiedRoot<Held>
}
