import type { L1Block } from '../anchor/header.ts'
import { type Rollup, readRollup } from '../anchor/rollup.ts'
import { decodeArgument } from '../arguments.ts'
import { bytesToHex, type Hex } from '../bytes.ts'
import { readOptions, verifyUint } from '../options.ts'
import { type Endpoint, openEndpoints } from './endpoints.ts'
import { fetchAnchor, fetchL1Block, fetchNewest, fetchTimestamp, requireRoot } from './l1.ts'
import { verifySignal } from './options.ts'

/** Which state root to fetch, and what it is proven from. */
export interface VerifiedRootOptions {
  /** One or more L1 endpoints, none of which is trusted. If one fails or lies, the next is asked. */
  l1: Endpoint | readonly Endpoint[]
  /** The contract whose roots you trust. */
  rollup: Rollup
  /** Hash of a finalized L1 block that you trust, 32 bytes: from `finalizedBlockHash`, `agreeingBlockHash`, `beaconBlockHash`. */
  l1BlockHash: Hex
  /** The last block of a finalization. Default: the newest finalized one. */
  l2BlockNumber?: bigint | undefined
  /** Aborts the requests. */
  signal?: AbortSignal | undefined
}

/** A state root that the rollup contract is proven to hold. */
export interface VerifiedRoot {
  /** The L2 block of the root. */
  l2BlockNumber: bigint
  /** Root of its state, 32 bytes: the `stateRoot` for `verifyProof`. */
  stateRoot: Hex
  /** The L1 block from which it is proven. */
  l1Block: L1Block
  /** The last finalized L2 block at that L1 block. */
  currentL2BlockNumber: bigint
  /**
   * Time of the L2 block, in seconds since 1970; undefined if it is not proven: the block is not the newest finalized one, the
   * layout has no place for it, or no L1 endpoint serves the contract's log.
   */
  finalizedTimestamp: bigint | undefined
}

/**
 * Fetches an L2 state root, and proves it from an L1 block hash that you trust: what `verifyProof` needs, without any L2
 * endpoint.
 *
 * @param options the L1 endpoints, the rollup, and the L1 block hash
 * @throws EndpointError if no endpoint answers as it should; `ABORTED` with the signal's reason as its `cause`. ProofError
 * `ANCHOR_NO_ROOT` if the block is not the last one of a finalization, `ANCHOR_BLOCK_AHEAD`, `ANCHOR_NO_CONTRACT`, and what
 * `verifyAnchor` throws if no answer verifies. ArgumentError
 *
 * @example
 * ```ts
 * import { poseidon2 } from 'rollup-state-proof/poseidon2'
 * import { fetchVerifiedRoot, finalizedBlockHash } from 'rollup-state-proof/rpc'
 * import { createService } from 'rollup-state-proof/service'
 * import { addDemoBlocks, demoWorld } from 'rollup-state-proof/service/demo'
 *
 * const rollup = { address: '0x00000000000000000000000000000000000011ff' } as const
 * const service = createService({ genesis: demoWorld(poseidon2), rollup })
 * addDemoBlocks(service.chain)
 * const { l1Url } = await service.listen()
 *
 * const l1BlockHash = await finalizedBlockHash(l1Url)() // in production: from a source that you trust
 * const { l2BlockNumber, stateRoot } = await fetchVerifiedRoot({ l1: l1Url, rollup, l1BlockHash })
 * console.log(l2BlockNumber, stateRoot.length) // 8n 66
 * await service.close()
 * ```
 */
export async function fetchVerifiedRoot(options: VerifiedRootOptions): Promise<VerifiedRoot> {
  const own = readOptions('', options, ['l1', 'rollup', 'l1BlockHash', 'l2BlockNumber', 'signal'])
  const { signal } = own
  verifySignal(signal)
  const hash = bytesToHex(decodeArgument('l1BlockHash', own.l1BlockHash, 32))
  const wanted = own.l2BlockNumber === undefined ? undefined : verifyUint('l2BlockNumber', own.l2BlockNumber, 64)
  const rollup = readRollup(own.rollup)
  const l1 = openEndpoints('l1', own.l1, 'L1', { signal })
  const source = { l1, rollup, signal }
  const { l1Block } = await fetchL1Block(source, hash)
  const l2BlockNumber = wanted ?? (await fetchNewest(source, l1Block))
  const anchor = await fetchAnchor(source, l1Block, l2BlockNumber)
  const timed = requireRoot(await fetchTimestamp(source, l1Block, anchor))
  const { stateRoot, currentL2BlockNumber, finalizedTimestamp } = timed
  return { l2BlockNumber, stateRoot, l1Block, currentL2BlockNumber, finalizedTimestamp }
}
